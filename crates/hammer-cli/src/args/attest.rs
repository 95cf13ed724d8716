//! What `hammer attest` takes.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use super::line::LineArgs;
use super::load::{LoadArgs, ReachArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum AttestCommand {
    /// Provision devices from one line: each operation submits the endorsements of one, and the service has to say `success`
    Provision(Box<ProvisionArgs>),
    /// Verify devices from one line: each operation is a session with its evidence, whose result is verified, and has to say of the device
    /// what it should
    Verify(Box<VerifyDevicesArgs>),
    /// Read discovery documents from one line
    WellKnown(Box<WellKnownArgs>),
    /// Write a device's endorsements, key and evidence to files, and how to show them to a verifier by hand
    Device(DeviceArgs),
}

/// What provisioning lets in by; verification asks nobody. No password and no token ever stands on a command line.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("basic_password").args(["basic_password_file", "basic_password_env"])))]
pub(crate) struct AuthArgs {
    /// The user that provisioning lets in by a password
    #[arg(long, value_name = "NAME", requires = "basic_password", conflicts_with_all = ["token_file", "token_env"])]
    pub(crate) basic_user: Option<String>,
    /// The file that holds the password
    #[arg(long, value_name = "FILE", requires = "basic_user", conflicts_with_all = ["token_file", "token_env"])]
    pub(crate) basic_password_file: Option<PathBuf>,
    /// The environment variable that holds the password
    #[arg(long, value_name = "NAME", requires = "basic_user", conflicts_with_all = ["token_file", "token_env"])]
    pub(crate) basic_password_env: Option<String>,
    /// The file that holds the bearer token that provisioning lets in by
    #[arg(long, value_name = "FILE", conflicts_with = "token_env")]
    pub(crate) token_file: Option<PathBuf>,
    /// The environment variable that holds that token
    #[arg(long, value_name = "NAME")]
    pub(crate) token_env: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ProvisionArgs {
    /// Provisioning: what stands before /.well-known/veraison/provisioning; again for each further frontend of the same service
    #[arg(required = true, value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// The number of the first device of the seed
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) first: u64,
    /// Provision so many devices, again and again; without it each operation has a device of its own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// Have so many models, whose devices share their reference values; each device is a model of its own without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) models: Option<u64>,
    /// PEM file of the key (P-256) that signs endorsements; without it they are not signed
    #[arg(long, value_name = "FILE", requires = "signer_certificate")]
    pub(crate) signer_key: Option<PathBuf>,
    /// PEM file of its certificate, whose issuer the service trusts
    #[arg(long, value_name = "FILE", requires = "signer_key")]
    pub(crate) signer_certificate: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) auth: AuthArgs,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    /// End after so many operations, however long they take
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "duration", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) operations: Option<u64>,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) line: LineArgs,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("provisioned").args(["provisioning", "count"]).required(true).multiple(true)))]
pub(crate) struct VerifyDevicesArgs {
    /// Verification: what stands before /.well-known/veraison/verification; again for each further frontend of the same service
    #[arg(required = true, value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// Provisioning: what stands before /.well-known/veraison/provisioning. Devices are provisioned there first; with --count it only says
    /// by which rules they are judged
    #[arg(long, value_name = "URL")]
    pub(crate) provisioning: Option<String>,
    /// Provision so many devices first, and verify those; 100 without this and --count. They follow from --seed, and without it are others
    /// each time
    #[arg(long, value_name = "N", requires = "provisioning", conflicts_with_all = ["count", "provision_at_start"],
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) devices: Option<u64>,
    /// Each user provisions a device as it enters, instead; another one each time, where --seed is not given
    #[arg(long, requires = "provisioning", conflicts_with = "count")]
    pub(crate) provision_at_start: bool,
    /// Verify so many devices, all of which are provisioned already, by `hammer attest provision` with the same --seed and --models
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// The number of the first of those
    #[arg(long, requires = "count", default_value_t = 0, value_name = "N")]
    pub(crate) first: u64,
    /// Have so many models, whose devices share their reference values; each device is a model of its own without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) models: Option<u64>,
    /// With how many of the devices something is wrong, of all kinds that there are (5%); they have to be judged so
    #[arg(long, default_value = "0%", value_name = "SHARE")]
    pub(crate) bad: String,
    /// Who chooses a session's nonce: hammer, another one for each (own), which signs tokens ahead; the service, which has them signed
    /// within the flow; or hammer, one for each device (device), as in the published load test
    #[arg(long, default_value = "own", value_name = "WHOSE", value_parser = ["own", "service", "device"])]
    pub(crate) nonce: String,
    /// By which claims evidence is written
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileArg,
    /// Let each request of a session go to any frontend, and not to the one that opened it
    #[arg(long)]
    pub(crate) unpinned: bool,
    /// Read the result again by a request of its own
    #[arg(long)]
    pub(crate) read_result: bool,
    /// Do not delete sessions in the end
    #[arg(long)]
    pub(crate) no_delete: bool,
    #[command(flatten)]
    pub(crate) auth: AuthArgs,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) line: LineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WellKnownArgs {
    /// The service: what stands before /.well-known/veraison; again for each further frontend of it
    #[arg(required = true, value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// Of which service the document is
    #[arg(long, default_value = "provisioning", value_name = "SERVICE", value_parser = ["provisioning", "verification", "management"])]
    pub(crate) document: String,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) line: LineArgs,
}

/// Which device, and how it is written.
#[derive(Debug, Args)]
pub(crate) struct DeviceArgs {
    /// Which of the devices of the seed, from 0
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) index: u64,
    /// The seed of everything that is minted
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    /// Have so many models, whose devices share their reference values; each device is a model of its own without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) models: Option<u64>,
    /// How its endorsements are written, which the verifier's provisioning document shows
    #[arg(long, value_enum, default_value_t)]
    pub(crate) dialect: DialectArg,
    /// By which claims its evidence is written
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileArg,
    /// The nonce that a verifier chose, in base64, of 32, 48 or 64 bytes; one of the device's own without it, for a session with that
    #[arg(long, value_name = "BASE64")]
    pub(crate) nonce: Option<String>,
    /// The folder of corim.cbor, key.pem and token.cbor; it is made where there is none
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// How endorsements are written.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum DialectArg {
    /// By http://arm.com/psa/iot/1: Veraison to v0.0.2502
    #[default]
    Iot1,
    /// By tag:arm.com,2025:psa#1.0.0: Veraison v0.0.2608
    Psa2025,
}

/// How evidence is written.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum ProfileArg {
    /// As PSA_IOT_PROFILE_1
    Psa1,
    /// As http://arm.com/psa/2.0.0
    #[default]
    Psa2,
}

impl ProfileArg {
    /// As a plan names it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Psa1 => "psa1",
            Self::Psa2 => "psa2",
        }
    }
}
