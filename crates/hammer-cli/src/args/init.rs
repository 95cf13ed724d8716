//! A first plan of one's own.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Which plan, and where it is written.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// What it loads
    #[arg(value_name = "KIND")]
    pub(crate) kind: PlanKind,
    /// The file to write, or `-` for standard output; KIND.yaml by default. What is there already is left as it is
    #[arg(long, value_name = "FILE|-")]
    pub(crate) out: Option<PathBuf>,
}

/// What a first plan loads.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PlanKind {
    /// A Certificate Transparency log
    Ct,
    /// An HTTP server
    Http,
    /// The services of Sigstore
    Sigstore,
    /// An attestation verifier (Veraison)
    Attest,
    /// A signature service (Rest PKI, EU DSS)
    Pki,
    /// A gateway that takes bearer tokens
    Gateway,
}
