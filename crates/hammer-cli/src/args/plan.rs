//! A plan, and what a command line changes in it.

use std::path::PathBuf;

use clap::Args;

/// Which plan, and what is changed in it.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The plan file (YAML)
    pub(crate) plan: PathBuf,
    #[command(flatten)]
    pub(crate) changes: ChangeArgs,
}

/// What is changed in a plan.
#[derive(Clone, Debug, Args, Default)]
pub(crate) struct ChangeArgs {
    /// Change one key; a workload is named by its name or place: workloads.submit.load.rate=50/s
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The seed of everything that is drawn or minted
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Shorten every phase, ramp and count in proportion, to about 5 s of load
    #[arg(long)]
    pub(crate) smoke: bool,
    /// Do not hold logs (kind, key, origin, roots) and services of Sigstore (chains, keys) against what the plan says of them before the first arrival
    #[arg(long)]
    pub(crate) no_preflight: bool,
}
