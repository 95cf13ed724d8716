//! What can go wrong while keys, authorities and templates are set up. Minting itself cannot fail.

use std::io;
use std::path::PathBuf;

/// A fragment that completes "failed to ...". No variant carries key material.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be read at all.
    #[error("read {path}: {source}")]
    Read {
        /// The file that was asked for.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file is no valid PEM. What the reader said is left out: it may quote a line, and the line be a secret.
    #[error("read {path}: a section of it is not valid PEM")]
    Pem {
        /// The file.
        path: PathBuf,
    },
    /// The file holds no private key in a format that is read here.
    #[error("read a private key from {path}: it holds no PKCS#8, SEC1 or PKCS#1 PEM key")]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// The file holds an encrypted private key.
    #[error("read a private key from {path}: it is encrypted, and hammer asks for no passphrase")]
    EncryptedKey {
        /// The file.
        path: PathBuf,
    },
    /// The key is damaged or of a kind that is not supported.
    #[error("read a private key from {path}: {reason}")]
    Key {
        /// The file.
        path: PathBuf,
        /// What is wrong with the key.
        reason: String,
    },
    /// The file holds no certificate.
    #[error("read certificates from {path}: it holds no PEM certificate")]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// A certificate of the file does not parse.
    #[error("read certificate {position} of {path}: {reason}")]
    Certificate {
        /// The file.
        path: PathBuf,
        /// Its place in the file, from 0.
        position: usize,
        /// What the parser said.
        reason: String,
    },
    /// A certificate of a chain is not followed by its issuer.
    #[error("build the chain of {path}: certificate {position} was not issued by the one after it")]
    ChainOrder {
        /// The file.
        path: PathBuf,
        /// The certificate without its issuer, counted from 0.
        position: usize,
    },
    /// The private key is not that of the first certificate.
    #[error("use {key} with {certificate}: the private key does not belong to the first certificate")]
    KeyMismatch {
        /// The file of the chain.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// No chain file was given, or a folder without any.
    #[error("read chains from {path}: no .pem, .crt or .cer file there")]
    NoChains {
        /// The folder, or an empty path for an empty list.
        path: PathBuf,
    },
    /// A precertificate cannot be rebuilt into the TBSCertificate that an SCT covers.
    #[error("rebuild the TBSCertificate of the precertificate in {path}: {reason}")]
    Precertificate {
        /// The file.
        path: PathBuf,
        /// What is missing.
        reason: &'static str,
    },
    /// `not_after` lies before `not_before`, or after the year 9999 (RFC 5280 section 4.1.2.5).
    #[error("use a validity from {not_before} to {not_after}: {reason}")]
    Validity {
        /// Seconds since the Unix epoch.
        not_before: u64,
        /// Seconds since the Unix epoch.
        not_after: u64,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// The text names no algorithm, profile or part of one.
    #[error("understand {text:?}: expected {expected}")]
    Unknown {
        /// What was written.
        text: String,
        /// What may be written.
        expected: &'static str,
    },
    /// The minter's specification contradicts itself.
    #[error("mint chains: {reason}")]
    Spec {
        /// Which rule it breaks.
        reason: &'static str,
    },
}
