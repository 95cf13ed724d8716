//! Requests for certificates in the form of PKCS #10 (RFC 2986), of nobody: Fulcio takes the name from the token, and of a request the key.

use hammer_synth::write_pem;

/// What the key signs: the `CertificationRequestInfo` of version 0, without a subject or attributes, of that `SubjectPublicKeyInfo`.
pub(crate) fn info(spki: &[u8]) -> Vec<u8> {
    sequence(&[&VERSION_0, &EMPTY_NAME, spki, &NO_ATTRIBUTES])
}

/// The PEM of the request for that key, whose signature over [`info`] is ECDSA with SHA-256, in DER.
pub(crate) fn pem(spki: &[u8], signature: &[u8]) -> String {
    // No bit of the last byte is unused.
    let bits = element(BIT_STRING, &[&[0], signature]);
    let der = sequence(&[&info(spki), &ECDSA_WITH_SHA256, &bits]);
    let mut text = String::new();
    write_pem(&mut text, "CERTIFICATE REQUEST", &der);
    text
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    element(SEQUENCE, parts)
}

/// An element of less than 64 KiB in DER.
fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let [high, low] = (content.len() as u16).to_be_bytes();
    let head = match content.len() {
        0..=0x7f => vec![tag, low],
        0x80..=0xff => vec![tag, 0x81, low],
        _ => vec![tag, 0x82, high, low],
    };
    [head, content].concat()
}

const SEQUENCE: u8 = 0x30;
const BIT_STRING: u8 = 3;
const VERSION_0: [u8; 3] = [2, 1, 0];
const EMPTY_NAME: [u8; 2] = [SEQUENCE, 0];
/// `[0]`, which may be empty and not left out.
const NO_ATTRIBUTES: [u8; 2] = [0xa0, 0];
/// DER of the `AlgorithmIdentifier` of 1.2.840.10045.4.3.2 (RFC 5758 section 3.2).
const ECDSA_WITH_SHA256: [u8; 12] = [SEQUENCE, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];

#[cfg(test)]
mod tests {
    use hammer_tlog::encoding::base64;

    use super::*;

    #[test]
    fn a_request_is_its_info_the_algorithm_and_the_signature() {
        let (spki, signature) = (vec![7; 91], vec![9; 72]);
        let info = info(&spki);
        assert_eq!((info.len(), &info[..7]), (100, &[0x30, 98, 2, 1, 0, 0x30, 0][..]));
        assert!(info.ends_with(&[7, 0xa0, 0]));
        let der = [&[0x30, 0x81, 187][..], &info, &ECDSA_WITH_SHA256, &[3, 73, 0], &signature].concat();
        let text = pem(&spki, &signature);
        let digits = text.lines().filter(|line| !line.starts_with('-')).collect::<String>();
        assert_eq!(digits, base64(&der));
        assert!(text.starts_with("-----BEGIN CERTIFICATE REQUEST-----\n"), "{text}");
        assert_eq!(element(4, &[&[0; 300]])[..4], [4, 0x82, 1, 44]);
    }
}
