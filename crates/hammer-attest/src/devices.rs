//! Devices, minted.

use hammer_p256::{KeyBlocks, KeyWalk, NonceBlocks, ThrowawayKey};
use hammer_rats::{Corim, PsaDevice, PsaDialect, PsaToken, SoftwareComponent, TokenProfile};
use hammer_synth::Seed;
use sha2::{Digest as _, Sha256};

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
    vendor: String,
    model: String,
}

/// A token of a device.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// By which claims.
    pub profile: TokenProfile,
    /// The nonce of the session: 32, 48 or 64 bytes.
    pub nonce: &'a [u8],
    /// Which of the tokens of the run it is: each is signed by a nonce of its own.
    pub seq: u64,
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
        let model = self.models.map_or(index, |models| index % models.max(1));
        let (own, shared) = (Parts::of(&self.seed, "device", index), Parts::of(&self.seed, "model", model));
        let DeviceMaterial { device, boot_seed, index: number, ids, vendor, model: name } = out;
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
        "hammer".clone_into(vendor);
        "load device".clone_into(name);
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
        let DeviceMaterial { device, ids, vendor, model, .. } = material;
        Corim { dialect, ids: *ids, vendor, model, device, key: &key }.write(out);
    }

    /// Replaces `out` by a token of a device, which its CoRIM has affirmed.
    pub fn write_token(
        &self,
        material: &DeviceMaterial,
        evidence: &Evidence<'_>,
        scratch: &mut DeviceScratch,
        out: &mut Vec<u8>,
    ) {
        let DeviceScratch { nonces, claims, .. } = scratch;
        let token = PsaToken {
            profile: evidence.profile,
            device: &material.device,
            nonce: evidence.nonce,
            boot_seed: &material.boot_seed,
            client_id: CLIENT_ID,
            lifecycle: SECURED,
            verification_service: VERIFICATION_SERVICE,
        };
        let walk = self.keys.nonce_walk(material.index, &self.nonces, 0);
        token.write(|digest| walk.sign(evidence.seq, digest, nonces).to_fixed(), claims, out);
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

/// Who asks for a token on the device: its secure side.
pub const CLIENT_ID: i32 = 1;
/// The lifecycle of a device that is secured.
pub const SECURED: u16 = 0x3000;
/// Where tokens say that they are verified.
pub const VERIFICATION_SERVICE: &str = "https://psa-verifier.org";
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

    fn written(devices: &Devices, index: u64, scratch: &mut DeviceScratch) -> Written {
        let (mut material, mut corim, mut token) = (DeviceMaterial::default(), vec![1], vec![1]);
        devices.write(index, &mut material);
        devices.write_corim(&material, PsaDialect::Iot1, scratch, &mut corim);
        let evidence = Evidence { profile: TokenProfile::Psa2, nonce: &NONCE, seq: index };
        devices.write_token(&material, &evidence, scratch, &mut token);
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
