//! What `hammer pki` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::line::LineArgs;
use super::load::{LoadArgs, ReachArgs};
use super::plan::ChangeArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum PkiCommand {
    /// Log in by certificate (Rest PKI alone): each operation has a nonce signed, which the service has to accept
    Auth(Box<PkiAuthArgs>),
    /// Sign documents by CAdES: each operation is a start, a signature here and a finish, and the file that comes back is verified
    Cades(Box<CadesArgs>),
    /// Sign documents by PAdES: the PDF that comes back has to be the one that was sent, with a signature that covers all of it
    Pades(Box<PkiSignArgs>),
    /// Have signed files validated: what the service says of each has to be what is true of it, also of altered twins
    #[command(
        override_usage = "hammer pki validate <URL>... [OPTIONS] [--valid <FILE>...] [--invalid <FILE>...]"
    )]
    Validate(Box<PkiValidateArgs>),
    /// Ask for timestamps of hashes, in JSON or by RFC 3161 over HTTP, and verify them
    Timestamp(Box<PkiTimestampArgs>),
    /// Print the certificates of the made authorities, which the service must trust, in PEM
    Roots(PkiRootsArgs),
}

/// A signature service, and who is let in.
#[derive(Debug, Args)]
pub(crate) struct PkiServiceArgs {
    /// What stands before `/Api` of Rest PKI, or before `/signature` of DSS's REST services; again for each further frontend of the same service
    #[arg(required = true, value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// What it speaks
    #[arg(long, default_value = "rest-pki", value_name = "DIALECT", value_parser = ["rest-pki", "dss"])]
    pub(crate) dialect: String,
    /// The file that holds the access token
    #[arg(long, value_name = "FILE", conflicts_with = "token_env")]
    pub(crate) token_file: Option<PathBuf>,
    /// The environment variable that holds that token
    #[arg(long, value_name = "NAME")]
    pub(crate) token_env: Option<String>,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}

/// Who signs.
#[derive(Debug, Args)]
pub(crate) struct SignersArgs {
    /// PEM file of a signer's key (RSA or P-256, PKCS #8); again for each further signer, who sign in turn. Without it signers are made, whom
    /// nobody certified but they themselves
    #[arg(long, value_name = "FILE", requires = "signer_certificates")]
    pub(crate) signer_key: Vec<PathBuf>,
    /// PEM file of its certificate, and behind it those of its issuers; as often as --signer-key, in the same order
    #[arg(long = "signer-certificate", value_name = "FILE", requires = "signer_key")]
    pub(crate) signer_certificates: Vec<PathBuf>,
    /// How many signers are made where none is given (10)
    #[arg(long, value_name = "N", conflicts_with = "signer_key", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) made_signers: Option<u64>,
    /// So many authorities issue the certificates of made signers, in turn, and hammer serves the list of revoked certificates (CRL) of each; `hammer pki
    /// roots` prints whom the service has to trust
    #[arg(long, value_name = "N", conflicts_with = "signer_key", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) authorities: Option<u64>,
    /// How long each of those lists is (64KiB)
    #[arg(long, requires = "authorities", value_name = "SIZE")]
    pub(crate) crl_size: Option<String>,
    /// How long a fetch of one waits (0s)
    #[arg(long, requires = "authorities", value_name = "TIME")]
    pub(crate) crl_delay: Option<String>,
    /// The address and port at which they are served (127.0.0.1:0, a port that the system chooses)
    #[arg(long, requires = "authorities", value_name = "ADDRESS")]
    pub(crate) crl_listen: Option<String>,
    /// What certificates name in its place, where the service reaches hammer by another name
    #[arg(long, requires = "authorities", value_name = "URL")]
    pub(crate) crl_url: Option<String>,
}

/// What is signed.
#[derive(Debug, Args)]
pub(crate) struct DocumentsArgs {
    /// How long documents are (137KiB)
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<String>,
    /// How long the longest are, where they differ: as many of each power of two from --size on
    #[arg(long, requires = "size", value_name = "SIZE")]
    pub(crate) most_size: Option<String>,
    /// Ask for a timestamp as well
    #[arg(long, requires = "timestamp_roots")]
    pub(crate) timestamp: bool,
    /// PEM file with certificates that timestamps have to lead to
    #[arg(long, requires = "timestamp", value_name = "FILE")]
    pub(crate) timestamp_roots: Vec<PathBuf>,
    /// The security context by which Rest PKI validates certificates
    #[arg(long, value_name = "ID")]
    pub(crate) security_context: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PkiAuthArgs {
    #[command(flatten)]
    pub(crate) service: PkiServiceArgs,
    #[command(flatten)]
    pub(crate) signers: SignersArgs,
    /// What the service gives to be signed: a nonce, or a nonce with a token that stands for it
    #[arg(long, default_value = "nonce", value_name = "WHAT", value_parser = ["nonce", "token"])]
    pub(crate) by: String,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) line: LineArgs,
}

/// What both forms of signatures take.
#[derive(Debug, Args)]
pub(crate) struct PkiSignArgs {
    #[command(flatten)]
    pub(crate) service: PkiServiceArgs,
    #[command(flatten)]
    pub(crate) signers: SignersArgs,
    #[command(flatten)]
    pub(crate) documents: DocumentsArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) line: LineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CadesArgs {
    /// Send the digest alone, and keep the document here (DSS alone)
    #[arg(long)]
    pub(crate) by_digest: bool,
    #[command(flatten)]
    pub(crate) sign: PkiSignArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PkiValidateArgs {
    #[command(flatten)]
    pub(crate) service: PkiServiceArgs,
    #[command(flatten)]
    pub(crate) signers: SignersArgs,
    #[command(flatten)]
    pub(crate) files: ValidatedFilesArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) line: LineArgs,
}

/// What is validated.
#[derive(Debug, Args)]
pub(crate) struct ValidatedFilesArgs {
    /// Signed files that are valid: CMS in DER with the document in it, and PDF. Without any file each user has a CMS and a PDF signed by the
    /// service as it enters, and those validated
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) valid: Vec<PathBuf>,
    /// Files of which the service has to say that they are not
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) invalid: Vec<PathBuf>,
    /// Files of which the service has to say that it cannot say (DSS alone)
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) indeterminate: Vec<PathBuf>,
    /// The share of valid files in whose place an altered twin is shown, of which one byte is another (0%)
    #[arg(long, value_name = "SHARE")]
    pub(crate) altered: Option<String>,
    /// Without files, how long those documents are (137KiB)
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["valid", "invalid", "indeterminate"])]
    pub(crate) size: Option<String>,
    /// The security context by which Rest PKI validates certificates
    #[arg(long, value_name = "ID")]
    pub(crate) security_context: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PkiTimestampArgs {
    #[command(flatten)]
    pub(crate) service: PkiServiceArgs,
    /// PEM file with certificates that timestamps have to lead to
    #[arg(long, required = true, value_name = "FILE")]
    pub(crate) timestamp_roots: Vec<PathBuf>,
    /// How they are asked for: the JSON of the dialect, or RFC 3161 over HTTP, which any timestamp authority speaks
    #[arg(long, default_value = "json", value_name = "HOW", value_parser = ["json", "http"])]
    pub(crate) by: String,
    /// With --by http, the path of the authority behind URL; without it URL is the authority's own
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// The plan of timestamps that Rest PKI is asked by in JSON (default)
    #[arg(long, value_name = "NAME")]
    pub(crate) plan: Option<String>,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) line: LineArgs,
}

/// Whose certificates.
#[derive(Debug, Args)]
pub(crate) struct PkiRootsArgs {
    /// The plan file (YAML); without one say by --authorities how many a command of one line has
    #[arg(required_unless_present = "authorities")]
    pub(crate) plan: Option<PathBuf>,
    /// How many authorities there are
    #[arg(long, value_name = "N", conflicts_with_all = ["plan", "set"], value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) authorities: Option<u64>,
    #[command(flatten)]
    pub(crate) changes: ChangeArgs,
}
