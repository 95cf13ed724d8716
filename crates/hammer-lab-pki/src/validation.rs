//! Validation of signed files: what is wrong with each signature in one. It reads what this service makes, and what others make of the same
//! form, with code of its own.

mod signed_message;
mod signed_pdf;

use hammer_tlog::hash::sha256;
use hammer_tlog::keys::chain::TrustedAuthorities;
use ring::digest::{Context, SHA256};
use serde_json::{Value, json};

use crate::advanced_signature::{SigningCertificate, UnusableCertificate};
use crate::caller::Caller;
use signed_message::{ID_DATA, SignedMessage, Signer, TST_INFO};

pub(crate) use signed_message::UnreadableFile;
pub(crate) use signed_pdf::of_pdf;

/// A signature in a file, and what is wrong with it.
#[derive(Debug, Default)]
pub(crate) struct ValidatedSigner {
    /// What did not pass, by the type that Rest PKI calls it.
    pub(crate) errors: Vec<(&'static str, &'static str)>,
    /// What passed.
    passed: Vec<&'static str>,
    /// Whose it is, where the certificate was taken.
    pub(crate) caller: Option<Caller>,
}

/// By what signatures are validated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValidationTerms<'a> {
    /// To what certificates of signers have to lead; without them to nothing.
    pub(crate) trusted: Option<&'a TrustedAuthorities>,
    /// Seconds since 1970.
    pub(crate) now: u64,
    /// Whether a signature has to have a timestamp.
    pub(crate) needs_timestamp: bool,
}

impl ValidatedSigner {
    /// Notes whether something passed.
    fn note(&mut self, passes: bool, kind: &'static str, message: &'static str) {
        if passes {
            self.passed.push(message);
        } else {
            self.errors.push((kind, message));
        }
    }

    pub(crate) fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// As an answer has it (restpki-client 1.3.1, `CadesSignerInfo`, `PadesSignerInfo`).
    pub(crate) fn model(&self) -> Value {
        let item = |kind: &str, message: &str| json!({ "type": kind, "message": message, "detail": null, "innerValidationResults": null });
        let errors: Vec<Value> = self.errors.iter().map(|(kind, message)| item(kind, message)).collect();
        let passed: Vec<Value> = self.passed.iter().map(|message| item("Success", message)).collect();
        json!({
            "signingTime": null,
            "certifiedDateReference": null,
            "certificate": null,
            "signaturePolicy": null,
            "timestamps": [],
            "validationResults": { "errors": errors, "warnings": [], "passedChecks": passed },
        })
    }
}

/// The signatures of a CMS over its own content, or over a document by its SHA-256.
pub(crate) fn of_cms(
    cms: &[u8],
    sha256_of_document: Option<&[u8]>,
    terms: ValidationTerms<'_>,
) -> Result<Vec<ValidatedSigner>, UnreadableFile> {
    let message = SignedMessage::read(cms)?;
    let digest = match (message.content, sha256_of_document) {
        (Some(content), _) => sha256(content).0.to_vec(),
        (None, Some(digest)) => digest.to_vec(),
        (None, None) => return Err(UnreadableFile("the document is not in it, and no hash of it is given")),
    };
    all_validated(&message, &digest, terms)
}

/// The signatures of a message over a document by its digest.
///
/// # Errors
/// Where one is by an algorithm that is not known here: nothing is said of whether it holds.
fn all_validated(
    message: &SignedMessage<'_>,
    digest: &[u8],
    terms: ValidationTerms<'_>,
) -> Result<Vec<ValidatedSigner>, UnreadableFile> {
    let signed = |signer: &Signer<'_>| {
        let certificate = message.certificate_of(signer).map(|der| SigningCertificate::new(der.to_vec()));
        if !signer.is_sha256 || matches!(certificate, Some(Err(UnusableCertificate::Key))) {
            return Err(UnreadableFile(
                "it is signed by another algorithm than RSA or ECDSA over P-256, with SHA-256",
            ));
        }
        Ok(validated(message, signer, ID_DATA, digest, terms))
    };
    message.signers.iter().map(signed).collect()
}

/// The SHA-256 of what is in pieces.
fn digest_of(pieces: &[&[u8]]) -> Vec<u8> {
    let mut hashed = Context::new(&SHA256);
    pieces.iter().for_each(|piece| hashed.update(piece));
    hashed.finish().as_ref().to_vec()
}

/// One signature over a content of that type and digest.
fn validated(
    message: &SignedMessage<'_>,
    signer: &Signer<'_>,
    content_type: &[u8],
    digest: &[u8],
    terms: ValidationTerms<'_>,
) -> ValidatedSigner {
    let mut found = ValidatedSigner::default();
    let is_of_type = message.content_type == content_type && signer.content_type == Some(content_type);
    found.note(is_of_type, "ContentTypeMismatch", "Content type");
    let is_of_content = signer.is_sha256 && signer.message_digest == Some(digest);
    found.note(is_of_content, "MessageDigestMismatch", "Message digest");
    let Some(certificate) = message.certificate_of(signer) else {
        found.note(false, "CertificateNotFound", "The signer's certificate is not in the signature");
        return found;
    };
    let names = signer.names_certificate(certificate);
    found.note(names, "SigningCertificateDigestMismatch", "Signing certificate");
    match Caller::of(certificate.to_vec(), terms.trusted, terms.now) {
        Ok(caller) => {
            let verified = caller.verify(&signer.attributes_to_be_signed(), signer.signature).is_ok();
            found.note(verified, "SignatureAlgorithmValidationFailed", "Signature");
            found.caller = Some(caller);
        }
        Err(_) => found.note(false, "InvalidCertificate", "Certificate"),
    }
    match signer.timestamp {
        Some(token) => found.note(
            is_timestamp_of(token, signer.signature, terms.now),
            "TimestampMessageImprintMismatch",
            "Timestamp",
        ),
        None if terms.needs_timestamp => found.note(false, "UncertifiedDateReference", "Timestamp"),
        None => {}
    }
    found
}

/// Whether a token is a timestamp over that signature, and holds itself.
fn is_timestamp_of(token: &[u8], signature: &[u8], now: u64) -> bool {
    let Ok(message) = SignedMessage::read(token) else { return false };
    let ([signer], Some(content)) = (message.signers.as_slice(), message.content) else { return false };
    let terms = ValidationTerms { trusted: None, now, needs_timestamp: false };
    let holds = validated(&message, signer, TST_INFO, &sha256(content).0, terms).is_valid();
    holds && signed_message::imprint(content) == Some(sha256(signature).0.as_slice())
}
