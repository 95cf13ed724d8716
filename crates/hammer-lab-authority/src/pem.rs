//! PEM (RFC 7468), read leniently and written as Go's encoding/pem does.

use std::fmt;

use hammer_tlog::encoding::{base64, from_base64};

/// The label of a certificate.
pub const CERTIFICATE: &str = "CERTIFICATE";
/// The label of a public key.
pub const PUBLIC_KEY: &str = "PUBLIC KEY";

/// One block.
#[derive(Debug, PartialEq, Eq)]
pub struct PemBlock {
    /// What it is said to be.
    pub label: String,
    /// What it holds.
    pub der: Vec<u8>,
}

impl PemBlock {
    /// What holds `der`, said to be `label`.
    pub fn of(label: &str, der: &[u8]) -> Self {
        Self { label: label.to_owned(), der: der.to_vec() }
    }
}

/// All blocks; none where one of them is broken.
pub fn read(text: &[u8]) -> Option<Vec<PemBlock>> {
    let mut rest = std::str::from_utf8(text).ok()?;
    let mut blocks = Vec::new();
    while let Some((_, after)) = rest.split_once("-----BEGIN ") {
        let (label, after) = after.split_once("-----")?;
        let (body, after) = after.split_once(&format!("-----END {label}-----"))?;
        let body: String = body.split_ascii_whitespace().collect();
        blocks.push(PemBlock { label: label.to_owned(), der: from_base64(body).ok()? });
        rest = after;
    }
    Some(blocks)
}

impl fmt::Display for PemBlock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "-----BEGIN {}-----", self.label)?;
        let body = base64(&self.der);
        let mut rest = body.as_str();
        while !rest.is_empty() {
            let (line, after) = rest.split_at(rest.len().min(COLUMNS));
            writeln!(out, "{line}")?;
            rest = after;
        }
        writeln!(out, "-----END {}-----", self.label)
    }
}

/// A certificate as a PEM block of lines of 64 characters, without a newline at its end.
pub fn certificate(der: &[u8]) -> String {
    PemBlock::of(CERTIFICATE, der).to_string().trim_end().to_owned()
}

/// The DER of the first block with one of these labels.
pub fn decode(text: &[u8], labels: &[&str]) -> Option<Vec<u8>> {
    let mut blocks = read(text)?.into_iter();
    blocks.find(|block| labels.contains(&block.label.as_str())).map(|block| block.der)
}

const COLUMNS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_and_no_line_is_longer_than_64_characters() {
        for length in [0, 1, 47, 48, 49, 200] {
            let block = PemBlock::of(CERTIFICATE, &vec![7; length]);
            let text = format!("{block}{block}");
            assert!(text.lines().all(|line| line.len() <= 64), "{text}");
            assert_eq!(read(text.as_bytes()).unwrap(), [PemBlock::of(CERTIFICATE, &vec![7; length]), block]);
        }
    }

    #[test]
    fn a_block_without_its_end_is_refused() {
        assert_eq!(read(b"-----BEGIN CERTIFICATE-----\nAAAA\n"), None);
        assert_eq!(read(b"no pem at all"), Some(Vec::new()));
    }

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
