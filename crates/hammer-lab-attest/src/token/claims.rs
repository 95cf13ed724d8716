//! What a token claims.

use ciborium::Value;

use super::profile::{ClaimKeys, NO_MEASUREMENTS, PROFILE_CLAIM, PROFILE_CLAIM_1, Profile};
use crate::{
    cbor::{IntMap, read},
    store::DeviceName,
};

/// All claims of a token, each in the form that its profile asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PsaClaims {
    pub(super) profile: Profile,
    /// The token names its profile.
    pub(super) names_profile: bool,
    pub(super) client_id: i32,
    pub(super) lifecycle: u16,
    pub(crate) device: DeviceName,
    pub(super) boot_seed: Option<[u8; 32]>,
    pub(super) certification: Option<String>,
    /// None where the token says that nothing was measured.
    pub(crate) components: Vec<SoftwareComponent>,
    pub(crate) nonce: Vec<u8>,
    pub(super) verification_service: Option<String>,
}

/// A software component as it was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SoftwareComponent {
    pub(crate) kind: Option<String>,
    pub(crate) measurement: Vec<u8>,
    pub(crate) version: Option<String>,
    pub(crate) signer: Vec<u8>,
    pub(super) description: Option<String>,
}

impl PsaClaims {
    /// Reads the claims of a token; none where one is missing or has another form.
    pub(super) fn read(payload: &[u8]) -> Option<Self> {
        let claims = read(payload).ok()?;
        let claims = IntMap::of(&claims)?;
        let (profile, names_profile) = profile_of(claims)?;
        let keys = profile.keys();
        let lifecycle = unsigned(claims.get(keys.lifecycle)?)?;
        let implementation = claims.bytes(keys.implementation)?.try_into().ok()?;
        let instance: [u8; 33] = claims.bytes(keys.instance)?.try_into().ok()?;
        let boot_seed =
            optional(claims.get(keys.boot_seed), |seed| seed.as_bytes()?.as_slice().try_into().ok())?;
        let certification = optional(claims.get(keys.certification), text)?;
        let verification_service = optional(claims.get(keys.verification_service), text)?;
        let nonce = claims.bytes(keys.nonce).filter(|nonce| is_hash(nonce))?.to_vec();
        let is_whole = is_state(lifecycle)
            && instance[0] == RANDOM_UEID
            && (boot_seed.is_some() || profile == Profile::Two)
            && certification.as_deref().is_none_or(is_certification);
        is_whole.then_some(())?;
        Some(Self {
            profile,
            names_profile,
            client_id: integer(claims.get(keys.client_id)?)?,
            lifecycle,
            device: DeviceName { implementation, instance },
            boot_seed,
            certification,
            components: components(claims, profile, keys)?,
            nonce,
            verification_service,
        })
    }

    /// The device is in a state in which its secrets are kept: secured, or open to debuggers but for its root of trust.
    pub(crate) fn is_secured(&self) -> bool {
        matches!(self.lifecycle >> 12, 3 | 4)
    }
}

/// The profile, and whether the token names it.
fn profile_of(claims: IntMap<'_>) -> Option<(Profile, bool)> {
    if let Some(name) = claims.get(PROFILE_CLAIM) {
        return (name.as_text()? == Profile::Two.name()).then_some((Profile::Two, true));
    }
    let Some(name) = claims.get(PROFILE_CLAIM_1) else { return Some((Profile::One, false)) };
    (name.as_text()? == Profile::One.name()).then_some((Profile::One, true))
}

fn components(claims: IntMap<'_>, profile: Profile, keys: &ClaimKeys) -> Option<Vec<SoftwareComponent>> {
    let Some(components) = claims.array(keys.components) else {
        let none = profile == Profile::One && claims.get(keys.components).is_none();
        let said = none.then(|| claims.get(NO_MEASUREMENTS)).flatten().and_then(integer);
        return said.filter(|said| *said == 1).map(|_| Vec::new());
    };
    let components: Option<Vec<_>> = components.iter().map(component).collect();
    components.filter(|components| !components.is_empty())
}

fn component(value: &Value) -> Option<SoftwareComponent> {
    let component = IntMap::of(value)?;
    let hash = |key| component.bytes(key).filter(|bytes| is_hash(bytes)).map(<[u8]>::to_vec);
    Some(SoftwareComponent {
        kind: optional(component.get(1), text)?,
        measurement: hash(2)?,
        version: optional(component.get(4), text)?,
        signer: hash(5)?,
        description: optional(component.get(6), text)?,
    })
}

/// What may be missing, but has no other form; the outer option is none of what has.
fn optional<T>(value: Option<&Value>, read: impl FnOnce(&Value) -> Option<T>) -> Option<Option<T>> {
    match value {
        None => Some(None),
        Some(value) => read(value).map(Some),
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_text().map(str::to_owned)
}

fn integer(value: &Value) -> Option<i32> {
    i32::try_from(i128::from(value.as_integer()?)).ok()
}

fn unsigned(value: &Value) -> Option<u16> {
    u16::try_from(i128::from(value.as_integer()?)).ok()
}

/// SHA-256, SHA-384 or SHA-512.
fn is_hash(bytes: &[u8]) -> bool {
    matches!(bytes.len(), 32 | 48 | 64)
}

/// A state of the lifecycle (RFC 9783 section 4.3.1): the upper byte is that of a state, the lower is the implementation's.
const fn is_state(lifecycle: u16) -> bool {
    lifecycle >> 12 <= 6 && lifecycle & 0x0f00 == 0
}

/// An EAN-13, which five more digits may follow (RFC 9783 section 4.2.3).
fn is_certification(text: &str) -> bool {
    let (number, version) = text.split_once('-').unwrap_or((text, "00000"));
    let are_digits =
        |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    are_digits(number, 13) && are_digits(version, 5)
}

/// The type of a UEID that was drawn.
const RANDOM_UEID: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_the_lifecycle_have_all_lower_bytes_and_a_nibble_of_zero() {
        for state in [0x0000, 0x10ff, 0x2001, 0x3000, 0x4000, 0x5000, 0x60ff] {
            assert!(is_state(state), "{state:x}");
        }
        for other in [0x3100, 0x7000, 0xffff, 0x0f00] {
            assert!(!is_state(other), "{other:x}");
        }
    }

    #[test]
    fn a_certification_is_an_ean_13_with_five_digits_or_without() {
        for (text, is_one) in [
            ("1234567890123", true),
            ("1234567890123-12345", true),
            ("1234567890123-1234", false),
            ("123456789012", false),
            ("123456789012x", false),
        ] {
            assert_eq!(is_certification(text), is_one, "{text}");
        }
    }
}
