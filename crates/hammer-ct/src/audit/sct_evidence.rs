use hammer_tlog::logs::audit::ReceiptEvidence;

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

/// Bytes of extensions and signature; beside their length and them a digest has room.
const MOST: usize = 86;
const _: () = assert!(1 + MOST + 32 <= ReceiptEvidence::MOST);

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
}
