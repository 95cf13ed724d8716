//! How much is sent from one line, and how services are reached.

use std::path::PathBuf;

use clap::Args;

use super::bounds::BoundsArgs;

/// How services are reached.
#[derive(Debug, Args)]
pub(crate) struct ReachArgs {
    /// Trust the TLS roots in this PEM file as well
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,
    /// Who allowed load on a peer that is neither loopback nor private
    #[arg(long, value_name = "WHO")]
    pub(crate) authorized: Option<String>,
}

/// How much is sent, in open or closed loop.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// Open loop: operations a second (20/s), which is also what is sent without --rate and --users
    #[arg(long, short = 'q', value_name = "RATE", conflicts_with = "users")]
    pub(crate) rate: Option<String>,
    /// Closed loop: users who wait for their answers
    #[arg(long, value_name = "N")]
    pub(crate) users: Option<usize>,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
}
