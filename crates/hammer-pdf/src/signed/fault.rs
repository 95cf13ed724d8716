/// What is wrong with a document that came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PdfFault {
    /// The document is not the one that was sent, or shows another page.
    #[error("read the signed document: it differs in {what}")]
    Changed {
        /// In what.
        what: &'static str,
    },
    /// There is no signature in it.
    #[error("read the signed document: it has no signature")]
    Unsigned,
    /// There is more than one.
    #[error("read the signed document: it has several signatures")]
    Several,
    /// No field of a form has the signature, so that nobody who opens the document sees it.
    #[error("read the signed document: no field has its signature")]
    NoField,
    /// The signature is of another form.
    #[error("read the signed document: its signature is not of the form ETSI.CAdES.detached")]
    Form,
    /// What is signed is not the whole file but its signature.
    #[error("read the signed document: its ByteRange {what}")]
    ByteRange {
        /// What it does.
        what: &'static str,
    },
    /// It cannot be read.
    #[error("read the signed document: its {what} cannot be read")]
    Malformed {
        /// What of it.
        what: &'static str,
    },
    /// Its revisions lead nowhere, or in a circle.
    #[error("read the signed document: its revisions do not lead back to what was sent")]
    Revisions,
    /// A cross-reference stream (ISO 32000-1 section 7.5.8), which is not read here.
    #[error("read the signed document: its cross-references are a stream, which is not read")]
    XrefStream,
    /// It is encrypted (section 7.6), so that what it shows is not read here.
    #[error("read the signed document: it is encrypted, which is not read")]
    Encrypted,
}

impl PdfFault {
    /// Whether nothing is said against it, but that it is written in a way which is not read here.
    pub const fn is_unverified(&self) -> bool {
        matches!(self, Self::XrefStream | Self::Encrypted)
    }

    /// What a report calls it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Changed { .. } => "changed-document",
            Self::Unsigned | Self::NoField => "missing-signature",
            Self::Several | Self::Form => "signature-form",
            Self::ByteRange { .. } => "byte-range",
            Self::Malformed { .. } | Self::Revisions | Self::XrefStream | Self::Encrypted => "malformed-pdf",
        }
    }
}
