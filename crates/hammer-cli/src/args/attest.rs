//! What `hammer attest` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum AttestCommand {
    /// Write a device's endorsements, key and evidence to files, and how to show them to a verifier by hand
    Device(DeviceArgs),
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
