//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) mod address;
mod attest;
mod bounds;
mod compare;
mod ct;
mod ctl;
mod http;
mod init;
mod line;
mod load;
mod otlp;
mod output;
mod pki;
mod plan;
mod report;
mod resources;
mod sigstore;

use address::listen_address;
pub(crate) use attest::{
    AttestCommand, AuthArgs, DeviceArgs, DialectArg, ProfileArg, ProvisionArgs, VerifyDevicesArgs,
    WellKnownArgs,
};
pub(crate) use bounds::BoundsArgs;
pub(crate) use compare::{CompareArgs, ComparisonForm, ComponentFile, FailIf};
pub(crate) use ct::{AuditArgs, CtCommand, FollowArgs, LogArgs, RateArgs, ReadArgs, RootsArgs, SubmitArgs};
pub(crate) use ctl::{CtlArgs, CtlCommand};
pub(crate) use http::{HttpArgs, HttpCommand};
pub(crate) use init::{InitArgs, PlanKind};
pub(crate) use line::{LineArgs, LineEndArgs};
pub(crate) use load::{LoadArgs, ReachArgs};
pub(crate) use otlp::OtlpArgs;
pub(crate) use output::OutputArgs;
pub(crate) use pki::{
    CadesArgs, DocumentsArgs, PkiAuthArgs, PkiCommand, PkiRootsArgs, PkiServiceArgs, PkiSignArgs,
    PkiTimestampArgs, PkiValidateArgs, SignersArgs,
};
pub(crate) use plan::{ChangeArgs, PlanArgs};
pub(crate) use report::{ReportArgs, ReportForm};
pub(crate) use resources::ResourcesArgs;
pub(crate) use sigstore::{
    FillArgs, IdentityArgs, IssuerArgs, MixedArgs, RekorPlaceArgs, ServicesArgs, SignArgs, SigstoreCommand,
    TrustArgs, TrustedReachArgs, TsaArgs, VerifyArgs, VerifyBundleArgs,
};

/// A load generator for the services that software trust rests on.
///
/// It sends by plan (open loop), measures from the instant that the plan named, verifies what the service promised,
/// and says whether its own figures can be believed.
#[derive(Debug, Parser)]
#[command(name = "hammer", version, propagate_version = true, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// Tell what happens beside the load: a level (error, warn, info, debug, trace), or levels by part (hammer_net=debug)
    #[arg(long, global = true, value_name = "LEVEL", env = "HAMMER_LOG", hide_env_values = true)]
    pub(crate) log: Option<String>,
    /// Write that to a file instead of standard error; beside the dashboard, hammer.log unless another is named
    #[arg(long, global = true, value_name = "FILE", requires = "log")]
    pub(crate) log_file: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Carry out a plan and report
    Run(RunArgs),
    /// Print the plan that a run would have, with its defaults filled in
    Plan(PlanArgs),
    /// Write a first plan, which runs at once on an embedded target and says which lines to change for a real one
    Init(InitArgs),
    /// Load a URL from one line, with the habits of hey, wrk and oha
    #[command(subcommand)]
    Http(Box<HttpCommand>),
    /// Load, follow or verify a Certificate Transparency log, or print the roots that it must accept
    #[command(subcommand)]
    Ct(CtCommand),
    /// Load the services of Sigstore, or serve the issuer of the tokens that they are shown
    #[command(subcommand)]
    Sigstore(SigstoreCommand),
    /// Load an attestation verifier (Veraison) from one line, or make devices for one
    #[command(subcommand)]
    Attest(AttestCommand),
    /// Load a signature service (Rest PKI, EU DSS) from one line
    #[command(subcommand)]
    Pki(PkiCommand),
    /// Print what a run left behind: its text again, JUnit's XML, or a curve for HdrHistogram's tools
    Report(ReportArgs),
    /// Compare the runs of variants: ratios with intervals, and whether a difference can be told
    Compare(CompareArgs),
    /// Steer a run that was started with --web and --control, or ask how it stands
    Ctl(CtlArgs),
    /// Serve an embedded target that really does the work, until a signal
    #[command(subcommand)]
    Lab(LabCommand),
    /// Serve what processes, control groups and this machine use, for a run on another machine
    Resources(ResourcesArgs),
    /// Print the JSON Schema of plans, reports, events, samples or summaries
    Schema(SchemaArgs),
    /// Print what a shell needs to complete hammer's commands and options
    Completions(CompletionsArgs),
    /// Print a manual page, or write all of them to a folder
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Serve a Certificate Transparency log: add-chain, add-pre-chain, static-ct tiles and RFC 6962 reads
    Ct(LabCtArgs),
    /// Serve HTTP answers with a body of so many bytes
    Http(LabHttpArgs),
    /// Serve an OAuth-protected gateway before an echo: tokens validated, requests authorized
    Gateway(LabGatewayArgs),
    /// Serve Sigstore: Fulcio with a CT log, Rekor v1 and v2, and a timestamp authority
    Sigstore(LabSigstoreArgs),
    /// Serve an attestation verifier, as Veraison is: provisioning and verification
    Attest(LabAttestArgs),
    /// Serve a signature service that speaks Rest PKI's API of version 1: CAdES, PAdES, timestamps, logins
    Pki(LabPkiArgs),
}

/// An embedded log.
#[derive(Debug, Args)]
pub(crate) struct LabCtArgs {
    /// Serve the log of that plan (`target.lab.ct`), which accepts the roots of its chains
    #[arg(long, value_name = "PLAN", conflicts_with_all = ["config", "roots_of"])]
    pub(crate) plan: Option<PathBuf>,
    /// A file of its settings (YAML, as under `target.lab.ct` of a plan)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Change one setting: batch_max_age=50ms
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Accept the roots of that plan's chains
    #[arg(long, value_name = "PLAN")]
    pub(crate) roots_of: Option<PathBuf>,
    /// Accept the roots in this PEM file
    #[arg(long, value_name = "FILE")]
    pub(crate) roots: Vec<PathBuf>,
    /// The address to listen on, whatever the settings say (127.0.0.1:0 if nothing); port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    pub(crate) listen: Option<std::net::SocketAddr>,
}

/// An embedded HTTP server.
#[derive(Debug, Args)]
pub(crate) struct LabHttpArgs {
    /// A file of its settings (YAML, as under `target.lab.http` of a plan)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Change one setting: body_size=128B
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The address to listen on, whatever the settings say (127.0.0.1:0 if nothing); port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    pub(crate) listen: Option<std::net::SocketAddr>,
}

/// An embedded gateway.
#[derive(Debug, Args)]
pub(crate) struct LabGatewayArgs {
    /// A file of its settings (YAML, as under `target.lab.gateway` of a plan)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Change one setting: authorization.rate=29/s
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Write a token that it takes for a day and the keys of its issuer to this folder, which is made where there is none, and print how
    /// hammer loads it
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The address to listen on, whatever the settings say (127.0.0.1:0 if nothing); port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    pub(crate) listen: Option<std::net::SocketAddr>,
}

/// Embedded services of Sigstore.
#[derive(Debug, Args)]
pub(crate) struct LabSigstoreArgs {
    /// A file of their settings (YAML, as under `target.lab.sigstore` of a plan)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Change one setting: rekor.serve.listen=127.0.0.1:3000
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Write trusted_root.json, signing_config.json and a token that Fulcio takes for a day to this folder, which is made where there is
    /// none, and print how cosign signs and verifies with them
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The seed of the issuer's key: Fulcio also takes the tokens of runs with this seed and `--issuer
    /// http://issuer.hammer.test --listen 127.0.0.1:0`
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
}

/// An embedded attestation verifier.
#[derive(Debug, Args)]
pub(crate) struct LabAttestArgs {
    /// A file of its settings (YAML, as under `target.lab.attest` of a plan)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Change one setting: release=v0.0.2608
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The address to listen on, whatever the settings say (127.0.0.1:0 if nothing); port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    pub(crate) listen: Option<std::net::SocketAddr>,
}

/// An embedded signature service.
#[derive(Debug, Args)]
pub(crate) struct LabPkiArgs {
    /// A file of its settings (YAML, as under `target.lab.pki` of a plan)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Change one setting: token_ttl=10s
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Write its token and the root of its timestamps to this folder, which is made where there is none, and print how hammer loads it
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The address to listen on, whatever the settings say (127.0.0.1:0 if nothing); port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    pub(crate) listen: Option<std::net::SocketAddr>,
}

/// Which schema.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// What it describes
    #[arg(value_name = "OF")]
    pub(crate) of: SchemaOf,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchemaOf {
    /// A plan file, as YAML or JSON
    Plan,
    /// What --out writes after one run
    Report,
    /// One line of what --events writes
    Events,
    /// One line of what --samples writes
    Samples,
    /// What --out writes after several runs (rounds or a sweep)
    Summary,
}

/// Which shell.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Which manual page.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command that it is of (`ct submit`); hammer itself by default
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub(crate) of: Vec<String>,
    /// Write the pages of all commands to this folder, which is made where there is none
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

const EXIT_CODES: &str = "Exit codes, the first that holds: 2 usage or plan; 3 no operation ever got an answer; \
4 a promise was broken; 5 the figures cannot be believed; 1 a threshold failed, or nothing of a workload or of a series of it was accepted; \
6 a report could not be written; \
130 interrupted; 0 none of these.";

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use hammer_report::{ExitCode, ReasonKind};

    #[test]
    fn no_command_contradicts_itself() {
        super::Cli::command().debug_assert();
    }

    #[test]
    fn the_help_names_every_exit_code_in_the_order_in_which_they_hold() {
        let (_, named) = super::EXIT_CODES.split_once(": ").unwrap();
        let named: Vec<&str> = named.split("; ").map(|code| code.split(' ').next().unwrap()).collect();
        let codes = ReasonKind::ALL.map(ExitCode::Because).into_iter().chain([ExitCode::Clean]);
        let mut codes: Vec<String> = codes.map(|code| code.number().to_string()).collect();
        codes.dedup();
        assert_eq!(named, codes);
    }
}
