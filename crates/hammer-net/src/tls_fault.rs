//! Why TLS was not agreed on, as its operator would go about it.

use std::borrow::Cow;
use std::io;

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::failure::{Failure, FailureKind};

/// The failure of a handshake with `host`.
#[cold]
pub(crate) fn of_handshake(host: &str, error: &io::Error) -> Failure {
    let failure = |kind, why: &str| Failure::new(kind, format!("agree on TLS with {host}: {why}"));
    let is_reset = matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe
    );
    match of_tls(error) {
        _ if is_reset => failure(FailureKind::TlsReset, &error.to_string()),
        Some(why) => failure(kind_of(why), &words(why)),
        None if error.kind() == io::ErrorKind::UnexpectedEof => failure(
            FailureKind::TlsClosed,
            "the server closed the connection in the handshake: it may not speak TLS there",
        ),
        None => failure(FailureKind::Tls, &error.to_string()),
    }
}

/// What rustls says, where `error` is its.
pub(crate) fn of_tls(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

/// Why, in words of whoever runs the server or its client.
pub(crate) fn words(error: &Error) -> Cow<'static, str> {
    match error {
        Error::InvalidCertificate(fault) => of_certificate(fault),
        Error::AlertReceived(alert) => of_alert(*alert).into(),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "the server does not speak TLS there".into()
        }
        Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => "the server speaks neither TLS 1.2 nor TLS 1.3".into(),
        Error::InvalidMessage(fault) => of_broken_message(&format!("{fault:?}")).into(),
        Error::PeerIncompatible(fault) => {
            format!("the server's TLS does not fit: {}", spaced(&format!("{fault:?}"))).into()
        }
        Error::PeerMisbehaved(fault) => {
            format!("the server breaks TLS: {}", spaced(&format!("{fault:?}"))).into()
        }
        Error::DecryptError => "what the server sent cannot be decrypted".into(),
        Error::PeerSentOversizedRecord => "the server breaks TLS: a record is too large".into(),
        Error::NoApplicationProtocol => "the server speaks none of the protocols that TLS offered it".into(),
        other => other.to_string().into(),
    }
}

/// The same where nothing is left of what rustls says but its text, and there is more to say.
pub(crate) fn words_of_text(told: &str) -> Option<String> {
    if told.starts_with(WITHOUT_CLOSE_NOTIFY) {
        return Some(CLOSED_WITHOUT_WORD.to_owned());
    }
    if let Some(fault) = told.strip_prefix(BROKEN_MESSAGE) {
        return Some(of_broken_message(fault));
    }
    if told == Error::DecryptError.to_string() {
        return Some(words(&Error::DecryptError).into_owned());
    }
    let mut alerts = (0..=u8::MAX).map(|number| Error::AlertReceived(AlertDescription::from(number)));
    alerts.find(|alert| alert.to_string() == told).map(|alert| words(&alert).into_owned())
}

/// What is wrong with a message, by the name that rustls has for it.
fn of_broken_message(fault: &str) -> String {
    format!("what the server sent is no TLS that can be read: {}", spaced(fault))
}

/// A name in capitals as words: `HandshakePayloadTooLarge` is `handshake payload too large`.
fn spaced(name: &str) -> String {
    let name = name.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
    split_at_capitals(name, ' ')
}

/// A name in capitals in small letters, with `between` where a word starts.
fn split_at_capitals(name: &str, between: char) -> String {
    let mut split = String::new();
    let mut was_small = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && was_small {
            split.push(between);
        }
        was_small = letter.is_ascii_lowercase();
        split.push(letter.to_ascii_lowercase());
    }
    split
}

fn kind_of(error: &Error) -> FailureKind {
    match error {
        // Every record of TLS starts with its type (RFC 8446, section 5.1), and no answer of HTTP with one of those.
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => FailureKind::NoTls,
        Error::InvalidCertificate(
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. },
        ) => FailureKind::CertificateOutOfTime,
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => FailureKind::CertificateOfAnotherName,
        // The others say that a chain is none, or what else of it nobody vouches for.
        Error::InvalidCertificate(_) => FailureKind::UntrustedCertificate,
        _ => FailureKind::Tls,
    }
}

fn of_certificate(fault: &CertificateError) -> Cow<'static, str> {
    match fault {
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("its certificate expired at {}", date(not_after.as_secs())).into()
        }
        CertificateError::NotValidYetContext { not_before, .. } => {
            format!("its certificate is not valid before {}", date(not_before.as_secs())).into()
        }
        CertificateError::UnknownIssuer => UNKNOWN_ISSUER.into(),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let expected = expected.to_str();
            let names: Vec<&str> = presented.iter().map(|name| bare(name)).collect();
            match names.as_slice() {
                [] => format!("its certificate is for no name, and not for {expected}").into(),
                names => {
                    format!("its certificate is for {}, and not for {expected}", names.join(", ")).into()
                }
            }
        }
        // By a key of another kind, too, the name fits, and not the key.
        CertificateError::BadSignature
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "its certificate was signed by another key than that of the authority of its name that is trusted"
                .into()
        }
        CertificateError::Revoked => "its certificate was revoked".into(),
        CertificateError::BadEncoding => "its certificate is none that can be read".into(),
        // What webpki says beside, which rustls has no words for.
        CertificateError::Other(other) => {
            let why = other.to_string();
            let is_of_authority = why.contains("CaUsedAsEndEntity");
            if is_of_authority {
                OF_AUTHORITY.into()
            } else {
                format!("its certificate is not accepted: {why}").into()
            }
        }
        other => format!("its certificate is not accepted: {other}").into(),
    }
}

/// A name of a certificate as rustls presents it: `DnsName("log.example")`, `IpAddress(127.0.0.1)`.
fn bare(presented: &str) -> &str {
    let within = presented.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    within.unwrap_or(presented).trim_matches('"')
}

/// What the server refused.
fn of_alert(alert: AlertDescription) -> String {
    let refused = format!("the server refused with the alert {}", alert_name(alert));
    match alert {
        AlertDescription::CertificateRequired => format!("{refused}: {WANTS_CERTIFICATE}"),
        AlertDescription::UnknownCA => {
            format!("{refused}: it does not trust who issued the client's certificate")
        }
        AlertDescription::UnrecognisedName => {
            format!("{refused}: it knows no host of the name that was asked for")
        }
        AlertDescription::HandshakeFailure => {
            format!("{refused}: it shares no cipher with this client, or wants a certificate of it")
        }
        AlertDescription::ProtocolVersion => format!("{refused}: it speaks neither TLS 1.2 nor TLS 1.3"),
        _ => refused,
    }
}

/// As RFC 8446, section 6, has it, with its number; a number alone where that has no name.
fn alert_name(alert: AlertDescription) -> String {
    let (name, number) = (format!("{alert:?}"), u8::from(alert));
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_name && name != "Unknown" {
        format!("{} ({number})", split_at_capitals(&name, '_'))
    } else {
        format!("{number}, which has no name")
    }
}

/// A second since the Unix epoch, as RFC 3339 has it.
fn date(unix_seconds: u64) -> String {
    let at = i64::try_from(unix_seconds).ok().and_then(|at| OffsetDateTime::from_unix_timestamp(at).ok());
    let text = at.and_then(|at| at.format(&Rfc3339).ok());
    text.unwrap_or_else(|| format!("{unix_seconds} s since 1970"))
}

const UNKNOWN_ISSUER: &str =
    "its certificate was issued by nobody who is trusted: the root goes into tls.roots or behind --cacert";
const OF_AUTHORITY: &str = "its certificate is that of an authority (CA:TRUE), which stands for no server even where it is trusted: with `-addext basicConstraints=critical,CA:FALSE`, openssl req -x509 makes one that does, and --insecure (tls.insecure) goes without";
const WANTS_CERTIFICATE: &str = "it wants a certificate of the client, which goes into tls.certificate or behind --cert, and its key into tls.key or behind --key";
const CLOSED_WITHOUT_WORD: &str = "the server closed the connection without a word of TLS (close_notify); one that has not answered yet may want a certificate of the client";
/// How rustls says that.
const WITHOUT_CLOSE_NOTIFY: &str = "peer closed connection without sending TLS close_notify";
/// How rustls starts to say what is wrong with a message.
const BROKEN_MESSAGE: &str = "received corrupt message of type ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alert_has_its_name_and_number_of_the_standard() {
        for (alert, name) in [
            (AlertDescription::CertificateRequired, "certificate_required (116)"),
            (AlertDescription::UnknownCA, "unknown_ca (48)"),
            (AlertDescription::HandshakeFailure, "handshake_failure (40)"),
            (AlertDescription::NoApplicationProtocol, "no_application_protocol (120)"),
            (AlertDescription::from(99), "99, which has no name"),
        ] {
            assert_eq!(alert_name(alert), name);
        }
    }

    #[test]
    fn what_is_left_as_text_alone_is_told_in_the_same_words() {
        for error in [
            Error::AlertReceived(AlertDescription::CertificateRequired),
            Error::AlertReceived(AlertDescription::InternalError),
            Error::AlertReceived(AlertDescription::from(99)),
            Error::InvalidMessage(InvalidMessage::HandshakePayloadTooLarge),
            Error::DecryptError,
        ] {
            assert_eq!(words_of_text(&error.to_string()).as_deref(), Some(&*words(&error)), "{error}");
        }
        let of_message = words(&Error::InvalidMessage(InvalidMessage::HandshakePayloadTooLarge));
        assert!(of_message.ends_with(": handshake payload too large"), "{of_message}");
        let wanted = words(&Error::AlertReceived(AlertDescription::CertificateRequired));
        assert!(wanted.contains("--cert,") && wanted.contains("--key"), "{wanted}");
        let closed = words_of_text(&format!("{WITHOUT_CLOSE_NOTIFY}: https://docs.rs/rustls/"));
        assert!(closed.is_some_and(|told| !told.contains("docs.rs")));
        assert_eq!(words_of_text("something else"), None);
    }

    #[test]
    fn a_date_is_told_as_one() {
        assert_eq!(date(946_684_800), "2000-01-01T00:00:00Z");
        assert_eq!(date(u64::MAX), "18446744073709551615 s since 1970");
    }

    #[test]
    fn a_name_that_is_presented_stands_without_what_it_is_presented_in() {
        for (presented, name) in
            [("DnsName(\"a.example\")", "a.example"), ("IpAddress(127.0.0.1)", "127.0.0.1"), ("odd", "odd")]
        {
            assert_eq!(bare(presented), name);
        }
    }
}
