//! What an entry of either Rekor says: what was signed, with which signature, and by whom.

use std::fmt;

use hammer_tlog::encoding::{Base64, from_base64};
use hammer_tlog::hash::from_hex;
use hammer_tlog::keys::digest::DigestAlgorithm;
use serde::Deserialize;

use crate::{fulcio, pem};

/// An entry, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoggedSignature {
    pub(crate) kind: LoggedKind,
    /// `0.0.1` of Rekor v1, `0.0.2` of Rekor v2.
    pub(crate) version: String,
    digest: (DigestAlgorithm, Vec<u8>),
    pub(crate) signature: Vec<u8>,
    pub(crate) signer: LoggedSigner,
}

/// What the digest of an entry is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoggedKind {
    /// An artifact, which is what is signed.
    HashedRekord,
    /// The payload of an envelope; signed is its pre-authentication encoding.
    Dsse,
}

/// Who signed, as the log keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LoggedSigner {
    /// The DER of a certificate.
    Certificate(Vec<u8>),
    /// The DER of a `SubjectPublicKeyInfo`.
    Key(Vec<u8>),
}

impl LoggedKind {
    /// Its name in entries.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::HashedRekord => "hashedrekord",
            Self::Dsse => "dsse",
        }
    }
}

/// Why what an entry says is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnreadEntry {
    /// It does not have the form of an entry.
    Malformed(String),
    /// It is of a kind, or by a digest, that is not verified here.
    Unknown(String),
}

impl fmt::Display for UnreadEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Malformed(why) | Self::Unknown(why)) = self;
        f.write_str(why)
    }
}

impl From<String> for UnreadEntry {
    fn from(why: String) -> Self {
        Self::Malformed(why)
    }
}

impl LoggedSignature {
    /// Reads the body of an entry.
    ///
    /// # Errors
    /// What it is not.
    pub(crate) fn read(body: &[u8]) -> Result<Self, UnreadEntry> {
        let entry: Entry =
            serde_json::from_slice(body).map_err(|why| UnreadEntry::Malformed(why.to_string()))?;
        let Entry { api_version: version, kind, spec } = entry;
        let told = || format!("an entry of kind {kind:?} {version} is not verified here");
        let is_known = ["hashedrekord", "dsse"].contains(&kind.as_str())
            && ["0.0.1", "0.0.2"].contains(&version.as_str());
        let unknown = || match is_known {
            true => UnreadEntry::Malformed(told()),
            false => UnreadEntry::Unknown(told()),
        };
        let (kind, digest, signature, signer) = match (kind.as_str(), version.as_str(), spec) {
            ("hashedrekord", "0.0.1", Spec { data: Some(data), signature: Some(signed), .. }) => (
                LoggedKind::HashedRekord,
                data.hash.read()?,
                signed.content.0,
                of_pem(&signed.public_key.content.0)?,
            ),
            ("dsse", "0.0.1", Spec { payload_hash: Some(hash), signatures: Some(signatures), .. }) => {
                let signed = only(signatures)?;
                (LoggedKind::Dsse, hash.read()?, signed.signature.0, of_pem(&signed.verifier.0)?)
            }
            ("hashedrekord", "0.0.2", Spec { hashed_rekord_v002: Some(spec), .. }) => {
                let SignedV002 { content, verifier } = spec.signature;
                (LoggedKind::HashedRekord, spec.data.read()?, content.0, verifier.signer()?)
            }
            ("dsse", "0.0.2", Spec { dsse_v002: Some(spec), .. }) => {
                let SignedV002 { content, verifier } = only(spec.signatures)?;
                (LoggedKind::Dsse, spec.payload_hash.read()?, content.0, verifier.signer()?)
            }
            _ => return Err(unknown()),
        };
        Ok(Self { kind, version, digest, signature, signer })
    }

    /// Whether its digest is that of these bytes.
    pub(crate) fn is_about(&self, bytes: &[u8]) -> bool {
        let (algorithm, digest) = &self.digest;
        algorithm.digest(bytes).as_ref() == digest.as_slice()
    }

    /// Whether that is its digest.
    pub(crate) fn has_digest(&self, digest: &[u8]) -> bool {
        self.digest.1 == digest
    }
}

/// The key or the first certificate of a PEM.
fn of_pem(text: &[u8]) -> Result<LoggedSigner, String> {
    let text = std::str::from_utf8(text).map_err(|_| "what it is verified by is no text".to_owned())?;
    if fulcio::is_certificate(text) {
        let certificate = pem::certificates(text).and_then(|all| all.into_iter().next());
        return certificate.map(LoggedSigner::Certificate).ok_or_else(|| "no certificate".to_owned());
    }
    let digits = fulcio::digits(text).collect::<String>();
    from_base64(digits).map(LoggedSigner::Key).map_err(|why| format!("its key: failed to {why}"))
}

fn only<T>(mut all: Vec<T>) -> Result<T, String> {
    match (all.pop(), all.len()) {
        (Some(only), 0) => Ok(only),
        (last, before) => {
            Err(format!("{} signatures in an entry, and not one", before + usize::from(last.is_some())))
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    api_version: String,
    kind: String,
    spec: Spec,
}

/// Of each kind and version that is known.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    data: Option<Data>,
    signature: Option<SignedV001>,
    payload_hash: Option<HashV001>,
    signatures: Option<Vec<EnvelopeSignedV001>>,
    #[serde(rename = "hashedRekordV002")]
    hashed_rekord_v002: Option<HashedRekordV002>,
    #[serde(rename = "dsseV002")]
    dsse_v002: Option<DsseV002>,
}

#[derive(Deserialize)]
struct Data {
    hash: HashV001,
}

#[derive(Deserialize)]
struct HashV001 {
    algorithm: String,
    /// Hexadecimal.
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SignedV001 {
    content: Base64,
    public_key: Content,
}

#[derive(Deserialize)]
struct Content {
    content: Base64,
}

#[derive(Deserialize)]
struct EnvelopeSignedV001 {
    signature: Base64,
    verifier: Base64,
}

#[derive(Deserialize)]
struct HashedRekordV002 {
    data: HashV002,
    signature: SignedV002,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DsseV002 {
    payload_hash: HashV002,
    signatures: Vec<SignedV002>,
}

#[derive(Deserialize)]
struct HashV002 {
    algorithm: String,
    digest: Base64,
}

#[derive(Deserialize)]
struct SignedV002 {
    content: Base64,
    verifier: VerifierV002,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VerifierV002 {
    public_key: Option<VerifierBytes>,
    x509_certificate: Option<VerifierBytes>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VerifierBytes {
    raw_bytes: Base64,
}

impl HashV001 {
    fn read(&self) -> Result<(DigestAlgorithm, Vec<u8>), UnreadEntry> {
        let algorithm = match self.algorithm.as_str() {
            "sha256" => DigestAlgorithm::Sha256,
            "sha384" => DigestAlgorithm::Sha384,
            "sha512" => DigestAlgorithm::Sha512,
            unknown => return Err(unknown_digest(unknown)),
        };
        let value = from_hex(&self.value);
        Ok((algorithm, value.ok_or_else(|| format!("a hash in no hexadecimal digits: {}", self.value))?))
    }
}

fn unknown_digest(name: &str) -> UnreadEntry {
    UnreadEntry::Unknown(format!("a hash that is none of SHA-2: {}", name.escape_debug()))
}

impl HashV002 {
    fn read(self) -> Result<(DigestAlgorithm, Vec<u8>), UnreadEntry> {
        let algorithm = digest_named(&self.algorithm);
        Ok((algorithm.ok_or_else(|| unknown_digest(&self.algorithm))?, self.digest.0))
    }
}

impl VerifierV002 {
    fn signer(self) -> Result<LoggedSigner, String> {
        match (self.x509_certificate, self.public_key) {
            (Some(certificate), None) => Ok(LoggedSigner::Certificate(certificate.raw_bytes.0)),
            (None, Some(key)) => Ok(LoggedSigner::Key(key.raw_bytes.0)),
            _ => Err("it is not verified by either a certificate or a key".to_owned()),
        }
    }
}

/// The digest of that name in sigstore/protobuf-specs (`HashAlgorithm`).
pub(crate) fn digest_named(name: &str) -> Option<DigestAlgorithm> {
    match name {
        "SHA2_256" => Some(DigestAlgorithm::Sha256),
        "SHA2_384" => Some(DigestAlgorithm::Sha384),
        "SHA2_512" => Some(DigestAlgorithm::Sha512),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::{BundleSigner, SignedBundle};

    #[test]
    fn entries_of_both_versions_say_what_their_bundle_says() {
        for text in [
            include_str!("../testdata/cosign-bundle-rekor-v1.json"),
            include_str!("../testdata/cosign-bundle-rekor-v2.json"),
        ] {
            let bundle = SignedBundle::parse(text.as_bytes()).unwrap();
            let logged = LoggedSignature::read(&bundle.entries[0].canonicalized_body).unwrap();
            assert_eq!(
                (logged.kind, logged.signature.as_slice()),
                (LoggedKind::HashedRekord, bundle.signature())
            );
            let (LoggedSigner::Certificate(logged), BundleSigner::Certificate(of_bundle)) =
                (logged.signer, bundle.signer)
            else {
                panic!("certificates")
            };
            assert_eq!(logged, of_bundle);
        }
    }

    #[test]
    fn what_is_no_entry_that_is_known_says_so() {
        let refused = |text: &str| LoggedSignature::read(text.as_bytes()).unwrap_err();
        let malformed = |why: &str| UnreadEntry::Malformed(why.to_owned());
        let unknown = |why: &str| UnreadEntry::Unknown(why.to_owned());
        assert!(matches!(refused("{"), UnreadEntry::Malformed(why) if why.contains("EOF")));
        let intoto = refused(r#"{"apiVersion":"0.0.2","kind":"intoto","spec":{}}"#);
        assert_eq!(intoto, unknown("an entry of kind \"intoto\" 0.0.2 is not verified here"));
        let two = r#"{"apiVersion":"0.0.1","kind":"dsse","spec":{"payloadHash":{"algorithm":"sha256","value":"00"},"signatures":[]}}"#;
        assert_eq!(refused(two), malformed("0 signatures in an entry, and not one"));
        let hash = r#"{"apiVersion":"0.0.1","kind":"dsse","spec":{"payloadHash":{"algorithm":"md5","value":"00"},"signatures":[{"signature":"","verifier":""}]}}"#;
        assert_eq!(refused(hash), unknown("a hash that is none of SHA-2: md5"));
    }
}
