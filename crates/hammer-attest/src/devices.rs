//! Devices, minted.

use std::borrow::Cow;

use hammer_p256::{KeyBlocks, KeyWalk, NonceBlocks, POINT_LENGTH, ThrowawayKey};
use hammer_rats::corim::CorimSigner;
use hammer_rats::{Corim, PsaClaim, PsaDevice, PsaDialect, PsaToken, SoftwareComponent, TokenProfile};
use hammer_synth::Seed;
use sha2::{Digest as _, Sha256};

use crate::device_class::DeviceClass;

/// The devices of a seed. Device `index` is always the same one, whoever asks for it and in whatever order.
#[derive(Clone, Debug)]
pub struct Devices {
    seed: Seed,
    keys: KeyWalk,
    /// What tokens are signed with.
    nonces: [u8; 32],
    /// So many models, to one of which each device belongs; each device is one of its own where none are stated.
    models: Option<u64>,
}

/// What a thread that mints devices holds on to; what is minted does not depend on it.
#[derive(Debug, Default)]
pub struct DeviceScratch {
    keys: KeyBlocks,
    nonces: NonceBlocks,
    claims: Vec<u8>,
}

/// What one device is, in memory that the next one may use.
#[derive(Clone, Debug, Default)]
pub struct DeviceMaterial {
    /// What it is known by.
    pub device: PsaDevice,
    /// What its boot is told by.
    pub boot_seed: [u8; 32],
    index: u64,
    /// Of its CoRIM, its reference values and its trust anchor.
    ids: [[u8; 16]; 3],
}

/// Evidence of a device.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// What is wrong with it.
    pub class: DeviceClass,
    /// By which claims it is written.
    pub profile: TokenProfile,
    /// The nonce of the session: 32, 48 or 64 bytes.
    pub nonce: &'a [u8],
    /// Which token of the run it is: each is signed by a nonce of its own.
    pub token: TokenNumber,
}

/// The number of a token; no two tokens of a run that say something else have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenNumber {
    /// Of which workload.
    pub stream: u64,
    /// Of which operation.
    pub seq: u64,
}

impl DeviceScratch {
    /// For devices and tokens whose numbers mostly are so far apart, as those of one shard among several.
    pub fn striding(devices: u64, tokens: u64) -> Self {
        Self { keys: KeyBlocks::striding(devices), nonces: NonceBlocks::striding(tokens), claims: Vec::new() }
    }
}

impl Devices {
    /// The devices of that stream of a seed, of so many models; each of one of its own where none are stated.
    pub fn new(seed: u64, stream: u64, models: Option<u64>) -> Self {
        let seed = Seed::from_u64(seed).child("attestation devices", stream);
        let (keys, nonces) = (KeyWalk::derive(&seed.derive("keys", 0), 0), seed.derive("nonces", 0));
        Self { seed, keys, nonces, models }
    }

    /// Replaces `out` by what device `index` is.
    pub fn write(&self, index: u64, out: &mut DeviceMaterial) {
        self.write_named(index, ["device", "model"], out);
    }

    /// The same of a device that nobody ever endorses.
    fn write_unknown(&self, index: u64, out: &mut DeviceMaterial) {
        self.write_named(index, ["unknown device", "unknown model"], out);
    }

    fn write_named(&self, index: u64, [of_device, of_model]: [&str; 2], out: &mut DeviceMaterial) {
        let model = self.models.map_or(index, |models| index % models.max(1));
        let (own, shared) = (Parts::of(&self.seed, of_device, index), Parts::of(&self.seed, of_model, model));
        let DeviceMaterial { device, boot_seed, index: number, ids } = out;
        *number = index;
        device.implementation_id = shared.part(0);
        device.instance_id = own.part(0);
        *boot_seed = own.part(1);
        for (place, id) in (2..).zip(ids) {
            *id = uuid(&own.part(place));
        }
        device.components.resize_with(COMPONENTS.len(), SoftwareComponent::default);
        for ((kind, place), component) in COMPONENTS.into_iter().zip(1..).zip(&mut device.components) {
            kind.clone_into(&mut component.kind);
            component.version.clear();
            component.version.extend([PLACES[place as usize], ".", PLACES[(model % 10) as usize], ".0"]);
            component.measurement = shared.part(2 * place);
            component.signer = shared.part(2 * place + 1);
        }
    }

    /// The UEID by which evidence of device `index` calls it: the instance ID with its type.
    pub fn ueid(&self, index: u64, class: DeviceClass) -> [u8; 33] {
        let label = if class == DeviceClass::UnknownDevice { "unknown device" } else { "device" };
        let instance_id = Parts::of(&self.seed, label, index).part(0);
        PsaDevice { instance_id, ..PsaDevice::default() }.ueid()
    }

    /// A nonce of 32 bytes for a session of device `index`, which the device can know before it.
    pub fn nonce(&self, index: u64) -> [u8; 32] {
        self.seed.derive("session nonce", index)
    }

    /// The key by which device `index` signs.
    pub fn key(&self, index: u64, scratch: &mut DeviceScratch) -> ThrowawayKey {
        self.keys.key_pair(index, &mut scratch.keys)
    }

    /// Replaces `out` by the CoRIM of a device, with its reference values and its trust anchor.
    pub fn write_corim(
        &self,
        material: &DeviceMaterial,
        dialect: PsaDialect,
        scratch: &mut DeviceScratch,
        out: &mut Vec<u8>,
    ) {
        let key = self.keys.public_key(material.index, &mut scratch.keys);
        corim(material, dialect, &key).write(out);
    }

    /// Replaces `out` by a CoRIM as [`Devices::write_corim`] writes it, which `signer` signs by `sign`: that is given what is signed, and
    /// returns r and s of ES256.
    pub fn write_signed_corim(
        &self,
        material: &DeviceMaterial,
        dialect: PsaDialect,
        (signer, sign): (&CorimSigner<'_>, impl FnOnce(&[u8]) -> [u8; 64]),
        scratch: &mut DeviceScratch,
        out: &mut Vec<u8>,
    ) {
        let key = self.keys.public_key(material.index, &mut scratch.keys);
        corim(material, dialect, &key).write_signed(signer, sign, out);
    }

    /// Replaces `material` by what evidence of device `index` shows of it, where that is any.
    pub(crate) fn write_shown(&self, index: u64, class: DeviceClass, material: &mut DeviceMaterial) {
        match class {
            DeviceClass::UnknownDevice => self.write_unknown(index, material),
            _ => self.write(index, material),
        }
        alter(class, &mut material.device.components);
    }

    /// Replaces `material` by what device `index` shows of itself, and `out` by the evidence.
    pub fn write_evidence(
        &self,
        index: u64,
        evidence: &Evidence<'_>,
        scratch: &mut DeviceScratch,
        (material, out): (&mut DeviceMaterial, &mut Vec<u8>),
    ) {
        if evidence.class == DeviceClass::Garbage {
            return garbage(evidence.nonce, out);
        }
        self.write_shown(index, evidence.class, material);
        let TokenNumber { stream, seq } = evidence.token;
        let nonce = &*evidence.class.shown_nonce(evidence.nonce);
        let missing = PsaClaim::MANDATORY[(seq % PsaClaim::MANDATORY.len() as u64) as usize];
        let token = PsaToken {
            profile: evidence.profile,
            device: &material.device,
            nonce,
            boot_seed: &material.boot_seed,
            client_id: CLIENT_ID,
            lifecycle: evidence.class.lifecycle(),
            verification_service: VERIFICATION_SERVICE,
            without: (evidence.class == DeviceClass::MissingClaim).then_some(missing),
        };
        // No device has the key that is as far from all of theirs as it can be.
        let key = if evidence.class == DeviceClass::WrongKey { !index } else { index };
        let walk = self.keys.nonce_walk(key, &self.nonces, stream);
        let DeviceScratch { nonces, claims, .. } = scratch;
        token.write(|digest| walk.sign(seq, digest, nonces).to_fixed(), claims, out);
        if let (DeviceClass::BadSignature, Some(last)) = (evidence.class, out.last_mut()) {
            *last ^= 1;
        }
    }
}

fn corim<'a>(material: &'a DeviceMaterial, dialect: PsaDialect, key: &'a [u8; POINT_LENGTH]) -> Corim<'a> {
    let DeviceMaterial { device, ids, .. } = material;
    Corim { dialect, ids: *ids, vendor: VENDOR, model: MODEL, device, key }
}

impl DeviceClass {
    /// The nonce in the evidence of a session of that nonce.
    pub(crate) fn shown_nonce(self, nonce: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::StaleNonce => Cow::Owned(Sha256::digest(nonce).to_vec()),
            _ => Cow::Borrowed(nonce),
        }
    }

    /// The lifecycle that the device says it is in.
    pub(crate) const fn lifecycle(self) -> u16 {
        match self {
            Self::BadLifecycle => PROVISIONING,
            _ => SECURED,
        }
    }
}

/// What is no CBOR, and differs by the nonce.
fn garbage(nonce: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(b"not cbor ");
    out.extend_from_slice(nonce);
}

/// Has components differ from those that were endorsed.
fn alter(class: DeviceClass, components: &mut Vec<SoftwareComponent>) {
    // The second, so that what is right stands before and behind it.
    let second = components.get_mut(1);
    match (class, second) {
        (DeviceClass::WrongMeasurement, Some(second)) => second.measurement[0] ^= 1,
        (DeviceClass::WrongSigner, Some(second)) => second.signer[0] ^= 1,
        (DeviceClass::WrongVersion, Some(second)) => second.version.push_str("-wrong"),
        (DeviceClass::MissingComponent, _) => drop(components.pop()),
        (DeviceClass::ExtraComponent, Some(second)) => {
            let mut extra = second.clone();
            EXTRA.clone_into(&mut extra.kind);
            extra.measurement[0] ^= 1;
            components.push(extra);
        }
        _ => {}
    }
}

/// Hashes of one device, or of one model.
struct Parts([u8; 32]);

impl Parts {
    fn of(seed: &Seed, label: &str, index: u64) -> Self {
        Self(seed.derive(label, index))
    }

    fn part(&self, place: u8) -> [u8; 32] {
        Sha256::new().chain_update(self.0).chain_update([place]).finalize().into()
    }
}

/// A UUID of these bytes, in the form of version 4 (RFC 9562 section 5.4), which Veraison was seen to take.
fn uuid(bytes: &[u8; 32]) -> [u8; 16] {
    let mut uuid = [0; 16];
    uuid.copy_from_slice(&bytes[..16]);
    uuid[6] = 0x40 | uuid[6] & 0x0f;
    uuid[8] = 0x80 | uuid[8] & 0x3f;
    uuid
}

/// What endorsements call the devices.
const VENDOR: &str = "hammer";
const MODEL: &str = "load device";
/// Who asks for a token on the device: its secure side.
const CLIENT_ID: i32 = 1;
/// The lifecycle of a device that is secured.
const SECURED: u16 = 0x3000;
/// The lifecycle of a device that is still being provisioned (RFC 9783 section 4.3.1).
const PROVISIONING: u16 = 0x2000;
/// The measurement type of a component that nobody endorsed.
const EXTRA: &str = "EXTRA";
/// Where tokens say that they are verified.
const VERIFICATION_SERVICE: &str = "https://psa-verifier.org";
/// The measurement types of the components, as they are started.
const COMPONENTS: [&str; 3] = ["BL", "PRoT", "ARoT"];
const PLACES: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use coset::{CoseSign1, TaggedCborSerializable as _};
    use hammer_p256::FixedKeyVerifier;

    use super::*;

    const NONCE: [u8; 32] = [9; 32];

    struct Written {
        material: DeviceMaterial,
        corim: Vec<u8>,
        token: Vec<u8>,
        key: ThrowawayKey,
    }

    fn evidence(class: DeviceClass, seq: u64) -> Evidence<'static> {
        let token = TokenNumber { stream: 0, seq };
        Evidence { class, profile: TokenProfile::Psa2, nonce: &NONCE, token }
    }

    fn written(devices: &Devices, index: u64, scratch: &mut DeviceScratch) -> Written {
        let (mut material, mut corim, mut token) = (DeviceMaterial::default(), vec![1], vec![1]);
        devices.write(index, &mut material);
        devices.write_corim(&material, PsaDialect::Iot1, scratch, &mut corim);
        let evidence = evidence(DeviceClass::Good, index);
        devices.write_evidence(index, &evidence, scratch, (&mut material, &mut token));
        Written { material, corim, token, key: devices.key(index, scratch) }
    }

    #[test]
    fn a_device_is_the_same_in_whatever_order_it_is_minted_and_no_two_are() {
        let devices = Devices::new(7, 0, None);
        let (mut forwards, mut alone) = (DeviceScratch::default(), DeviceScratch::default());
        let mut corims = BTreeSet::new();
        for index in [0, 1, 2, 600, 1_000_000, 3] {
            let first = written(&devices, index, &mut forwards);
            let again = written(&Devices::new(7, 0, None), index, &mut alone);
            assert_eq!((&first.corim, &first.token), (&again.corim, &again.token), "{index}");
            assert!(corims.insert(first.corim), "{index}");
            for other in [Devices::new(8, 0, None), Devices::new(7, 1, None)] {
                let other = written(&other, index, &mut alone);
                assert!(other.corim != again.corim && other.token != again.token, "{index}");
            }
            alone = DeviceScratch::default();
        }
    }

    #[test]
    fn a_token_is_signed_by_the_key_of_its_device() {
        let (devices, mut scratch) = (Devices::new(7, 0, None), DeviceScratch::default());
        for index in [5, 99_999] {
            let Written { token, key, .. } = written(&devices, index, &mut scratch);
            let message = CoseSign1::from_tagged_slice(&token).unwrap();
            let verified = message.verify_signature(&[], |signature, signed| {
                let key = FixedKeyVerifier::new(key.public_key()).unwrap();
                let signature = signature.try_into().unwrap();
                key.verify_fixed(&Sha256::digest(signed).into(), signature).then_some(()).ok_or(())
            });
            assert_eq!(verified, Ok(()), "{index}");
        }
    }

    #[test]
    fn devices_of_a_model_have_its_software_and_an_identity_of_their_own() {
        let (devices, mut scratch) = (Devices::new(7, 0, Some(3)), DeviceScratch::default());
        let device = |index, scratch: &mut _| written(&devices, index, scratch).material.device;
        let [first, other, same] = [4, 5, 7].map(|index| device(index, &mut scratch));
        assert_eq!(
            (&first.implementation_id, &first.components),
            (&same.implementation_id, &same.components)
        );
        assert_ne!(first.instance_id, same.instance_id);
        assert!(first.implementation_id != other.implementation_id && first.components != other.components);
    }
}
