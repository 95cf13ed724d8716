//! Signed CoRIMs: COSE_Sign1 (RFC 9052 section 4.2) by the key of a certificate that is sent along.

use std::{fs, path::PathBuf};

use ciborium::Value;
use coset::{CoseSign1, Label, RegisteredLabelWithPrivate, TaggedCborSerializable, iana};
use hammer_lab::LabError;
use hammer_p256::verify_once_fixed;
use hammer_tlog::{
    hash::sha256,
    keys::{
        certificate::Certificate,
        chain::TrustedAuthorities,
        key::{KeyAlgorithm, LogKey},
    },
};

use super::fault::CorimFault;
use crate::cbor::bytes;

/// Who may sign a CoRIM.
#[derive(Debug)]
pub(crate) struct CorimSigners {
    /// Where chains have to lead to; none where nobody asks.
    roots: Option<TrustedAuthorities>,
}

impl CorimSigners {
    /// Those whose chains lead to the certificates of these PEM files; anybody, where there are none.
    ///
    /// # Errors
    /// A file that cannot be read, or has no certificates of authorities.
    pub(crate) fn read(files: &[PathBuf]) -> Result<Self, LabError> {
        let Some(first) = files.first() else { return Ok(Self { roots: None }) };
        let read = |path: &PathBuf| {
            let failed = |source| LabError::File { action: "read", path: path.clone(), source };
            fs::read_to_string(path).map_err(failed)
        };
        let pem = files.iter().map(read).collect::<Result<Vec<_>, _>>()?.join("\n");
        let content = |reason: String| LabError::Content { path: first.clone(), reason };
        let roots = TrustedAuthorities::from_pem(&pem).map_err(|error| content(error.to_string()))?;
        Ok(Self { roots: Some(roots) })
    }

    /// What a signed CoRIM holds, once its signature was verified.
    pub(super) fn payload(&self, body: &[u8], unix_seconds: u64) -> Result<Vec<u8>, CorimFault> {
        let sign1 = CoseSign1::from_tagged_slice(body).map_err(|_| {
            failed("failed CBOR decoding for COSE-Sign1 signed CoRIM: cbor: invalid COSE_Sign1_Tagged object")
        })?;
        let header = &sign1.protected.header;
        if header.alg != Some(RegisteredLabelWithPrivate::Assigned(iana::Algorithm::ES256)) {
            return Err(failed("the embedded target takes signatures by ES256 alone"));
        }
        let is_x5chain = |(label, _): &&(Label, Value)| *label == Label::Int(X5CHAIN);
        let x5chain = header.rest.iter().find(is_x5chain).map(|(_, value)| value);
        let chain =
            certificates(x5chain).ok_or_else(|| failed("no valid x5chain in the protected header"))?;
        let parsed: Result<Vec<Certificate<'_>>, _> =
            chain.iter().map(|der| Certificate::parse(der)).collect();
        let parsed = parsed.map_err(|error| failed(&format!("x5chain: {error}")))?;
        let Some((leaf, others)) = parsed.split_first() else { return Err(failed("empty x5chain")) };
        if let Some(roots) = &self.roots {
            let now = i64::try_from(unix_seconds).unwrap_or(i64::MAX);
            let verified = roots.verify(leaf, others, now);
            verified.map_err(|error| verification(&format!("certificate chain: {error}")))?;
        }
        let key = LogKey::from_der(leaf.spki).map_err(|error| verification(&error.to_string()))?;
        let signature = <&[u8; 64]>::try_from(sign1.signature.as_slice()).ok();
        let digest = sha256(&sign1.tbs_data(&[])).0;
        let holds = signature.filter(|_| key.algorithm() == KeyAlgorithm::P256);
        if !holds.is_some_and(|signature| verify_once_fixed(key.bytes(), &digest, signature)) {
            return Err(verification("verification error"));
        }
        sign1.payload.ok_or_else(|| failed("no payload"))
    }
}

/// One certificate, or an array of them, leaf first (RFC 9360 section 2).
fn certificates(x5chain: Option<&Value>) -> Option<Vec<&[u8]>> {
    match x5chain? {
        Value::Bytes(one) => Some(vec![one]),
        Value::Array(several) => several.iter().map(bytes).collect(),
        _ => None,
    }
}

fn failed(reason: &str) -> CorimFault {
    CorimFault::new(format!("failed to parse signed CoRIM: {reason}"))
}

fn verification(reason: &str) -> CorimFault {
    CorimFault::new(format!("failed to verify signed CoRIM: {reason}"))
}

/// The header parameter with the chain (RFC 9360).
const X5CHAIN: i64 = 33;
