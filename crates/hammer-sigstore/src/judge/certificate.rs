//! Whether a certificate is what Fulcio says that it is: as it is given, and as a bundle holds it.

use std::borrow::Cow;
use std::time::Duration;

use hammer_core::promise::Fault;
use hammer_tlog::ct::embedded::{EmbeddedError, SCT_LIST, embedded_scts, logged_entry};
use hammer_tlog::ct::rfc6962::SignedEntryRef;
use hammer_tlog::ct::sct::{Sct, SctError};
use hammer_tlog::keys::certificate::{Certificate, GeneralName, GeneralNameKind, KeyUsage};
use hammer_tlog::keys::der::{self, DerError, DerReader, Tlv};
use hammer_tlog::keys::key::LogKey;

use super::malformed::{malformed, no_path, unread_log};
use super::signatures::{BAD_SCT, SignatureOf, Signatures};
use super::window::StampWindow;
use crate::fulcio;
use crate::record::CertificateRecord;
use crate::trust::Trust;

/// The key that was shown, the identity of the token, a path to a trusted root at `unix_ms`, and the SCT of a trusted CT log, whose
/// signature is among those that are verified together.
pub(super) fn judge(
    trust: &Trust,
    record: &CertificateRecord<'_>,
    window: StampWindow,
    signatures: &mut Signatures,
) -> Result<(), Fault> {
    let chain = fulcio::chain(record.interface, record.body).map_err(malformed)?;
    let parsed: Result<Vec<_>, _> = chain.iter().map(|der| Certificate::parse(der)).collect();
    let parsed = parsed.map_err(|why| malformed(format!("a certificate of the chain: {why}")))?;
    let [leaf, above @ ..] = parsed.as_slice() else { return Err(malformed("no certificate")) };
    if leaf.spki != record.spki {
        return Err(Fault::new(KEY, "it certifies another key than the one that was shown"));
    }
    if !record.identity.is_empty() {
        check_identity(leaf, record.identity)?;
    }
    if !record.issuer.is_empty() {
        check_issuer(leaf, record.issuer)?;
    }
    check_usage(leaf)?;
    check_chain(trust, leaf, above, window)?;
    let detached =
        fulcio::detached_sct(record.interface, record.sct_header, record.body).map_err(malformed)?;
    let detached = detached.map(|json| read_sct(&json)).transpose()?;
    let mut verify = |sct: &Sct, log: &LogKey, entry: SignedEntryRef<'_>| {
        signatures.add(SignatureOf::Sct, |batch| sct.add_to(batch, log, entry))
    };
    check_scts_by(trust, (leaf, above), detached.as_ref(), (Some(window), &mut verify))
}

/// The SCT of a certificate that does not hold it, as its log answered.
pub(super) fn read_sct(json: &[u8]) -> Result<Sct, Fault> {
    Sct::from_json(json).map_err(|why| malformed(format!("its detached SCT: failed to {why}")))
}

/// Its only subject alternative name is that text.
pub(super) fn check_identity(leaf: &Certificate<'_>, identity: &str) -> Result<(), Fault> {
    let name = only_name(leaf)?;
    let text = text_of(&name);
    if text == Some(identity.as_bytes()) {
        return Ok(());
    }
    Err(Fault::new(IDENTITY, format!("it is for {}, and not for {identity:?}", told(&name))))
}

/// A name as a person reads it; of a kind that Fulcio does not give, that too.
fn told(name: &GeneralName<'_>) -> String {
    let text = text_of(name);
    let kind = match name.kind {
        GeneralNameKind::Dns => "the DNS name ",
        GeneralNameKind::Other(_) if text.is_none() => "a name of another kind, ",
        _ => "",
    };
    format!("{kind}{:?}", String::from_utf8_lossy(text.unwrap_or(name.value)))
}

/// Whom it names.
pub(super) fn identity_of<'a>(leaf: &Certificate<'a>) -> Result<Cow<'a, str>, Fault> {
    let name = only_name(leaf)?;
    Ok(String::from_utf8_lossy(text_of(&name).unwrap_or(name.value)))
}

fn only_name<'a>(leaf: &Certificate<'a>) -> Result<GeneralName<'a>, Fault> {
    let mut names = leaf.subject_alternative_names();
    let (Some(name), None) = (names.next(), names.next()) else {
        return Err(Fault::new(IDENTITY, "it has not exactly one subject alternative name"));
    };
    Ok(name)
}

/// What a name of one of the kinds that Fulcio gives says; none of any other.
fn text_of<'a>(name: &GeneralName<'a>) -> Option<&'a [u8]> {
    match name.kind {
        GeneralNameKind::Email | GeneralNameKind::Uri => Some(name.value),
        GeneralNameKind::Other(OTHER_NAME) => username(name.value).ok().flatten(),
        GeneralNameKind::Dns | GeneralNameKind::Other(_) => None,
    }
}

/// The name of a user with its domain, in the content of an `otherName` (RFC 5280 section 4.2.1.6); none of another type.
fn username(other: &[u8]) -> Result<Option<&[u8]>, DerError> {
    let mut fields = DerReader::new(other);
    let kind = fields.expect(der::OBJECT_IDENTIFIER)?;
    let value = fields.expect(der::context(0))?;
    fields.finish()?;
    Ok(match kind.value {
        USERNAME => Some(Tlv::parse(value.value, UTF8_STRING)?.value),
        _ => None,
    })
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

/// It is for code signing and for nothing else, and for signatures, is no authority's, and says nothing twice (Fulcio,
/// `docs/certificate-specification.md`; RFC 5280 section 4.2).
pub(super) fn check_usage(leaf: &Certificate<'_>) -> Result<(), Fault> {
    let broken = |why: &str| Err(Fault::new(USAGE, why));
    if leaf.repeats_an_extension() {
        return broken("it has an extension twice");
    }
    if !leaf.extended_key_usages().eq([CODE_SIGNING]) {
        return broken("its extended key usage is not code signing alone");
    }
    let usage = leaf.key_usage().map_err(|why| malformed(format!("its key usage: {why}")))?;
    if !usage.is_some_and(KeyUsage::digital_signature) {
        return broken("its key usage is not digital signatures");
    }
    if leaf.is_ca() { broken("it is an authority's") } else { Ok(()) }
}

/// At the time at which it was given, or one second into its validity: Fulcio dates it by its own clock.
fn check_chain(
    trust: &Trust,
    leaf: &Certificate<'_>,
    above: &[Certificate<'_>],
    window: StampWindow,
) -> Result<(), Fault> {
    check_path(trust, leaf, above, believed_second(leaf, trust.skew, window))
}

/// The second at which it is looked at that was received at the end of a window, whose end has the skew.
pub(super) fn believed_second(leaf: &Certificate<'_>, skew: Duration, window: StampWindow) -> i64 {
    let received_ms = window.not_after_ms - skew.as_millis() as i64;
    let not_before_ms = leaf.not_before_seconds().unwrap_or_default().saturating_mul(1000);
    // A clock that is ahead by less than the skew is believed.
    let is_ahead = (received_ms..=window.not_after_ms).contains(&not_before_ms);
    let at_ms = if is_ahead { not_before_ms } else { received_ms };
    at_ms.div_euclid(1000)
}

/// The second at which a certificate is looked at that signed at `unix_seconds`, by another clock than that of whoever dated it: the first
/// or last of its validity where that is `skew` away at most.
pub(super) fn believed_within(leaf: &Certificate<'_>, skew: Duration, unix_seconds: i64) -> i64 {
    let skew = skew.as_secs() as i64;
    match (leaf.not_before_seconds(), leaf.not_after_seconds()) {
        (Some(first), _) if (first.saturating_sub(skew)..first).contains(&unix_seconds) => first,
        (_, Some(last)) if (last..=last.saturating_add(skew)).contains(&unix_seconds) => last,
        _ => unix_seconds,
    }
}

/// It leads to a trusted root at that second.
pub(super) fn check_path(
    trust: &Trust,
    leaf: &Certificate<'_>,
    above: &[Certificate<'_>],
    unix_seconds: i64,
) -> Result<(), Fault> {
    let Some(authorities) = trust.fulcio() else { return Ok(()) };
    authorities.verify(leaf, above, unix_seconds).map_err(|why| no_path(UNTRUSTED, &why))
}

/// Every SCT of a trusted log has to hold, and one at least has to be there where that is required: over the certificate without its SCTs,
/// and one that is `detached` over the certificate as it is. Its time is looked at where it is known when the certificate was asked for.
pub(super) fn check_scts(trust: &Trust, leaf: &Certificate<'_>, detached: Option<&Sct>) -> Result<(), Fault> {
    let mut verify = |sct: &Sct, log: &LogKey, entry: SignedEntryRef<'_>| sct.verify(log, entry);
    check_scts_by(trust, (leaf, &[]), detached, (None, &mut verify))
}

/// Whether it holds any SCT.
pub(super) fn has_scts(leaf: &Certificate<'_>) -> bool {
    leaf.extension(SCT_LIST).is_some()
}

/// When SCTs can have been made, where that is known, and what verifies each of them.
type SctChecks<'a> =
    (Option<StampWindow>, &'a mut dyn FnMut(&Sct, &LogKey, SignedEntryRef<'_>) -> Result<(), SctError>);

fn check_scts_by(
    trust: &Trust,
    (leaf, above): (&Certificate<'_>, &[Certificate<'_>]),
    detached: Option<&Sct>,
    mut checks: SctChecks<'_>,
) -> Result<(), Fault> {
    if trust.ct_logs.is_empty() && !trust.require_sct {
        return Ok(());
    }
    let scts =
        embedded_scts(leaf).map_err(|why: EmbeddedError| malformed(format!("its SCTs: failed to {why}")))?;
    if scts.is_empty() && detached.is_none() {
        return if trust.require_sct { Err(Fault::new(NO_SCT, "it has no SCT")) } else { Ok(()) };
    }
    let mut is_logged = false;
    if let Some(sct) = detached {
        is_logged |= check_sct(trust, sct, SignedEntryRef::X509 { certificate: leaf.raw }, &mut checks)?;
    }
    if !scts.is_empty() {
        is_logged |= check_embedded(trust, (leaf, above), &scts, &mut checks)?;
    }
    if is_logged {
        return Ok(());
    }
    match detached.into_iter().chain(&scts).find(|sct| trust.is_unread(&sct.log_id)) {
        Some(sct) => Err(unread_log(&format!("an SCT is of log {}", sct.log_id))),
        None => Err(Fault::new(FOREIGN_SCT, "none of its SCTs is of a trusted log")),
    }
}

/// The SCTs that a certificate holds, read by itself out of an entry. One that holds none may have had one beside it, which no entry has a
/// place for: that is looked at where the certificate is given.
pub(super) fn check_own_scts(trust: &Trust, leaf: &Certificate<'_>) -> Result<(), Fault> {
    if has_scts(leaf) { check_scts(trust, leaf, None) } else { Ok(()) }
}

/// Whether one of those SCTs is of a trusted log.
fn check_embedded(
    trust: &Trust,
    (leaf, above): (&Certificate<'_>, &[Certificate<'_>]),
    scts: &[Sct],
    checks: &mut SctChecks<'_>,
) -> Result<bool, Fault> {
    let issuer = trust.fulcio().and_then(|authorities| authorities.issuer_key_hash(leaf, above));
    let Some(issuer) = issuer else { return Err(Fault::new(UNTRUSTED, "its issuer is not known")) };
    let entry = logged_entry(leaf, issuer).map_err(|why| malformed(format!("its SCTs: failed to {why}")))?;
    let mut is_logged = false;
    for sct in scts {
        is_logged |= check_sct(trust, sct, entry.by_ref(), checks)?;
    }
    Ok(is_logged)
}

/// Whether it is of a trusted log, in which case it has to hold.
fn check_sct(
    trust: &Trust,
    sct: &Sct,
    entry: SignedEntryRef<'_>,
    (window, verify): &mut SctChecks<'_>,
) -> Result<bool, Fault> {
    let Some(log) = trust.ct_logs.iter().find(|log| log.log_id() == sct.log_id) else { return Ok(false) };
    verify(sct, log, entry).map_err(|why| Fault::new(BAD_SCT, format!("failed to {why}")))?;
    window.map_or(Ok(()), |window| check_sct_time(sct.timestamp_ms, window))?;
    Ok(true)
}

/// The log is asked while Fulcio is.
fn check_sct_time(timestamp_ms: u64, window: StampWindow) -> Result<(), Fault> {
    let at_ms = i64::try_from(timestamp_ms).unwrap_or(i64::MAX);
    let told = |off| format!("the time of its SCT is {timestamp_ms}, {off}");
    window.check(at_ms).map_err(|off| Fault::new(SCT_TIMESTAMP, told(off)))
}

/// DER content of 1.3.6.1.5.5.7.3.3, id-kp-codeSigning.
const CODE_SIGNING: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 3];
/// DER content of 1.3.6.1.4.1.57264.1.7, the type of an `otherName` with the name of a user (Fulcio, `docs/oid-info.md`).
const USERNAME: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xbf, 0x30, 0x01, 0x07];
/// The tag of an `otherName` among names.
const OTHER_NAME: u8 = der::context(0);
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
const SCT_TIMESTAMP: &str = "sct-timestamp";
const FOREIGN_SCT: &str = "sct-of-another-log";

#[cfg(test)]
mod tests {
    use super::*;

    /// An `otherName` of that type, as far as its last byte, with that text.
    fn other(last: u8, text: &[u8]) -> Vec<u8> {
        let mut value = Vec::new();
        der::write(&mut value, UTF8_STRING, text);
        let (mut kind, mut explicit) = (USERNAME.to_vec(), Vec::new());
        *kind.last_mut().unwrap() = last;
        der::write(&mut explicit, der::context(0), &value);
        let mut content = Vec::new();
        der::write(&mut content, der::OBJECT_IDENTIFIER, &kind);
        [content, explicit].concat()
    }

    #[test]
    fn a_user_is_read_out_of_the_name_that_fulcio_gives_it_and_out_of_no_other() {
        let of = |kind, value: &[u8]| text_of(&GeneralName { kind, value }).map(<[u8]>::to_vec);
        let username = GeneralNameKind::Other(OTHER_NAME);
        assert_eq!(of(username, &other(7, b"jdoe!example.com")).as_deref(), Some(&b"jdoe!example.com"[..]));
        assert_eq!(of(username, &other(8, b"jdoe!example.com")), None);
        assert_eq!(of(username, b"jdoe!example.com"), None);
        assert_eq!(of(GeneralNameKind::Other(0x87), b"jdoe"), None);
        assert_eq!(of(GeneralNameKind::Dns, b"jdoe"), None);
        let told = |kind| told(&GeneralName { kind, value: b"jdoe" });
        assert_eq!(told(GeneralNameKind::Dns), "the DNS name \"jdoe\"");
        assert_eq!(told(GeneralNameKind::Email), "\"jdoe\"");
        assert_eq!(told(GeneralNameKind::Other(0x87)), "a name of another kind, \"jdoe\"");
        assert_eq!(of(GeneralNameKind::Uri, b"https://a").as_deref(), Some(&b"https://a"[..]));
    }
}
