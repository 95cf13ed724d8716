//! What signed files are.

/// What a signed file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SignedFileForm {
    /// A CMS in DER.
    Cades,
    /// A PDF.
    Pades,
}
