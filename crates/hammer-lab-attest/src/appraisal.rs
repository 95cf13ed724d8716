//! What evidence is worth, by the rules of a release.

use crate::{
    hex::hex,
    plan::Release,
    store::{ReferenceValue, Store, StoredKey},
    token::{PsaClaims, PsaToken, SoftwareComponent},
};

/// What was made of evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Appraisal {
    pub(crate) vector: TrustVector,
    /// None where the evidence was not believed.
    pub(crate) claims: Option<PsaClaims>,
    /// What kept it from being believed.
    pub(crate) problem: Option<String>,
}

/// What a result says of a device as a whole (draft-ietf-rats-ar4si section 2.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    None,
    Affirming,
    Warning,
    Contraindicated,
}

/// The claims of trustworthiness (draft-ietf-rats-ar4si section 2.3.4), in the order of their names: configuration, executables,
/// file system, hardware, instance identity, opaque runtime, sourced data, opaque storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrustVector(pub(crate) [i8; 8]);

/// The store has two keys of the device, and the services break down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AmbiguousKey;

impl Appraisal {
    /// Evidence that is not believed.
    pub(crate) fn problem(problem: impl Into<String>) -> Self {
        Self { vector: TrustVector::UNBELIEVED, claims: None, problem: Some(problem.into()) }
    }

    /// Evidence that is none of a PSA token.
    pub(crate) fn of_nobody() -> Self {
        Self::problem("could not establish identity from evidence")
    }

    pub(crate) fn tier(&self) -> Tier {
        self.vector.tier()
    }
}

/// Appraises a token for a session with this nonce.
///
/// # Errors
/// The store has several keys of the device.
pub(crate) fn appraise(
    release: Release,
    store: &Store,
    evidence: &[u8],
    nonce: &[u8],
) -> Result<Appraisal, AmbiguousKey> {
    let Some(token) = PsaToken::read(evidence) else { return Ok(Appraisal::of_nobody()) };
    let key = match store.key(&token.claims.device) {
        StoredKey::None => return Ok(Appraisal::problem("no trust anchor for evidence")),
        StoredKey::Several => return Err(AmbiguousKey),
        StoredKey::One(key) => key,
    };
    if token.claims.nonce != nonce {
        let [psa, session] = [&token.claims.nonce, nonce].map(hex);
        let why = format!("freshness: psa-nonce ({psa}) does not match session nonce ({session})");
        return Ok(unsound(release, &why));
    }
    if !token.is_signed_by(&key) {
        return Ok(unsound(release, BAD_SIGNATURE));
    }
    Ok(believed(release, store, token.claims))
}

/// Evidence that is not what the device signed for this session.
pub(crate) fn unsound(release: Release, why: &str) -> Appraisal {
    Appraisal::problem(match release {
        Release::V2502 => "integrity validation failed".to_owned(),
        Release::V2608 => format!("integrity validation failed: bad evidence: {why}"),
    })
}

fn believed(release: Release, store: &Store, claims: PsaClaims) -> Appraisal {
    let components = &claims.components;
    let is_known = store.judge(&claims.device.implementation, |values| match release {
        // What should be there is.
        Release::V2502 => {
            !values.is_empty()
                && values.iter().all(|value| components.iter().any(|component| is_of(value, component, true)))
        }
        // What is there should be.
        Release::V2608 => {
            !components.is_empty()
                && components
                    .iter()
                    .all(|component| values.iter().any(|value| is_of(value, component, false)))
        }
    });
    let executables = if is_known { APPROVED } else { UNRECOGNIZED };
    let [instance, runtime, storage] = if claims.is_secured() { [AFFIRMED; 3] } else { [CONTRAINDICATED; 3] };
    let vector = [0, executables, 0, AFFIRMED, instance, runtime, 0, storage];
    Appraisal { vector: TrustVector(vector), claims: Some(claims), problem: None }
}

/// Whether a component is the one of a reference value, which may leave out what it is called.
fn is_of(value: &ReferenceValue, component: &SoftwareComponent, signer_counts: bool) -> bool {
    let is_left_out_or = |value: &Option<Box<str>>, component: &Option<String>| {
        value.is_none() || value.as_deref() == component.as_deref()
    };
    *value.measurement == *component.measurement
        && is_left_out_or(&value.label, &component.kind)
        && is_left_out_or(&value.version, &component.version)
        && (!signer_counts || *value.signer == *component.signer)
}

impl TrustVector {
    /// That of evidence which is affirmed in all that is looked at.
    pub(crate) const AFFIRMED: Self = Self([0, APPROVED, 0, AFFIRMED, AFFIRMED, AFFIRMED, 0, AFFIRMED]);
    /// That of evidence whose signature, or identity, is not believed.
    const UNBELIEVED: Self = Self([99; 8]);

    fn tier(self) -> Tier {
        let tier = |claim: &i8| match claim {
            i8::MIN..=-2 | 2..=31 => Tier::Affirming,
            -1..=1 => Tier::None,
            32..=95 => Tier::Warning,
            96..=i8::MAX => Tier::Contraindicated,
        };
        self.0.iter().map(tier).max().unwrap_or(Tier::None)
    }
}

impl Tier {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Affirming => "affirming",
            Self::Warning => "warning",
            Self::Contraindicated => "contraindicated",
        }
    }
}

/// What a signature is refused with.
pub(crate) const BAD_SIGNATURE: &str = "signature verification failed: verification error";
const AFFIRMED: i8 = 2;
const APPROVED: i8 = 2;
const UNRECOGNIZED: i8 = 33;
const CONTRAINDICATED: i8 = 96;

#[cfg(test)]
mod tests {
    use hammer_mutate::{Mutator, cases};

    use super::*;
    use crate::{
        corim::{CorimSigners, endorsements},
        media_type::MediaType,
    };

    #[test]
    fn an_altered_token_is_affirmed_only_with_the_claims_that_were_signed() {
        let media_type = r#"application/corim-unsigned+cbor; profile="http://arm.com/psa/iot/1""#;
        let media_type = MediaType::parse(media_type).unwrap();
        let mut affirmed = 0;
        for (corim, token) in [
            (
                include_bytes!("../testdata/devices/dev0-legacy-p2.corim.cbor").as_slice(),
                include_bytes!("../testdata/devices/dev0-legacy-p2.token.cbor").as_slice(),
            ),
            (
                include_bytes!("../testdata/devices/dev5-legacy-p1.corim.cbor"),
                include_bytes!("../testdata/devices/dev5-legacy-p1.token.cbor"),
            ),
        ] {
            let (store, signers) = (Store::default(), CorimSigners::read(&[]).unwrap());
            store.add(endorsements(Release::V2502, &media_type, corim, (&signers, 0)).unwrap());
            let honest = PsaToken::read(token).unwrap().claims;
            let mut mutator = Mutator::new(7);
            for _ in 0..cases(20_000) {
                let altered = mutator.bytes(token, corim);
                for release in [Release::V2502, Release::V2608] {
                    let appraisal = appraise(release, &store, &altered, &honest.nonce).unwrap();
                    assert!(appraisal.claims.is_none_or(|claims| claims == honest), "{altered:02x?}");
                    affirmed += u32::from(appraisal.vector.tier() == Tier::Affirming);
                }
            }
            assert_eq!(
                appraise(Release::V2502, &store, token, &honest.nonce).unwrap().tier(),
                Tier::Affirming
            );
        }
        // What stands in no signed part may be another.
        assert!(affirmed < cases(4_000) as u32, "{affirmed}");
    }
}
