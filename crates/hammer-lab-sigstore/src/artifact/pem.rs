//! PEM (RFC 7468), read leniently and written as Go's encoding/pem does.

use std::fmt;

use hammer_tlog::encoding::{base64, from_base64};

pub(super) const CERTIFICATE: &str = "CERTIFICATE";
pub(super) const PUBLIC_KEY: &str = "PUBLIC KEY";

/// One block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PemBlock {
    pub(super) label: String,
    pub(super) der: Vec<u8>,
}

impl PemBlock {
    pub(super) fn of(label: &str, der: &[u8]) -> Self {
        Self { label: label.to_owned(), der: der.to_vec() }
    }
}

/// All blocks; none where one of them is broken.
pub(super) fn read(text: &[u8]) -> Option<Vec<PemBlock>> {
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
}
