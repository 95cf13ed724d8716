//! Arguments of `hammer sigstore`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use super::address::listen_address;
use super::bounds::BoundsArgs;
use super::line::{LineArgs, LineEndArgs};
use super::load::{LoadArgs, ReachArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum SigstoreCommand {
    /// Sign from one line: a certificate of Fulcio, an entry in Rekor, a timestamp; every answer is verified
    Sign(Box<SignArgs>),
    /// Sign and verify from one line: verify flows read back what the sign flows beside them got logged
    Mixed(Box<MixedArgs>),
    /// Sign exactly so many flows, so that what is measured later meets a log that is not empty, and keep what verify flows read
    Fill(Box<FillArgs>),
    /// Read back from one line what a fill got logged, and verify it: entry, proof, signature, certificate, the timestamp authority's
    /// chain. Without a corpus, entries are logged for it first
    Verify(Box<VerifyArgs>),
    /// Ask one timestamp authority from one line
    #[command(visible_alias = "timestamp")]
    Tsa(Box<TsaArgs>),
    /// Verify bundles offline, as cosign and hammer write them: signature, certificate, entry of either Rekor, timestamps
    VerifyBundle(VerifyBundleArgs),
    /// Serve hammer's own OpenID issuer until a signal, and print what Fulcio's configuration needs of it
    Issuer(IssuerArgs),
}

/// Where sign flows go, but for Rekor; and in whose name.
#[derive(Debug, Args)]
pub(crate) struct ServicesArgs {
    /// Fulcio: what stands before /api/v1/signingCert; with --fulcio-interface grpc, where it takes calls
    #[arg(long, value_name = "URL", required_unless_present = "signing_config")]
    pub(crate) fulcio: Option<String>,
    /// How Fulcio is asked
    #[arg(long, default_value = "v1", value_name = "INTERFACE", value_parser = ["v1", "v2", "grpc"])]
    pub(crate) fulcio_interface: String,
    /// The timestamp authority: what stands before /api/v1/timestamp. Without it there are no timestamps
    #[arg(long, value_name = "URL")]
    pub(crate) timestamp: Option<String>,
    /// Log each timestamp in Rekor v1 as well (rfc3161)
    #[arg(long, requires = "timestamp", requires = "rekor")]
    pub(crate) timestamp_entry: bool,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) identity: IdentityArgs,
    /// Among so many identities each flow draws its own; without it each has one of its own
    #[arg(long, value_name = "N", conflicts_with_all = ["token_file", "token_env"])]
    pub(crate) identities: Option<usize>,
    /// Among so many artifacts each flow draws its own; without it each has one of its own
    #[arg(long, value_name = "N")]
    pub(crate) artifacts: Option<usize>,
    #[command(flatten)]
    pub(crate) reach: TrustedReachArgs,
}

/// Where services are that have no URL of their own, and to what their answers are held.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("trusted").args(["trusted_root", "trust"]).required(true)))]
pub(crate) struct TrustArgs {
    /// Where the services are that have no argument of their own: signing_config.json, as cosign and sigstore-go read it
    #[arg(long, value_name = "FILE")]
    pub(crate) signing_config: Option<PathBuf>,
    /// What is trusted: trusted_root.json, as cosign and sigstore-go read it
    #[arg(long, value_name = "FILE")]
    pub(crate) trusted_root: Option<PathBuf>,
    /// Trust the services (`servers`) as they describe themselves before the run: for a look at one whose chains are not at hand. It shows
    /// whether a service keeps to what it says, and not whether it is the one that it claims to be. Rekor v2 serves no key
    #[arg(long, value_name = "WHOM", value_parser = ["servers"])]
    pub(crate) trust: Option<String>,
}

/// How services are reached, and whether they are asked first who they are.
#[derive(Debug, Args)]
pub(crate) struct TrustedReachArgs {
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    /// Do not hold the services against whom is trusted (chains, keys, the origin of Rekor v2) before the first flow
    #[arg(long)]
    pub(crate) no_preflight: bool,
}

/// Whose tokens Fulcio is shown. A token itself never stands on a command line.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("identity").args(["issuer", "token_file", "token_env"]).required(true)))]
pub(crate) struct IdentityArgs {
    /// The issuer by whose name hammer signs a token for each flow, as Fulcio's configuration has it; hammer serves its
    /// discovery and keys while the run lasts. Where it is no address of this machine with a port, --listen has to say where
    #[arg(long, value_name = "URL")]
    pub(crate) issuer: Option<String>,
    /// Where the issuer is served; by default at its own address. 127.0.0.1:0 where `hammer sigstore issuer` serves it already
    #[arg(long, value_name = "ADDRESS", requires = "issuer", value_parser = listen_address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Sign tokens by RS256 instead of ES256
    #[arg(long, requires = "issuer", conflicts_with_all = ["token_file", "token_env"])]
    pub(crate) rs256: bool,
    /// For whom tokens are (`aud`): the client id in Fulcio's configuration
    #[arg(long, default_value = "sigstore", value_name = "NAME", conflicts_with_all = ["token_file", "token_env"])]
    pub(crate) audience: String,
    /// The file that holds one token for all flows; where it changes, it is read again
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The environment variable that holds it
    #[arg(long, value_name = "NAME")]
    pub(crate) token_env: Option<String>,
    /// What Fulcio makes the subject of the certificates of that one token; by default its `email`, else its `sub`
    #[arg(long, value_name = "TEXT", conflicts_with = "issuer")]
    pub(crate) subject: Option<String>,
}

/// Where the log is, of either version.
#[derive(Debug, Args)]
pub(crate) struct RekorPlaceArgs {
    /// Rekor v1: what stands before /api/v1/log/entries. Without one of both logs nothing is logged
    #[arg(long, value_name = "URL", conflicts_with = "rekor_tiles")]
    pub(crate) rekor: Option<String>,
    /// Rekor v2, where it is written: what stands before /api/v2/log/entries
    #[arg(long, value_name = "URL")]
    pub(crate) rekor_tiles: Option<String>,
    /// Where the log of Rekor v2 is read: what stands before /checkpoint; by default --rekor-tiles and /api/v2
    #[arg(long, value_name = "URL", requires = "rekor_tiles", conflicts_with = "rekor")]
    pub(crate) rekor_tiles_read: Option<String>,
    /// The first line of its checkpoints; by default the host without port of --rekor-tiles
    #[arg(long, value_name = "ORIGIN", requires = "rekor_tiles", conflicts_with = "rekor")]
    pub(crate) rekor_tiles_origin: Option<String>,
}

/// In which log sign flows leave what they signed; where none is named, nothing is logged.
#[derive(Debug, Args)]
pub(crate) struct RekorArgs {
    #[command(flatten)]
    pub(crate) place: RekorPlaceArgs,
    /// Do not follow the log, nor look for the accepted entries in it
    #[arg(long)]
    pub(crate) no_audit: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SignArgs {
    #[command(flatten)]
    pub(crate) services: ServicesArgs,
    #[command(flatten)]
    pub(crate) log: RekorArgs,
    /// Leave a bundle that cosign verifies: of the first flow in a file, or of the first 10 in a folder that is there or whose name ends
    /// in /. What a file held is overwritten. For a file, and without --rate and --users, one flow is sent
    #[arg(long, value_name = "FILE_OR_FOLDER")]
    pub(crate) bundle: Option<PathBuf>,
    /// Of how many flows a folder has bundles
    #[arg(long, value_name = "N", requires = "bundle")]
    pub(crate) bundles: Option<usize>,
    /// Sign this file, of 1 MiB at most
    #[arg(long, value_name = "FILE", conflicts_with = "artifacts")]
    pub(crate) artifact: Option<PathBuf>,
    /// Sign a statement about the artifact, in an envelope (in-toto, DSSE), in place of the artifact itself
    #[arg(long)]
    pub(crate) attest: bool,
    /// Ask Fulcio by a certification request (PKCS #10) in place of a key and a proof
    #[arg(long)]
    pub(crate) csr: bool,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) line: LineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FillArgs {
    #[command(flatten)]
    pub(crate) services: ServicesArgs,
    #[command(flatten)]
    pub(crate) log: RekorArgs,
    /// How many flows have to be accepted; with --timestamp-entry each is two entries
    #[arg(long, short = 'n', default_value = "10000", value_name = "N")]
    pub(crate) flows: String,
    /// By so many users at once, who wait for their answers
    #[arg(long, default_value = "50", value_name = "N")]
    pub(crate) users: String,
    /// Add each accepted entry to this file, which `hammer sigstore verify` reads. What it has already is not signed again: a fill that
    /// was ended goes on
    #[arg(long, value_name = "FILE")]
    pub(crate) corpus: Option<PathBuf>,
    /// Empty the corpus first
    #[arg(long, requires = "corpus")]
    pub(crate) anew: bool,
    /// How many flows may fail in all, each of which is tried again as another one; by default a tenth of --flows, and 100
    #[arg(long, value_name = "N")]
    pub(crate) most_failed: Option<u64>,
    /// How long all of it may take; without it, it ends by itself
    #[arg(short = 'z', long, visible_alias = "for", value_name = "TIME")]
    pub(crate) duration: Option<String>,
    /// How long one flow may take
    #[arg(short = 't', long, default_value = "60s", value_name = "TIME")]
    pub(crate) timeout: String,
    /// The seed of everything that is drawn or minted
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) end: LineEndArgs,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("rekor_log").args(["rekor", "rekor_tiles", "signing_config"]).required(true).multiple(true)))]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) log: RekorPlaceArgs,
    /// With --trust servers: Fulcio, which is asked for its chain
    #[arg(long, value_name = "URL", requires = "trust")]
    pub(crate) fulcio: Option<String>,
    /// The timestamp authority, whose chain each flow reads: what stands before /api/v1/timestamp. Without it none is read
    #[arg(long, value_name = "URL")]
    pub(crate) timestamp: Option<String>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    /// The entries to read: a file that `hammer sigstore fill`, or the `fill` of a plan, left. Without it, entries are logged first
    #[arg(long, value_name = "FILE", conflicts_with = "fill")]
    pub(crate) corpus: Option<PathBuf>,
    /// Log so many entries first, signed by throwaway keys without certificates, and read those; 100 without this and --corpus. They follow
    /// from --seed, and without it are others each time
    #[arg(long, value_name = "N")]
    pub(crate) fill: Option<String>,
    /// By what Rekor v1 is asked for an entry; `search` looks for the hash of what was signed first
    #[arg(long, default_value = "uuid", value_name = "WHAT", value_parser = ["uuid", "index", "search"])]
    pub(crate) by: String,
    /// Which entry a flow reads: uniform, hot (the first, always), zipf=EXPONENT (zipf=1.1), newest=SHARE or newest=N (newest=10%)
    #[arg(long, default_value = "uniform", value_name = "DRAW")]
    pub(crate) draw: String,
    /// Do not follow the log that is read
    #[arg(long)]
    pub(crate) no_audit: bool,
    #[command(flatten)]
    pub(crate) reach: TrustedReachArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) line: LineArgs,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("rekor_log").args(["rekor", "rekor_tiles", "signing_config"]).required(true).multiple(true)))]
pub(crate) struct MixedArgs {
    #[command(flatten)]
    pub(crate) services: ServicesArgs,
    #[command(flatten)]
    pub(crate) log: RekorPlaceArgs,
    /// Open loop: sign flows a second (20/s)
    #[arg(long, value_name = "RATE", required_unless_present = "sign_users", conflicts_with = "sign_users")]
    pub(crate) sign_rate: Option<String>,
    /// Closed loop: users who sign
    #[arg(long, value_name = "N")]
    pub(crate) sign_users: Option<usize>,
    /// Open loop: verify flows a second (80/s)
    #[arg(
        long,
        value_name = "RATE",
        required_unless_present = "verify_users",
        conflicts_with = "verify_users"
    )]
    pub(crate) verify_rate: Option<String>,
    /// Closed loop: users who verify; those who come before there is an entry wait for it
    #[arg(long, value_name = "N")]
    pub(crate) verify_users: Option<usize>,
    /// Do not follow the log, nor look for the accepted entries in it
    #[arg(long)]
    pub(crate) no_audit: bool,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
    #[command(flatten)]
    pub(crate) line: LineArgs,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("trusted").args(["chain", "trusted_root", "trust"]).required(true)))]
pub(crate) struct TsaArgs {
    /// The timestamp authority: what stands before /api/v1/timestamp
    pub(crate) url: String,
    /// PEM file of its chain, the root last
    #[arg(long, value_name = "FILE")]
    pub(crate) chain: Option<PathBuf>,
    /// The trusted root that has the chain: trusted_root.json
    #[arg(long, value_name = "FILE")]
    pub(crate) trusted_root: Option<PathBuf>,
    /// Trust the chain that it serves itself (`servers`), which shows whether it keeps to what it says, and no more
    #[arg(long, value_name = "WHOM", value_parser = ["servers"])]
    pub(crate) trust: Option<String>,
    /// Ask in JSON instead of DER
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reach: TrustedReachArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) line: LineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyBundleArgs {
    /// Files of bundles
    #[arg(required = true, value_name = "BUNDLE")]
    pub(crate) bundles: Vec<PathBuf>,
    /// What is trusted: trusted_root.json, as cosign and sigstore-go read it
    #[arg(long, value_name = "FILE")]
    pub(crate) trusted_root: PathBuf,
    /// What was signed; by default the file that is named as the bundle, without .sigstore.json at the end, where there is one
    #[arg(long, value_name = "FILE")]
    pub(crate) artifact: Option<PathBuf>,
    /// Whom the certificate has to name: an e-mail address or a URL
    #[arg(long, value_name = "TEXT", visible_alias = "certificate-identity")]
    pub(crate) identity: Option<String>,
    /// From whose token that has to be known
    #[arg(long, value_name = "URL", visible_alias = "certificate-oidc-issuer")]
    pub(crate) issuer: Option<String>,
    /// PEM file of the key that signed; bundles without a certificate need it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["identity", "issuer"])]
    pub(crate) key: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct IssuerArgs {
    /// The issuer, as tokens name it (`iss`): http://127.0.0.1:18888
    pub(crate) url: String,
    /// The address to listen on, where it is not the issuer's own
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Publish the key of RS256 instead of that of ES256
    #[arg(long)]
    pub(crate) rs256: bool,
    /// Publish another key each so often, ahead of runs that change theirs (`rotate_every`) no more often: the keys of the seed, one
    /// after another, none of which goes
    #[arg(long, value_name = "TIME")]
    pub(crate) rotate_every: Option<String>,
    /// For whom tokens are (`aud`): the client id in the printed configuration
    #[arg(long, default_value = "sigstore", value_name = "NAME")]
    pub(crate) audience: String,
    /// The seed that the key follows from: that of the run which mints the tokens
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
}
