//! Why a workload on Sigstore cannot be set up.

use std::path::PathBuf;

use hammer_exchange::stock::UselessToken;
use hammer_exchange::token::TokenError;
use hammer_tlog::keys::chain::ChainError;
use hammer_tlog::keys::key::KeyError;
use hammer_tlog::logs::note::NoteError;
use hammer_tuf::TufError;

/// A fragment that completes "failed to ...", naming the key or file at fault.
#[derive(Debug, thiserror::Error)]
pub enum SigstoreError {
    /// A key without which nothing can be done.
    #[error("find the {what}: `{key}` is not given{}", or_in_root(key))]
    Missing {
        /// The key of the target.
        key: &'static str,
        /// What it would name.
        what: &'static str,
    },
    /// What the servers are to say of themselves, by a service that is not given.
    #[error("find the {what}: the servers are to say it (trust: servers), and no URL of {service} is given")]
    Unasked {
        /// The key of the target that says where it is.
        key: &'static str,
        /// What it would say.
        what: &'static str,
        /// Who would.
        service: &'static str,
    },
    /// What the servers are to say of themselves, and do not.
    #[error(
        "find the {what}: the servers are to say it (trust: servers), which {service} does not: a trusted root has it"
    )]
    Unsaid {
        /// What is not said.
        what: &'static str,
        /// Who does not say it.
        service: &'static str,
    },
    /// Two keys of which only one may be given.
    #[error("use both {one} and {other}: only one may be given")]
    Both {
        /// A key.
        one: &'static str,
        /// The other key.
        other: &'static str,
    },
    /// A file cannot be read.
    #[error("read {path}: {source}")]
    Read {
        /// The key that names it.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file holds no key that can be used.
    #[error("use the key in {path}: failed to {source}")]
    Key {
        /// The key of the plan that names the file.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: KeyError,
    },
    /// A file holds no chain that can be trusted.
    #[error("use the chain in {path}: failed to {source}")]
    Chain {
        /// The key of the plan that names the file.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: ChainError,
    },
    /// There is no place for bundles.
    #[error("open {path} for bundles: {source}")]
    Bundles {
        /// The file, or the folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What is to be signed cannot be.
    #[error("sign {path}: {source}")]
    Artifact {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The trusted root is none.
    #[error("use the trusted root in {path}: {reason}")]
    TrustedRoot {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The signing configuration is none.
    #[error("use the signing configuration in {path}: {reason}")]
    SigningConfig {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A service does not say whom to trust.
    #[error("read whom to trust from {url}: {reason}")]
    Served {
        /// The key that says where it is.
        key: &'static str,
        /// Where.
        url: String,
        /// Why not.
        reason: String,
    },
    /// The root that clients of the TUF repository come with is none.
    #[error("use the root of the TUF repository: failed to {0}")]
    TufRoot(TufError),
    /// The TUF repository does not say whom to trust, or is not believed.
    #[error("read {what} of the TUF repository {url}: {reason}")]
    TufRepository {
        /// What was read.
        what: String,
        /// Where.
        url: String,
        /// Why it is not there, or not believed.
        reason: String,
    },
    /// The key of Rekor v2 makes no verifier of checkpoints.
    #[error("{0}")]
    Origin(NoteError),
    /// There is no token in the place given.
    #[error("{0}")]
    Token(TokenError),
    /// The token of the plan is over before anything is sent.
    #[error("use the token of {place}: it expired at {at}")]
    TokenOver {
        /// Where it is.
        place: String,
        /// Its end, as RFC 3339 says it.
        at: String,
    },
    /// The token of the plan cannot be used, or says of nobody whom it is of.
    #[error("use the token of {place}: {why}{}", can_be_said(why))]
    TokenUseless {
        /// Where it is.
        place: String,
        /// Why it is of no use.
        why: UselessToken,
    },
    /// A workload of reads that names none.
    #[error(
        "draw what is read: `mix` names nothing with a weight; give it log-info, log-proof, search, public-key, certchain, trust-bundle, configuration, checkpoint, tile or bundle"
    )]
    NothingToRead,
    /// The file of a corpus cannot be read or written.
    #[error("use the corpus {path}: {source}")]
    CorpusUnread {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line of it is none of a corpus.
    #[error("use the corpus {path}: line {line}: {reason}")]
    CorpusLine {
        /// The file.
        path: PathBuf,
        /// Which, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// It has nothing that could be read.
    #[error("use the corpus {path}: it has no entry of {log}")]
    CorpusEmpty {
        /// The file.
        path: PathBuf,
        /// The log whose entries are looked for.
        log: &'static str,
    },
    /// What stands at the URL of a log is none.
    #[error("find {log} at {url}: {path} was answered with {found}")]
    NoLog {
        /// The key that says where it is.
        key: &'static str,
        /// Which log is looked for there.
        log: &'static str,
        /// Where.
        url: String,
        /// What was asked for below it.
        path: &'static str,
        /// Status and, of a success, what is wrong with it.
        found: String,
    },
    /// A call of gRPC by a client of HTTP/1.1 alone.
    #[error("call gRPC over HTTP/1.1: it needs HTTP/2")]
    GrpcOverHttp1,
}

/// Chains and keys may stand in the trusted root as well.
fn or_in_root(key: &str) -> &'static str {
    match key {
        "fulcio_chain" | "timestamp_chain" | "rekor_key" | "rekor_tiles_key" => {
            ", and no `trusted_root` has it"
        }
        _ => "",
    }
}

impl SigstoreError {
    /// Nobody says whose tokens Fulcio is shown.
    pub const NO_TOKENS: Self = Self::Missing {
        key: "identity",
        what: "tokens that Fulcio is shown (an `issuer` of hammer's own, a `token` or a `grant`)",
    };

    /// Whether the file that a workload signs is at fault.
    pub const fn is_of_artifact(&self) -> bool {
        matches!(self, Self::Artifact { .. })
    }

    /// Whether the corpus of a workload is at fault.
    pub const fn is_of_corpus(&self) -> bool {
        matches!(self, Self::CorpusUnread { .. } | Self::CorpusLine { .. } | Self::CorpusEmpty { .. })
    }

    /// Other keys, below the block of the target, whose values can be why: of two that do not fit, the other one.
    pub fn others(&self) -> Vec<&'static str> {
        match self {
            Self::Missing { key, .. } if !or_in_root(key).is_empty() => vec!["trusted_root", "trust"],
            Self::Missing { key, .. } if key.ends_with("_url") => vec!["signing_config"],
            Self::Unasked { .. } => vec!["trust"],
            Self::Both { one, .. } => vec![one],
            Self::Served { key, .. } => vec![key],
            // Where no URL is given for reads, it follows from this one.
            Self::NoLog { key: "rekor_tiles_read_url", .. } => vec!["rekor_tiles_url", "signing_config"],
            Self::NoLog { .. } => vec!["signing_config"],
            Self::TufRepository { .. } => vec!["tuf.root", "tuf.target"],
            _ => Vec::new(),
        }
    }

    /// The key at fault, below the block of the target; none where it is no single one.
    pub const fn key(&self) -> Option<&'static str> {
        match self {
            Self::Missing { key, .. }
            | Self::Unasked { key, .. }
            | Self::Read { key, .. }
            | Self::Key { key, .. }
            | Self::Chain { key, .. }
            | Self::NoLog { key, .. } => Some(key),
            Self::Both { other, .. } => Some(other),
            Self::TrustedRoot { .. } => Some("trusted_root"),
            Self::SigningConfig { .. } => Some("signing_config"),
            Self::Served { .. } | Self::Unsaid { .. } => Some("trust"),
            Self::TufRoot(_) => Some("tuf.root"),
            Self::TufRepository { .. } => Some("tuf.url"),
            Self::Origin(_) => Some("rekor_tiles_origin"),
            Self::Token(_) | Self::TokenOver { .. } | Self::TokenUseless { .. } => Some("identity.token"),
            // These are keys of the workload.
            Self::Bundles { .. }
            | Self::Artifact { .. }
            | Self::GrpcOverHttp1
            | Self::NothingToRead
            | Self::CorpusUnread { .. }
            | Self::CorpusLine { .. }
            | Self::CorpusEmpty { .. } => None,
        }
    }
}

/// What helps against a token of which nobody knows whose it is; nothing helps against one that cannot be sent.
const fn can_be_said(why: &UselessToken) -> &'static str {
    match why {
        UselessToken::Nobody(_) => "; `subject` (or `--subject`) can say whose it is",
        UselessToken::Unsendable(_) => "",
    }
}
