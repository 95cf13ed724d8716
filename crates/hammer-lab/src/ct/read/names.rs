//! Names tiles as Sunlight has them: what names an entry is about, in JSON lines.

use hammer_tlog::{
    ct::names::{NamesLine, Subject},
    keys::certificate,
    keys::der::{self, DerReader},
};

use crate::ct::entry::bundle::leaves;

/// The names tile of a bundle.
pub(crate) fn tile(bundle: &[u8]) -> Vec<u8> {
    let mut lines = Vec::new();
    for leaf in leaves(bundle) {
        let dns = dns_names(leaf.submitted).unwrap_or_default();
        let common_name = dns.first().cloned().unwrap_or_default();
        let line =
            NamesLine { timestamp: leaf.timestamp_ms, subject: Subject { common_name }, dns, ip: Vec::new() };
        lines.extend(serde_json::to_vec(&line).unwrap_or_default());
        lines.push(b'\n');
    }
    lines
}

/// The `dNSName`s of a certificate (RFC 5280 section 4.2.1.6).
fn dns_names(der: &[u8]) -> Option<Vec<String>> {
    let certificate = certificate::Certificate::parse(der).ok()?;
    let names = certificate.extension(SUBJECT_ALTERNATIVE_NAME)?;
    let mut names = DerReader::new(names.value).expect(der::SEQUENCE).ok()?.content();
    let mut dns = Vec::new();
    while let Ok(name) = names.read() {
        if name.tag == DNS_NAME {
            dns.push(String::from_utf8(name.value.to_vec()).ok()?);
        }
    }
    Some(dns)
}

/// DER content of 2.5.29.17.
const SUBJECT_ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1d, 0x11];
/// `[2] IMPLICIT IA5String`.
const DNS_NAME: u8 = 0x82;
