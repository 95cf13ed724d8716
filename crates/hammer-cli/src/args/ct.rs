//! Arguments of `hammer ct`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::bounds::BoundsArgs;
use super::line::LineArgs;
use super::plan::ChangeArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum CtCommand {
    /// Submit chains to one log from one line
    Submit(Box<SubmitArgs>),
    /// Read one log from one line
    Read(Box<ReadArgs>),
    /// Follow one log without load: a line for each new tree head, verified, until it forks, shrinks, or a signal
    Follow(Box<FollowArgs>),
    /// Verify what one log holds: every entry, up to its signed tree head; or the promises of a file of receipts
    Audit(Box<AuditArgs>),
    /// Print the roots that a log must accept so that it takes the plan's chains (PEM)
    Roots(RootsArgs),
}

/// Whose roots.
#[derive(Debug, Args)]
pub(crate) struct RootsArgs {
    /// The plan file (YAML); without one the chains are those of `hammer ct submit`
    pub(crate) plan: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) changes: ChangeArgs,
}

/// One log.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// The log: what stands before /ct/v1/add-chain. It is read there too, unless --monitoring-url names another place. What
    /// only reads takes file:///DIR as well, a folder laid out as static-ct-api
    pub(crate) url: String,
    /// The log's public key: base64 of its DER, or a PEM or base64 file as @FILE
    #[arg(long, value_name = "KEY|@FILE")]
    pub(crate) key: String,
    /// What the log speaks
    #[arg(long, default_value = "static-ct", value_parser = ["static-ct", "rfc6962"])]
    pub(crate) kind: String,
    /// Where the log is read, when that is another place; or file:///DIR
    #[arg(long, value_name = "URL")]
    pub(crate) monitoring_url: Option<String>,
    /// Its maximum merge delay; what no tree head covers after that is a broken promise
    #[arg(long, default_value = "1d", value_name = "TIME")]
    pub(crate) mmd: String,
    #[command(flatten)]
    pub(crate) tokens: TokenArgs,
    /// The first line of its checkpoints; by default host without port, and path, of the URL
    #[arg(long)]
    pub(crate) origin: Option<String>,
    /// Who allowed load on a peer that is neither loopback nor private
    #[arg(long, value_name = "WHO")]
    pub(crate) authorized: Option<String>,
    /// A mail address for every request to name: some logs serve less to whoever names none
    #[arg(long, value_name = "MAIL")]
    pub(crate) contact: Option<String>,
}

/// The bearer tokens of a log, which themselves never stand on a command line.
#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// The file that holds the bearer token for where chains are sent
    #[arg(long, value_name = "FILE", conflicts_with = "submission_token_env")]
    pub(crate) submission_token_file: Option<PathBuf>,
    /// The environment variable that holds it
    #[arg(long, value_name = "NAME")]
    pub(crate) submission_token_env: Option<String>,
    /// The file that holds the bearer token for --monitoring-url; without that URL, the other token is sent to read too
    #[arg(long, value_name = "FILE", conflicts_with = "monitoring_token_env")]
    pub(crate) monitoring_token_file: Option<PathBuf>,
    /// The environment variable that holds it
    #[arg(long, value_name = "NAME")]
    pub(crate) monitoring_token_env: Option<String>,
}

/// How much is sent, in open loop.
#[derive(Debug, Args)]
pub(crate) struct RateArgs {
    /// Operations a second (100/s)
    #[arg(long, short = 'q', default_value = "100/s", value_name = "RATE")]
    pub(crate) rate: String,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
    /// Do not hold the log against its kind, its key, its origin and the roots of what is sent before the first arrival
    #[arg(long)]
    pub(crate) no_preflight: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SubmitArgs {
    #[command(flatten)]
    pub(crate) log: LogArgs,
    #[command(flatten)]
    pub(crate) load: RateArgs,
    /// How many of 100 chains are precertificates
    #[arg(long, default_value_t = 0, value_name = "PERCENT")]
    pub(crate) precerts: u16,
    /// How many of 100 submissions repeat a chain that the log has answered; fractions are allowed
    #[arg(long, default_value_t = 0.0, value_name = "PERCENT")]
    pub(crate) duplicates: f64,
    /// How many of 100 submissions are wrong on purpose, in ways that a log has to refuse; fractions are allowed
    #[arg(long, default_value_t = 0.0, value_name = "PERCENT")]
    pub(crate) invalid: f64,
    /// Verify the SCTs alone: do not follow the log, nor look for the accepted chains in its tree
    #[arg(long)]
    pub(crate) no_audit: bool,
    #[command(flatten)]
    pub(crate) line: LineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    pub(crate) log: LogArgs,
    #[command(flatten)]
    pub(crate) load: RateArgs,
    /// What is read, each kind with its weight: tile=2,bundle=1. Kinds of static-ct: checkpoint, tile, bundle, names,
    /// issuer; of rfc6962: get-sth, get-entries, get-proof-by-hash, get-sth-consistency, get-entry-and-proof, get-roots.
    /// Without it: checkpoints, tiles and bundles, or tree heads and entries
    #[arg(long, value_delimiter = ',', value_name = "KIND=WEIGHT,...")]
    pub(crate) mix: Vec<String>,
    /// In which order the tree is read
    #[arg(long, default_value = "random", value_parser = ["random", "sequential", "newest-first"])]
    pub(crate) pattern: String,
    #[command(flatten)]
    pub(crate) line: LineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FollowArgs {
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// How often to look; 50ms at least
    #[arg(long, default_value = "1s", value_name = "TIME")]
    pub(crate) interval: String,
    /// How long to follow; until a signal without it
    #[arg(short = 'z', long, value_name = "TIME")]
    pub(crate) duration: Option<String>,
    /// Where two tree heads that contradict each other are saved
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(crate) evidence: PathBuf,
    /// Print JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// The first entry to read; entries in bundles are read by 256
    #[arg(long, default_value_t = 0, value_name = "INDEX")]
    pub(crate) from: u64,
    /// The entry to stop before; the size of the tree without it
    #[arg(long, value_name = "INDEX")]
    pub(crate) to: Option<u64>,
    /// Look up the receipts that a run left, instead: is each leaf in the tree by now, at its index and up to the signed head?
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "to"])]
    pub(crate) receipts: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not show progress on a terminal
    #[arg(long)]
    pub(crate) quiet: bool,
}
