//! Results: an EAR (draft-fv-rats-ear) in a JWT, as Veraison signs it.

mod claim;

use std::collections::BTreeMap;

use base64::Engine as _;
use hammer_p256::{FixedKeyVerifier, SignatureBatch};
use serde::Deserialize;
use serde::de::IgnoredAny;
use sha2::{Digest as _, Sha256};

use crate::base64_text::BASE64_URL;
use crate::json_object;

/// What a verifier says of a device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AttestationResult {
    /// `eat_profile`: how it is written.
    #[serde(rename = "eat_profile")]
    pub profile: String,
    /// `iat`: when it was issued, in seconds since 1970.
    #[serde(rename = "iat", deserialize_with = "claim::numeric_date")]
    pub issued_unix_seconds: i64,
    /// `exp`: from when on nobody is to rely on it (RFC 7519 section 4.1.4), in seconds since 1970; none where it says none.
    #[serde(rename = "exp", default, deserialize_with = "claim::numeric_date_if_any")]
    pub expires_unix_seconds: Option<i64>,
    /// `nbf`: before when nobody is to rely on it (RFC 7519 section 4.1.5), likewise.
    #[serde(rename = "nbf", default, deserialize_with = "claim::numeric_date_if_any")]
    pub starts_unix_seconds: Option<i64>,
    /// `eat_nonce`: the nonce of the session; none where it says none.
    #[serde(rename = "eat_nonce", default, deserialize_with = "claim::nonce")]
    pub nonce: Option<Vec<u8>>,
    /// Who says it.
    #[serde(rename = "ear.verifier-id", deserialize_with = "json_object::member")]
    pub verifier: VerifierId,
    /// What is said of each attester, by its name: `PSA_IOT`, ...
    #[serde(rename = "submods", deserialize_with = "claim::appraisals")]
    pub appraisals: BTreeMap<String, Appraisal>,
}

/// Who made a result.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct VerifierId {
    /// Which software.
    pub build: String,
    /// By whom.
    pub developer: String,
}

/// What is said of one attester.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Appraisal {
    /// The word that relying parties act on.
    #[serde(rename = "ear.status")]
    pub status: TrustTier,
    /// The claims behind it, each by its name, from -128 to 127; none where there are none.
    #[serde(
        rename = "ear.trustworthiness-vector",
        default,
        deserialize_with = "claim::claims_of_distinct_names"
    )]
    pub vector: Option<BTreeMap<String, i8>>,
    /// What the policy says besides.
    #[serde(rename = "ear.veraison.policy-claims", default, deserialize_with = "json_object::member_if_any")]
    pub policy: Option<PolicyClaims>,
    /// The evidence that was appraised, as Veraison repeats it; none where it could not be read.
    #[serde(
        rename = "ear.veraison.annotated-evidence",
        default,
        deserialize_with = "json_object::member_if_any"
    )]
    pub evidence: Option<AnnotatedEvidence>,
}

/// What Veraison repeats of the evidence of a PSA device; nothing of a claim that is not there, or is written in another way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct AnnotatedEvidence {
    /// The instance ID as a UEID: 33 bytes.
    #[serde(rename = "psa-instance-id", default, deserialize_with = "claim::bytes")]
    pub instance_id: Option<Vec<u8>>,
    /// The implementation ID: 32 bytes.
    #[serde(rename = "psa-implementation-id", default, deserialize_with = "claim::bytes")]
    pub implementation_id: Option<Vec<u8>>,
    /// The nonce in the evidence.
    #[serde(rename = "psa-nonce", default, deserialize_with = "claim::bytes")]
    pub nonce: Option<Vec<u8>>,
    /// The lifecycle (RFC 9783 section 4.3.1).
    #[serde(rename = "psa-security-lifecycle", default, deserialize_with = "claim::if_readable")]
    pub lifecycle: Option<u16>,
    /// What runs on the device.
    #[serde(rename = "psa-software-components", default, deserialize_with = "claim::if_readable")]
    pub components: Option<Vec<AnnotatedComponent>>,
}

/// What Veraison repeats of a software component.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct AnnotatedComponent {
    /// Its measurement type.
    #[serde(rename = "measurement-type", default)]
    pub kind: Option<String>,
    /// Its version.
    #[serde(default)]
    pub version: Option<String>,
    /// Its measurement.
    #[serde(rename = "measurement-value", default, deserialize_with = "claim::bytes")]
    pub measurement: Option<Vec<u8>>,
    /// Who signed it.
    #[serde(rename = "signer-id", default, deserialize_with = "claim::bytes")]
    pub signer: Option<Vec<u8>>,
}

/// What Veraison's own policy says where it could not appraise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct PolicyClaims {
    /// Why; none where a policy means something else by it.
    #[serde(default, deserialize_with = "claim::owned_text")]
    pub problem: Option<String>,
}

/// A trustworthiness tier (draft-ietf-rats-ar4si, section 2.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrustTier {
    /// Nothing is said.
    None,
    /// The device is as it should be.
    Affirming,
    /// It may be relied on with care.
    Warning,
    /// It is not to be relied on.
    Contraindicated,
}

/// Why a result is none, or proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EarError {
    /// The key of the discovery document is no public key of P-256.
    #[error("the verification key is no key of ES256")]
    Key,
    /// It is not three parts of base64url with dots between them (RFC 7515 section 7.1).
    #[error("it is no JWT")]
    Form,
    /// It is signed by another algorithm than the key's.
    #[error("its algorithm is `{0}`, and that of the key is ES256")]
    Algorithm(String),
    /// Its signature is not the key's.
    #[error("its signature is not that of the verification key")]
    Signature,
    /// Its header names an extension that has to be understood (RFC 7515 section 4.1.11), and nobody here does.
    #[error("its header has `crit`, and what that names is not known")]
    Critical,
    /// Its claims are none of an EAR.
    #[error("its claims are none of an EAR: {0}")]
    Claims(String),
}

impl EarError {
    /// Whether it may be signed all the same, by a key of another algorithm (RFC 7518 section 3.1, RFC 8037 section 3.1, RFC 9864): one that
    /// nobody here verifies by, and that a verifier may have changed to.
    pub fn is_of_other_keys(&self) -> bool {
        matches!(self, Self::Algorithm(name) if OF_PUBLIC_KEYS.contains(&name.as_str()))
    }
}

/// Who holds results to the key of a discovery document.
#[derive(Clone, Debug)]
pub struct EarVerifier {
    key: FixedKeyVerifier,
}

/// `ear-verification-key` of `/.well-known/veraison/verification`, a JWK (RFC 7518 section 6.2.1).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct VerificationKey {
    alg: Option<String>,
    crv: String,
    kty: String,
    x: String,
    y: String,
}

/// A result with its signature, of which nothing is verified yet.
#[derive(Clone, Copy, Debug)]
pub struct SignedResult<'a> {
    claims: &'a str,
    /// SHA-256 of what is signed.
    digest: [u8; 32],
    signature: [u8; 64],
}

#[derive(Deserialize)]
struct JwtHeader {
    alg: String,
    #[serde(default)]
    crit: Option<IgnoredAny>,
}

impl TrustTier {
    /// Its name in a result.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Affirming => "affirming",
            Self::Warning => "warning",
            Self::Contraindicated => "contraindicated",
        }
    }
}

impl EarVerifier {
    /// A verifier by that key; it makes a table of it, which takes a millisecond or two.
    ///
    /// # Errors
    /// When it is no key of ES256.
    pub fn new(key: &VerificationKey) -> Result<Self, EarError> {
        let VerificationKey { alg, crv, kty, x, y } = key;
        if kty != "EC" || crv != "P-256" || alg.as_deref().is_some_and(|alg| alg != ES256) {
            return Err(EarError::Key);
        }
        let mut point = [UNCOMPRESSED; 65];
        for (half, text) in point[1..].chunks_exact_mut(32).zip([x, y]) {
            let coordinate = BASE64_URL.decode(text).ok().filter(|bytes| bytes.len() == half.len());
            half.copy_from_slice(&coordinate.ok_or(EarError::Key)?);
        }
        FixedKeyVerifier::new(&point).map(|key| Self { key }).ok_or(EarError::Key)
    }

    /// Whether the signature of a result is the key's.
    pub fn is_signer_of(&self, result: &SignedResult<'_>) -> bool {
        self.key.verify_fixed(&result.digest, &result.signature)
    }

    /// Whether the signature of each result of a batch is the key's, in the order in which they were added to it.
    pub fn verify_batch<'b>(&self, batch: &'b mut SignatureBatch) -> &'b [bool] {
        self.key.verify_batch(batch)
    }

    /// What a JWT says, where it is signed by the key. Whether it says what it should is its reader's to judge.
    ///
    /// # Errors
    /// [`EarError`], but for [`EarError::Key`].
    pub fn verify(&self, jwt: &str) -> Result<AttestationResult, EarError> {
        let result = SignedResult::parse(jwt)?;
        if !self.is_signer_of(&result) {
            return Err(EarError::Signature);
        }
        result.claims()
    }
}

impl<'a> SignedResult<'a> {
    /// Takes a JWT apart (RFC 7515 section 7.1), without verifying it.
    ///
    /// # Errors
    /// [`EarError::Form`], [`EarError::Algorithm`], [`EarError::Critical`], and [`EarError::Signature`] where that cannot be one.
    pub fn parse(jwt: &'a str) -> Result<Self, EarError> {
        let (signed, signature) = jwt.rsplit_once('.').ok_or(EarError::Form)?;
        let (header, claims) = signed.split_once('.').ok_or(EarError::Form)?;
        let header: JwtHeader = json_object::read(&decoded(header)?).map_err(|_| EarError::Form)?;
        if header.alg != ES256 {
            return Err(EarError::Algorithm(start_of(&header.alg)));
        }
        if header.crit.is_some() {
            return Err(EarError::Critical);
        }
        let signature = decoded(signature)?.try_into().map_err(|_| EarError::Signature)?;
        Ok(Self { claims, digest: Sha256::digest(signed).into(), signature })
    }

    /// Adds its signature to those that are verified together.
    pub fn push_to(&self, batch: &mut SignatureBatch) {
        batch.push_fixed(&self.digest, &self.signature);
    }

    /// What it says, whoever signed it.
    ///
    /// # Errors
    /// [`EarError::Form`] and [`EarError::Claims`].
    pub fn claims(&self) -> Result<AttestationResult, EarError> {
        json_object::read(&decoded(self.claims)?)
            .map_err(|error| EarError::Claims(start_of(&error.to_string())))
    }
}

fn decoded(part: &str) -> Result<Vec<u8>, EarError> {
    BASE64_URL.decode(part).map_err(|_| EarError::Form)
}

/// As much of what a server wrote as an error tells: it may be as long as an answer, and steer a terminal.
fn start_of(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(MOST_TOLD).collect()
}

const MOST_TOLD: usize = 200;
const ES256: &str = "ES256";
/// Algorithms of signatures by public keys, besides that one.
const OF_PUBLIC_KEYS: [&str; 11] =
    ["ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA", "Ed25519", "Ed448"];
/// The first byte of an uncompressed point (SEC 1 section 2.3.3).
const UNCOMPRESSED: u8 = 4;

#[cfg(test)]
mod tests;
