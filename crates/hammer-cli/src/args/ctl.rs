//! Arguments of `hammer ctl`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// A run that is steered from elsewhere.
#[derive(Debug, Args)]
pub(crate) struct CtlArgs {
    /// Where its live page is, as `hammer run --web` has said
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    #[command(subcommand)]
    pub(crate) command: CtlCommand,
    /// The file with its token; by default the one that a run on this machine has made for that address
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) web_token: Option<PathBuf>,
    /// Print the answer as it came, in JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Who allowed a peer that is neither loopback nor private
    #[arg(long, global = true, value_name = "WHO")]
    pub(crate) authorized: Option<String>,
    /// Trust the roots in this PEM file as well
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,
}

/// What is asked of it.
#[derive(Debug, Subcommand)]
pub(crate) enum CtlCommand {
    /// Say how the run stands: its phase, its loads as they are steered, and how the last interval went
    Status,
    /// Suspend arrivals
    Pause,
    /// Take arrivals up again
    Resume,
    /// Change the rate of a workload, or of all
    #[command(allow_missing_positional = true)]
    Rate {
        /// The workload; all of them without one
        #[arg(value_name = "WORKLOAD")]
        workload: Option<String>,
        /// A rate (500/s), or a multiple of the plan's (1.5x)
        #[arg(value_name = "RATE")]
        rate: String,
    },
    /// Change the limit of operations in flight (users, in a closed loop) of a workload, or of all
    #[command(allow_missing_positional = true)]
    InFlight {
        /// The workload; all of them without one
        #[arg(value_name = "WORKLOAD")]
        workload: Option<String>,
        /// The limit, over all shards
        #[arg(value_name = "N")]
        limit: usize,
    },
    /// End the arrivals of the run that is under way, drain and report
    Stop {
        /// Why, for the report
        #[arg(value_name = "REASON")]
        reason: Option<String>,
    },
    /// Name this instant in the report and on its charts
    Mark {
        /// What for
        #[arg(value_name = "TEXT")]
        text: String,
    },
}
