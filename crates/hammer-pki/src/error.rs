//! Why a workload on a signature service cannot be set up.

use std::path::PathBuf;

use hammer_exchange::token::TokenError;
use hammer_pdf::document::UnfitLength;
use hammer_tlog::keys::chain::ChainError;

use crate::signing_key::KeyFault;

/// A fragment that completes "failed to ...", naming the key or file at fault.
#[derive(Debug, thiserror::Error)]
pub enum PkiError {
    /// A file cannot be read.
    #[error("read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The key that names it.
        key: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// No file can be made where large answers go.
    #[error("make a file in {} (TMPDIR), where large answers go: {source}", folder.display())]
    Temporary {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A PEM file has not what it should have.
    #[error("read {}: {what}", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What is missing.
        what: &'static str,
    },
    /// A signer's key and certificate are of no use.
    #[error("use {} with {}: failed to {source}", path.display(), certificate.display())]
    Key {
        /// The file of the key.
        path: PathBuf,
        /// The file of its certificate.
        certificate: PathBuf,
        /// Why.
        source: KeyFault,
    },
    /// No signer can be made.
    #[error("make a signer: {0}")]
    Made(String),
    /// No authority can be made.
    #[error("make an authority: {0}")]
    MadeAuthority(String),
    /// The certificate of a signer cannot be verified by.
    #[error(transparent)]
    Signer(#[from] hammer_cms::signature::SignerError),
    /// The access token cannot be read.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// What timestamps should lead to cannot be read.
    #[error("use {}: failed to {source}", path.display())]
    TimestampRoots {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ChainError,
    },
    /// Timestamps are asked for, and nobody is trusted with them.
    #[error("verify timestamps: `timestamp_roots_pem_files` is not given")]
    NoTimestampRoots,
    /// Documents would be too short.
    #[error(transparent)]
    Document(#[from] UnfitLength),
    /// A file that is to be validated is of no use.
    #[error("use {}: failed to {source}", path.display())]
    SignedFile {
        /// The file.
        path: PathBuf,
        /// The key that names it.
        key: &'static str,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Nothing is asked for.
    #[error("sign: `mix` names nothing")]
    NothingToSign,
    /// The dialect has no such operation.
    #[error("{0}: DSS has none, and Rest PKI alone does")]
    NotOfDss(&'static str),
}

impl PkiError {
    /// The key at fault below the block that is set up; none where it is the block itself.
    pub const fn key(&self) -> Option<&'static str> {
        match self {
            Self::Token(_) => Some("token"),
            Self::TimestampRoots { .. } | Self::NoTimestampRoots => Some("timestamp_roots_pem_files"),
            Self::Pem { .. } | Self::Key { .. } | Self::Signer(_) => Some("signers"),
            Self::Made(_) => Some("made_signers"),
            Self::MadeAuthority(_) => Some("made_authorities"),
            Self::Document(_) => Some("size"),
            Self::NothingToSign => Some("mix"),
            Self::Read { key, .. } | Self::SignedFile { key, .. } => Some(key),
            Self::Temporary { .. } | Self::NotOfDss(_) => None,
        }
    }
}
