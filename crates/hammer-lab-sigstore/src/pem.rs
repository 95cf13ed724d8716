//! PEM (RFC 7468) of what Sigstore's services take and give.

use hammer_tlog::encoding::{base64, from_base64};

/// A certificate as a PEM block of lines of 64 characters, without a newline at its end.
pub(crate) fn certificate(der: &[u8]) -> String {
    let text = base64(der);
    let mut block = String::with_capacity(text.len() + text.len() / 64 + 56);
    block.push_str("-----BEGIN CERTIFICATE-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(64));
        block.push_str(line);
        block.push('\n');
        rest = after;
    }
    block.push_str("-----END CERTIFICATE-----");
    block
}

/// The DER of the first block with one of these labels.
pub(crate) fn decode(text: &[u8], labels: &[&str]) -> Option<Vec<u8>> {
    let text = str::from_utf8(text).ok()?;
    labels.iter().find_map(|label| {
        let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
        let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
        let body: String = body.split_ascii_whitespace().collect();
        from_base64(&body).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_has_lines_of_64_characters_and_reads_back() {
        for length in [1, 48, 49, 500] {
            let der = vec![0x5a; length];
            let text = certificate(&der);
            assert!(text.lines().all(|line| line.len() <= 64));
            assert_eq!(text.lines().count(), 2 + length.div_ceil(48));
            assert_eq!(decode(text.as_bytes(), &["PUBLIC KEY", "CERTIFICATE"]), Some(der));
        }
    }

    #[test]
    fn a_block_of_another_label_is_not_found() {
        assert_eq!(decode(certificate(&[1, 2, 3]).as_bytes(), &["PUBLIC KEY"]), None);
        assert_eq!(decode(b"-----BEGIN PUBLIC KEY-----\n!\n-----END PUBLIC KEY-----", &["PUBLIC KEY"]), None);
    }
}
