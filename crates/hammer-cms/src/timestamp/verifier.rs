use hammer_tlog::keys::chain::TrustedAuthorities;
use hammer_tlog::keys::key::{LogKey, MixedBatch};

use super::fault::TimestampFault;
use super::imprint::ExpectedImprint;
use super::response::TimestampResponse;
use super::signer::{SignerNames, Signers, find_certificate};
use super::tst_info::{Accuracy, TstInfo};
use crate::signed_data::{SignedData, SignedDataError, SignerInfo, check_named};

/// DER content of 1.2.840.113549.1.9.16.1.4, id-ct-TSTInfo.
const ID_CT_TST_INFO: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x01, 0x04];

/// What a timestamp has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedTimestamp<'a> {
    /// What is stamped.
    pub imprint: ExpectedImprint<'a>,
    /// The nonce of the query; without one that of the response is not looked at.
    pub nonce: Option<u64>,
    /// When the query was sent, in milliseconds since 1970, less what the clocks may differ.
    pub not_before_ms: Option<i64>,
    /// When the response came, in milliseconds since 1970, and what the clocks may differ.
    pub not_after_ms: Option<i64>,
}

impl ExpectedTimestamp<'_> {
    /// Whether `info` says it. A time in whole seconds stands for each millisecond of its second. The accuracy that an
    /// authority claims widens nothing.
    fn check(&self, info: &TstInfo<'_>) -> Result<(), TimestampFault> {
        self.imprint.check(&info.imprint)?;
        if self.nonce.is_some_and(|nonce| !info.has_nonce(nonce)) {
            return Err(TimestampFault::Nonce);
        }
        let unix_ms = info.gen_time.unix_ms();
        let window = [self.not_before_ms, self.not_after_ms];
        let is_early = window[0].is_some_and(|earliest| info.gen_time.last_unix_ms() < earliest);
        let is_late = window[1].is_some_and(|latest| unix_ms > latest);
        if is_early || is_late { Err(TimestampFault::Time { unix_ms, window }) } else { Ok(()) }
    }
}

/// A timestamp that has been verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifiedTimestamp<'a> {
    /// When it was made, in milliseconds since 1970.
    pub unix_ms: i64,
    /// The content of its serial number, an `INTEGER`, which is the authority's to make unique.
    pub serial: &'a [u8],
    /// How far the time may be off, by what the authority says.
    pub accuracy: Option<Accuracy>,
    /// Whether the signer's certificate is in the token, as it has to be where the query asks for it (RFC 3161 section 2.4.1).
    pub has_certificate: bool,
}

impl VerifiedTimestamp<'_> {
    /// The same, where the certificate of its signer is in it: whoever verifies it later may know no more than the root.
    ///
    /// # Errors
    /// The certificate was known, and did not come along.
    pub fn with_certificate(self) -> Result<Self, TimestampFault> {
        if self.has_certificate { Ok(self) } else { Err(TimestampFault::CertificateNotSent) }
    }
}

/// Verifies the timestamps of one authority. It remembers its last signers: a signer seen before costs one verification by a
/// table of its key.
#[derive(Debug)]
pub struct TimestampVerifier {
    trusted: TrustedAuthorities,
    signers: Signers,
}

impl TimestampVerifier {
    /// A verifier that trusts these roots, and finds among the other certificates the signer of a response without any.
    pub fn new(trusted: TrustedAuthorities) -> Self {
        Self { trusted, signers: Signers::default() }
    }

    /// Verifies a whole `TimeStampResp`: that a token was granted, that it says what is expected, and that it is signed by one
    /// signer whose certificate is for timestamps alone, is named by the attribute signingCertificate, and leads to a trusted
    /// root at the time of the token (RFC 3161 section 2.2). What is said of the content comes first.
    pub fn verify<'a>(
        &mut self,
        response: &'a [u8],
        expected: &ExpectedTimestamp<'_>,
    ) -> Result<VerifiedTimestamp<'a>, TimestampFault> {
        self.verify_token(token_of(&TimestampResponse::parse(response)?)?, expected)
    }

    /// The same but for the signature of the token, which is added to a batch: it says whether the timestamp holds. Nothing is added where
    /// the rest does not.
    pub fn verify_in<'a>(
        &mut self,
        batch: &mut MixedBatch,
        response: &'a [u8],
        expected: &ExpectedTimestamp<'_>,
    ) -> Result<VerifiedTimestamp<'a>, TimestampFault> {
        let token = token_of(&TimestampResponse::parse(response)?)?;
        self.verify_token_by(token, expected, |signer, content, key| signer.verify_in(batch, content, key))
    }

    /// Verifies a whole `TimeStampToken` as [`TimestampVerifier::verify`] does that of a response: it stands in another signature, or came
    /// without a status.
    pub fn verify_token<'a>(
        &mut self,
        token: &'a [u8],
        expected: &ExpectedTimestamp<'_>,
    ) -> Result<VerifiedTimestamp<'a>, TimestampFault> {
        self.verify_token_by(token, expected, |signer, (content_type, content), key| {
            signer.verify(content_type, content, key)
        })
    }

    /// `check` says whether the signature of a signer is that of its key over a content of a type.
    fn verify_token_by<'a>(
        &mut self,
        token: &'a [u8],
        expected: &ExpectedTimestamp<'_>,
        check: impl FnOnce(&SignerInfo<'_>, (&[u8], &[u8]), &LogKey) -> Result<(), SignedDataError>,
    ) -> Result<VerifiedTimestamp<'a>, TimestampFault> {
        let signed_data = SignedData::parse(token)?;
        let content = signed_data.content.filter(|_| signed_data.content_type == ID_CT_TST_INFO);
        let content = content.ok_or(TimestampFault::ContentType)?;
        let info = TstInfo::parse(content)?;
        expected.check(&info)?;
        let signer_info = only_signer(&signed_data)?;
        let (key, has_certificate) = self.key_of(&signed_data, &signer_info, info.gen_time.unix_seconds)?;
        check(&signer_info, (signed_data.content_type, content), key)?;
        let TstInfo { gen_time, serial, accuracy, .. } = info;
        Ok(VerifiedTimestamp { unix_ms: gen_time.unix_ms(), serial, accuracy, has_certificate })
    }

    /// The key of the signer, whose certificate leads to a trusted root at that time, and whether that was sent along.
    fn key_of(
        &mut self,
        signed_data: &SignedData<'_>,
        signer_info: &SignerInfo<'_>,
        unix_seconds: i64,
    ) -> Result<(&LogKey, bool), TimestampFault> {
        let sent_along = signed_data.certificates;
        let names = SignerNames::of(signer_info);
        // As a rule one token after another names the same signer by the same words: what follows from them is known.
        if let Some(known) = names.and_then(|names| self.signers.named(&names, sent_along, unix_seconds)) {
            return Ok((self.signers.key(known), true));
        }
        let certificate = find_certificate(&self.trusted, &signer_info.identifier, sent_along)
            .ok_or(TimestampFault::NoCertificate)?;
        let attributes = signer_info.attributes()?;
        let named = [attributes.signing_certificate()?, attributes.signing_certificate_v2()?];
        if named == [None, None] {
            return Err(TimestampFault::NoSigningCertificate);
        }
        check_named(named, &certificate, TimestampFault::SigningCertificate)?;
        let has_certificate = { sent_along }.any(|sent| sent == certificate.raw);
        let signer = self.signers.trusted(&self.trusted, &certificate, (names, sent_along), unix_seconds)?;
        Ok((self.signers.key(signer), has_certificate))
    }
}

/// The token of a response that has one.
fn token_of<'a>(response: &TimestampResponse<'a>) -> Result<&'a [u8], TimestampFault> {
    let status = response.status;
    if !status.status.is_granted() {
        let text = status.text.map(str::to_owned);
        return Err(TimestampFault::NotGranted { status: status.status, failures: status.failures, text });
    }
    response.token.ok_or(TimestampFault::NoToken { status: status.status })
}

fn only_signer<'a>(signed_data: &SignedData<'a>) -> Result<SignerInfo<'a>, TimestampFault> {
    let signers = signed_data.signer_infos;
    signers.only().ok_or_else(|| TimestampFault::Signers { signers: signers.count() })
}
