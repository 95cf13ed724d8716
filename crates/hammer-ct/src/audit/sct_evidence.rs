//! SCTs as receipts keep and show them.

use hammer_tlog::ct::rfc6962::V1;
use hammer_tlog::ct::sct::Sct;
use hammer_tlog::encoding::base64;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::{Receipt, ReceiptEvidence};
use serde::Serialize;

/// Extensions and signature of an SCT, the latter as RFC 6962 section 4.1 has it: with the receipt's leaf and time, what the
/// log has to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SctEvidence<'a> {
    pub(crate) extensions: &'a [u8],
    pub(crate) signature: &'a [u8],
}

impl<'a> SctEvidence<'a> {
    /// As a receipt keeps it; not where both are longer than 86 bytes together, which no log with a P-256 key needs.
    pub(crate) fn kept(&self) -> ReceiptEvidence {
        let Self { extensions, signature } = self;
        let fits = extensions.len() + signature.len() <= MOST;
        let kept = fits.then(|| ReceiptEvidence::of(&[&[extensions.len() as u8], extensions, signature]));
        kept.flatten().unwrap_or(ReceiptEvidence::NONE)
    }

    /// What a receipt kept; none where it kept none.
    pub(crate) fn read(evidence: &'a ReceiptEvidence) -> Option<Self> {
        let (length, rest) = evidence.bytes().split_first()?;
        let (extensions, signature) = rest.split_at_checked((*length).into())?;
        Some(Self { extensions, signature })
    }
}

/// What shows a promise, in the line of its receipt.
#[derive(Serialize)]
pub(crate) struct ShownSct {
    /// None where the SCT was too long to be kept, or could not be read.
    pub(crate) sct: Option<SctLine>,
}

/// As `add-chain` answers (RFC 6962 section 4.1).
#[derive(Serialize)]
pub(crate) struct SctLine {
    sct_version: u8,
    id: String,
    timestamp: u64,
    extensions: String,
    signature: String,
}

impl ShownSct {
    /// An answer that holds none.
    pub(crate) const NONE: Self = Self { sct: None };

    /// An SCT whose promise needed no audit to be found broken.
    pub(crate) fn refused(sct: &Sct) -> Self {
        let evidence = SctEvidence { extensions: &sct.extensions, signature: &sct.signature };
        Self { sct: Some(SctLine::new(sct.version, &sct.log_id, sct.timestamp_ms, evidence)) }
    }

    /// What a receipt of that log kept.
    pub(crate) fn kept(log_id: &Hash, receipt: &Receipt) -> Self {
        let sct = SctEvidence::read(&receipt.evidence);
        Self { sct: sct.map(|sct| SctLine::new(V1, log_id, receipt.promised_ms, sct)) }
    }
}

impl SctLine {
    fn new(sct_version: u8, log_id: &Hash, timestamp: u64, sct: SctEvidence<'_>) -> Self {
        Self {
            sct_version,
            id: base64(&log_id.0),
            timestamp,
            extensions: base64(sct.extensions),
            signature: base64(sct.signature),
        }
    }
}

/// Bytes of extensions and signature; beside their length and them, what was sent beside the leaf has room (16 bytes).
const MOST: usize = 86;
const _: () = assert!(1 + MOST + 16 <= ReceiptEvidence::MOST);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_keeps_an_sct_unless_its_signature_is_too_long() {
        let sct = SctEvidence { extensions: &[1; 8], signature: &[2; 76] };
        assert_eq!(SctEvidence::read(&sct.kept()), Some(sct));
        let without = SctEvidence { extensions: &[], ..sct };
        assert_eq!(SctEvidence::read(&without.kept()), Some(without));
        assert_eq!(SctEvidence { signature: &[2; 260], ..sct }.kept(), ReceiptEvidence::NONE);
        assert_eq!(SctEvidence::read(&ReceiptEvidence::NONE), None);
    }

    #[test]
    fn the_line_of_a_receipt_shows_its_sct_as_add_chain_answers() {
        let sct = SctEvidence { extensions: &[0], signature: &[4, 3] };
        let receipt = Receipt::new(1, Hash([0; 32]), None, 2, 900);
        let line = |receipt| serde_json::to_string(&ShownSct::kept(&Hash([0; 32]), &receipt)).unwrap();
        assert_eq!(line(receipt), r#"{"sct":null}"#);
        assert_eq!(
            line(receipt.with_evidence(sct.kept())),
            r#"{"sct":{"sct_version":0,"id":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","timestamp":900,"extensions":"AA==","signature":"BAM="}}"#
        );
    }
}
