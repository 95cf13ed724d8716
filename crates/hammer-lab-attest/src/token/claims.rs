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
    use coset::{CoseSign1, TaggedCborSerializable};

    use super::*;

    /// The claims of a recorded token, with one of them replaced, or left out.
    fn altered(token: &[u8], key: i64, value: Option<Value>) -> Option<PsaClaims> {
        let payload = CoseSign1::from_tagged_slice(token).unwrap().payload.unwrap();
        let mut claims = read(&payload).unwrap().into_map().unwrap();
        claims.retain(|(other, _)| *other != Value::from(key));
        claims.extend(value.map(|value| (Value::from(key), value)));
        let mut out = Vec::new();
        ciborium::into_writer(&Value::Map(claims), &mut out).unwrap();
        PsaClaims::read(&out)
    }

    fn bytes(length: usize) -> Value {
        Value::Bytes(vec![2; length])
    }

    #[test]
    fn each_claim_has_the_form_that_profile_2_asks_for() {
        let token = include_bytes!("../../testdata/devices/dev0-legacy-p2.token.cbor");
        let altered = |key, value| altered(token, key, Some(value)).is_some();
        let component = |measurement| {
            let entries = [(1, Value::from("BL")), (2, bytes(measurement)), (5, bytes(32))];
            Value::Map(entries.map(|(key, value)| (Value::from(key), value)).into())
        };
        for (key, right, wrong) in [
            (2394, Value::from(-7), Value::from("1")),
            (2394, Value::from(i32::MAX), Value::from(1_i64 << 31)),
            (2395, Value::from(0x40ff), Value::from(0x3100)),
            (2395, Value::from(0x0000), Value::from(0x10000)),
            (2396, bytes(32), bytes(31)),
            (2397, bytes(32), bytes(33)),
            (2398, Value::from("1234567890123-12345"), Value::from("1234567890123-")),
            (2399, Value::Array(vec![component(64)]), Value::Array(vec![component(31)])),
            (2399, Value::Array(vec![component(32), component(48)]), Value::Array(vec![])),
            (2400, Value::from(""), Value::from(1)),
            (10, bytes(48), bytes(47)),
            (256, Value::Bytes(vec![1; 33]), bytes(33)),
            (265, Value::from("http://arm.com/psa/2.0.0"), Value::from("http://arm.com/psa/2.0.1")),
        ] {
            assert!(altered(key, right), "{key}");
            assert!(!altered(key, wrong), "{key}");
        }
    }

    #[test]
    fn profile_1_asks_for_a_boot_seed_and_may_leave_out_its_name_and_what_was_not_measured() {
        let token = include_bytes!("../../testdata/devices/dev5-legacy-p1.token.cbor");
        assert!(altered(token, -75004, None).is_none());
        assert!(altered(token, PROFILE_CLAIM_1, None).is_some_and(|claims| !claims.names_profile));
        assert!(altered(token, PROFILE_CLAIM_1, Some(Value::from("PSA_IOT_PROFILE_2"))).is_none());
        assert!(altered(token, -75006, None).is_none());
        // Beside measurements the claim that there are none says nothing.
        assert!(
            altered(token, NO_MEASUREMENTS, Some(Value::from(1))).is_some_and(|it| it.components.len() == 3)
        );
    }

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
