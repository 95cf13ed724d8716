//! The names in a certificate by which an entry is found.

use hammer_tlog::keys::{
    certificate::Certificate,
    der::{self, Tlv},
};

/// The alternative names (RFC 5280 section 4.2.1.6): first DNS names, then e-mail addresses, then URIs.
pub(super) fn of(certificate: &Certificate<'_>) -> Vec<String> {
    let Some(extension) = certificate.extension(SUBJECT_ALTERNATIVE_NAME) else { return Vec::new() };
    let Ok(names) = Tlv::parse(extension.value, der::SEQUENCE) else { return Vec::new() };
    let mut names = names.content();
    let names: Vec<Tlv<'_>> = std::iter::from_fn(|| names.read().ok()).collect();
    let of_tag = |tag| {
        let names = names.iter().filter(move |name| name.tag == tag);
        names.map(|name| String::from_utf8_lossy(name.value).into_owned())
    };
    [DNS_NAME, EMAIL, URI].into_iter().flat_map(of_tag).collect()
}

/// DER content of 2.5.29.17.
const SUBJECT_ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1d, 0x11];
/// `rfc822Name [1] IA5String`.
const EMAIL: u8 = 0x81;
/// `dNSName [2] IA5String`.
const DNS_NAME: u8 = 0x82;
/// `uniformResourceIdentifier [6] IA5String`.
const URI: u8 = 0x86;
