use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::chain::TrustedAuthorities;
use hammer_tlog::keys::digest::DigestAlgorithm;

use super::fault::SignatureFault;
use super::known_signer::KnownSigner;
use crate::signed_data::{SignedAttributes, SignedData, SignedDataError, SignerInfo, check_named};
use crate::timestamp::{ExpectedImprint, ExpectedTimestamp, TimestampVerifier, VerifiedTimestamp};

/// DER content of 1.2.840.113549.1.7.1, id-data.
const ID_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01];

/// Which profile a signature is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureForm {
    /// CAdES with the document in it (enveloping): signingTime has to be there.
    CadesEnveloping,
    /// CAdES beside the document (detached): likewise.
    CadesDetached,
    /// The `Contents` of a PDF's signature (`ETSI.CAdES.detached`), whose time stands in its dictionary: signingTime must not be
    /// there (EN 319 142-1 section 6.3).
    Pades,
}

/// What a signature has to say.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedSignature<'a> {
    /// What is signed, in pieces that follow one another.
    pub document: &'a [&'a [u8]],
    /// By whom.
    pub signer: &'a KnownSigner,
    /// In which form.
    pub form: SignatureForm,
    /// Whether a timestamp of it was asked for.
    pub has_timestamp: bool,
    /// When it was asked for, in milliseconds since 1970, less what the clocks may differ.
    pub not_before_ms: Option<i64>,
    /// When it came, in milliseconds since 1970, and what the clocks may differ.
    pub not_after_ms: Option<i64>,
}

/// A signature that has been verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifiedSignature<'a> {
    /// What its signer says of when it was made, in seconds since 1970.
    pub signing_time: Option<i64>,
    /// Its timestamp, where one was asked for.
    pub timestamp: Option<VerifiedTimestamp<'a>>,
}

/// Verifies signatures with their timestamps, which are of one authority. It remembers that authority's last signers.
#[derive(Debug)]
pub struct SignatureVerifier {
    timestamps: Option<TimestampVerifier>,
}

impl SignatureVerifier {
    /// A verifier that trusts timestamps which lead to these roots; without any it takes none.
    pub fn new(timestamps: Option<TrustedAuthorities>) -> Self {
        Self { timestamps: timestamps.map(TimestampVerifier::new) }
    }

    /// Verifies the whole DER of a CMS: that it is one signer's, that the signer is the one that was named, that the signed attributes of
    /// its form are there and true, that it is over the document, and that its timestamp, where one was asked for, is over it.
    /// What is said of the content comes first.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify<'a>(
        &mut self,
        cms: &'a [u8],
        expected: &ExpectedSignature<'_>,
    ) -> Result<VerifiedSignature<'a>, SignatureFault> {
        self.verify_by(cms, expected, |signer| signer.check_digest(expected.document))
    }

    /// The same where the SHA-256 of the document has been worked out already, which saves doing so again. It has to be that of `document` of what
    /// is expected, which is looked at all the same: where a form has it in it, and by signers that took another digest.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify_hashed<'a>(
        &mut self,
        cms: &'a [u8],
        sha256: &[u8; 32],
        expected: &ExpectedSignature<'_>,
    ) -> Result<VerifiedSignature<'a>, SignatureFault> {
        self.verify_by(cms, expected, |signer| match signer.digest()? {
            DigestAlgorithm::Sha256 => signer.check_sha256(sha256),
            DigestAlgorithm::Sha384 | DigestAlgorithm::Sha512 => signer.check_digest(expected.document),
        })
    }

    /// The same where the document is not there, but its SHA-256: `document` of what is expected is not looked at. A form that has the document
    /// in it is refused.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify_digest<'a>(
        &mut self,
        cms: &'a [u8],
        sha256: &[u8; 32],
        expected: &ExpectedSignature<'_>,
    ) -> Result<VerifiedSignature<'a>, SignatureFault> {
        let expected = &ExpectedSignature { document: &[], ..*expected };
        self.verify_by(cms, expected, |signer| signer.check_sha256(sha256))
    }

    fn verify_by<'a>(
        &mut self,
        cms: &'a [u8],
        expected: &ExpectedSignature<'_>,
        check_digest: impl FnOnce(&SignerInfo<'_>) -> Result<(), SignedDataError>,
    ) -> Result<VerifiedSignature<'a>, SignatureFault> {
        let signed_data = SignedData::parse(cms)?;
        check_content(&signed_data, expected)?;
        let signers = signed_data.signer_infos;
        let signer = signers.only().ok_or_else(|| SignatureFault::Signers { signers: signers.count() })?;
        let attributes = signer.attributes()?;
        if attributes.content_type()? != ID_DATA {
            return Err(SignatureFault::ContentType);
        }
        check_digest(&signer)?;
        let unjudged = check_signer(&signed_data, &signer, &attributes, expected.signer)?;
        let signing_time = check_time(&attributes, expected)?;
        signer.verify_attributes(expected.signer.key())?;
        let timestamp = match expected.has_timestamp {
            true => Some(self.timestamp(&signer, expected)?),
            false => None,
        };
        // Last: a signature that is wrong is no better for what is not verified of it.
        unjudged.map_or(Ok(VerifiedSignature { signing_time, timestamp }), Err)
    }

    /// The timestamp over the signature (EN 319 122-1 section 5.3).
    fn timestamp<'a>(
        &mut self,
        signer: &SignerInfo<'a>,
        expected: &ExpectedSignature<'_>,
    ) -> Result<VerifiedTimestamp<'a>, SignatureFault> {
        let token = signer.signature_timestamp()?.ok_or(SignatureFault::NoTimestamp)?;
        let verifier = self.timestamps.as_mut().ok_or(SignatureFault::NoTimestamp)?;
        let expected = ExpectedTimestamp {
            imprint: ExpectedImprint::Message(signer.signature),
            nonce: None,
            not_before_ms: expected.not_before_ms,
            not_after_ms: expected.not_after_ms,
        };
        verifier.verify_token(token, &expected).map_err(SignatureFault::Timestamp)
    }
}

/// Whether the document is where its form has it.
fn check_content(
    signed_data: &SignedData<'_>,
    expected: &ExpectedSignature<'_>,
) -> Result<(), SignatureFault> {
    if signed_data.content_type != ID_DATA {
        return Err(SignatureFault::ContentType);
    }
    match (signed_data.content, expected.form) {
        (Some(content), SignatureForm::CadesEnveloping) => match is_whole(content, expected.document) {
            true => Ok(()),
            false => Err(SignatureFault::Document),
        },
        (None, SignatureForm::CadesDetached | SignatureForm::Pades) => Ok(()),
        (content, _) => Err(SignatureFault::Packaging { is_there: content.is_some() }),
    }
}

/// Whether these pieces are all of `content`.
fn is_whole(content: &[u8], pieces: &[&[u8]]) -> bool {
    let mut rest = content;
    pieces.iter().all(|piece| match rest.strip_prefix(*piece) {
        Some(behind) => {
            rest = behind;
            true
        }
        None => false,
    }) && rest.is_empty()
}

/// Whether the signer names itself, and is the one that was named; with the fault of what cannot be judged of that.
fn check_signer(
    signed_data: &SignedData<'_>,
    signer: &SignerInfo<'_>,
    attributes: &SignedAttributes<'_>,
    known: &KnownSigner,
) -> Result<Option<SignatureFault>, SignatureFault> {
    let certificate = Certificate::parse(known.certificate())?;
    if !signer.identifier.names(&certificate) {
        return Err(SignatureFault::Signer);
    }
    let named = [attributes.signing_certificate()?, attributes.signing_certificate_v2()?];
    if named == [None, None] {
        return Err(SignatureFault::MissingAttribute { attribute: "signing-certificate-v2" });
    }
    let unjudged = match check_named(named, &certificate, SignatureFault::SigningCertificate) {
        Err(why) if why.is_unverified() => Some(why),
        judged => judged.map(|()| None)?,
    };
    let is_sent_along = { signed_data.certificates }.any(|sent| sent == certificate.raw);
    if is_sent_along { Ok(unjudged) } else { Err(SignatureFault::NoCertificate) }
}

/// The time that the signer states, as its form has it, and whether that can be.
fn check_time(
    attributes: &SignedAttributes<'_>,
    expected: &ExpectedSignature<'_>,
) -> Result<Option<i64>, SignatureFault> {
    let attribute = "signingTime";
    let unix_seconds = match (attributes.signing_time()?, expected.form) {
        (None, SignatureForm::Pades) => return Ok(None),
        (Some(_), SignatureForm::Pades) => return Err(SignatureFault::ForbiddenAttribute { attribute }),
        (None, _) => return Err(SignatureFault::MissingAttribute { attribute }),
        (Some(unix_seconds), _) => unix_seconds,
    };
    // A time in whole seconds stands for each millisecond of its second.
    let [first_ms, last_ms] =
        [unix_seconds.saturating_mul(1000), unix_seconds.saturating_mul(1000).saturating_add(999)];
    let is_early = expected.not_before_ms.is_some_and(|earliest| last_ms < earliest);
    let is_late = expected.not_after_ms.is_some_and(|latest| first_ms > latest);
    match is_early || is_late {
        true => Err(SignatureFault::SigningTime { unix_seconds }),
        false => Ok(Some(unix_seconds)),
    }
}
