//! Whether a certificate is what Fulcio says that it is: as it is given, and as a bundle holds it.

use std::borrow::Cow;

use hammer_core::promise::Fault;
use hammer_tlog::ct::embedded::{EmbeddedError, embedded_scts, logged_entry};
use hammer_tlog::ct::sct::SctError;
use hammer_tlog::keys::certificate::{Certificate, GeneralName, GeneralNameKind};
use hammer_tlog::keys::der::Tlv;

use super::malformed::malformed;
use super::window::StampWindow;
use crate::fulcio;
use crate::record::CertificateRecord;
use crate::trust::Trust;

/// The key that was shown, the identity of the token, a path to a trusted root at `unix_ms`, and the SCT of a trusted CT log.
pub(super) fn judge(trust: &Trust, record: &CertificateRecord<'_>, window: StampWindow) -> Result<(), Fault> {
    let chain = fulcio::chain(record.interface, record.body).map_err(malformed)?;
    let parsed: Result<Vec<_>, _> = chain.iter().map(|der| Certificate::parse(der)).collect();
    let parsed = parsed.map_err(|why| malformed(format!("a certificate of the chain: {why}")))?;
    let [leaf, above @ ..] = parsed.as_slice() else { return Err(malformed("no certificate")) };
    if leaf.spki != record.spki {
        return Err(Fault::new(KEY, "it certifies another key than the one that was shown"));
    }
    check_identity(leaf, record.identity)?;
    if !record.issuer.is_empty() {
        check_issuer(leaf, record.issuer)?;
    }
    check_usage(leaf)?;
    check_chain(trust, leaf, above, window)?;
    check_scts(trust, leaf, Some(window))
}

/// Its only subject alternative name is that text.
pub(super) fn check_identity(leaf: &Certificate<'_>, identity: &str) -> Result<(), Fault> {
    let name = only_name(leaf)?;
    if is_of_signers(name.kind) && name.value == identity.as_bytes() {
        return Ok(());
    }
    let found = String::from_utf8_lossy(name.value).into_owned();
    Err(Fault::new(IDENTITY, format!("it is for {found:?}, and not for {identity:?}")))
}

/// Whom it names.
pub(super) fn identity_of<'a>(leaf: &Certificate<'a>) -> Result<Cow<'a, str>, Fault> {
    Ok(String::from_utf8_lossy(only_name(leaf)?.value))
}

fn only_name<'a>(leaf: &Certificate<'a>) -> Result<GeneralName<'a>, Fault> {
    let mut names = leaf.subject_alternative_names();
    let (Some(name), None) = (names.next(), names.next()) else {
        return Err(Fault::new(IDENTITY, "it has not exactly one subject alternative name"));
    };
    Ok(name)
}

const fn is_of_signers(kind: GeneralNameKind) -> bool {
    matches!(kind, GeneralNameKind::Email | GeneralNameKind::Uri | GeneralNameKind::Other(_))
}

/// It says that the identity is known from that issuer of tokens, wherever it says so.
pub(super) fn check_issuer(leaf: &Certificate<'_>, issuer: &str) -> Result<(), Fault> {
    let mut said = issuers_of(leaf)?.peekable();
    if said.peek().is_none() {
        return Err(Fault::new(ISSUER, "it does not say who issued the token"));
    }
    match said.find(|said| *said != issuer) {
        None => Ok(()),
        Some(other) => {
            Err(Fault::new(ISSUER, format!("it is for a token of {other:?}, and not of {issuer:?}")))
        }
    }
}

/// Whose tokens it says that the identity is known from: in the extension that Fulcio has always had, and in the one that replaces it.
pub(super) fn issuers_of<'a>(
    leaf: &Certificate<'a>,
) -> Result<impl Iterator<Item = &'a str> + use<'a>, Fault> {
    let bare = leaf.extension(ISSUER_BARE).map(|extension| extension.value);
    let der = leaf.extension(ISSUER_UTF8).map(|extension| Tlv::parse(extension.value, UTF8_STRING));
    let der = der.transpose().map_err(|why| malformed(format!("its issuer: {why}")))?.map(|text| text.value);
    let text = |bytes| std::str::from_utf8(bytes).map_err(|_| malformed("its issuer is no text"));
    Ok([bare.map(text).transpose()?, der.map(text).transpose()?].into_iter().flatten())
}

/// It is for code signing.
pub(super) fn check_usage(leaf: &Certificate<'_>) -> Result<(), Fault> {
    match leaf.has_extended_key_usage(CODE_SIGNING) {
        true => Ok(()),
        false => Err(Fault::new(USAGE, "its extended key usage is not code signing")),
    }
}

/// At the time at which it was given, or one second into its validity: Fulcio dates it by its own clock.
fn check_chain(
    trust: &Trust,
    leaf: &Certificate<'_>,
    above: &[Certificate<'_>],
    window: StampWindow,
) -> Result<(), Fault> {
    let received_ms = window.not_after_ms - trust.skew.as_millis() as i64;
    let not_before_ms = leaf.not_before_seconds().unwrap_or_default().saturating_mul(1000);
    // A clock that is ahead by less than the skew is believed.
    let is_ahead = (received_ms..=window.not_after_ms).contains(&not_before_ms);
    let at_ms = if is_ahead { not_before_ms } else { received_ms };
    check_path(trust, leaf, above, at_ms.div_euclid(1000))
}

/// It leads to a trusted root at that second.
pub(super) fn check_path(
    trust: &Trust,
    leaf: &Certificate<'_>,
    above: &[Certificate<'_>],
    unix_seconds: i64,
) -> Result<(), Fault> {
    let Some(authorities) = trust.fulcio() else { return Ok(()) };
    authorities
        .verify(leaf, above, unix_seconds)
        .map_err(|why| Fault::new(UNTRUSTED, format!("failed to {why}")))
}

/// Every SCT of a trusted log has to hold, and one at least has to be there where that is required. Its time is looked at where it is
/// known when the certificate was asked for.
pub(super) fn check_scts(
    trust: &Trust,
    leaf: &Certificate<'_>,
    window: Option<StampWindow>,
) -> Result<(), Fault> {
    if trust.ct_logs.is_empty() && !trust.require_sct {
        return Ok(());
    }
    let scts =
        embedded_scts(leaf).map_err(|why: EmbeddedError| malformed(format!("its SCTs: failed to {why}")))?;
    if scts.is_empty() {
        return if trust.require_sct { Err(Fault::new(NO_SCT, "it has no SCT")) } else { Ok(()) };
    }
    let Some(issuer) = trust.fulcio().and_then(|authorities| authorities.issuer_of(leaf)) else {
        return Err(Fault::new(UNTRUSTED, "its issuer is not known"));
    };
    let entry = logged_entry(leaf, issuer.key_hash())
        .map_err(|why| malformed(format!("its SCTs: failed to {why}")))?;
    let mut is_logged = false;
    for sct in &scts {
        let Some(log) = trust.ct_logs.iter().find(|log| log.log_id() == sct.log_id) else { continue };
        let judged: Result<(), SctError> = sct.verify(log, entry.by_ref());
        judged.map_err(|why| Fault::new(BAD_SCT, format!("failed to {why}")))?;
        window.map_or(Ok(()), |window| check_sct_time(sct.timestamp_ms, window))?;
        is_logged = true;
    }
    if is_logged { Ok(()) } else { Err(Fault::new(FOREIGN_SCT, "none of its SCTs is of a trusted log")) }
}

/// The log is asked while Fulcio is.
fn check_sct_time(timestamp_ms: u64, window: StampWindow) -> Result<(), Fault> {
    let at_ms = i64::try_from(timestamp_ms).unwrap_or(i64::MAX);
    window.check(at_ms).map_err(|off_ms| {
        Fault::new(SCT_TIMESTAMP, format!("{timestamp_ms} is {off_ms} ms off from when it was issued"))
    })
}

/// DER content of 1.3.6.1.5.5.7.3.3, id-kp-codeSigning.
const CODE_SIGNING: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 3];
/// DER content of 1.3.6.1.4.1.57264.1.1, whose text stands there bare (Fulcio, `docs/oid-info.md`).
const ISSUER_BARE: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xbf, 0x30, 0x01, 0x01];
/// DER content of 1.3.6.1.4.1.57264.1.8, a `UTF8String`.
const ISSUER_UTF8: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xbf, 0x30, 0x01, 0x08];
const UTF8_STRING: u8 = 0x0c;
const KEY: &str = "certificate-key";
const IDENTITY: &str = "certificate-identity";
const ISSUER: &str = "certificate-issuer";
const USAGE: &str = "certificate-usage";
const UNTRUSTED: &str = "certificate-untrusted";
const NO_SCT: &str = "no-sct";
const BAD_SCT: &str = "bad-sct-signature";
const SCT_TIMESTAMP: &str = "sct-timestamp";
const FOREIGN_SCT: &str = "sct-of-another-log";
