//! How long is sent from one line, and within which limits.

use clap::Args;

/// How long is sent, and within which limits.
#[derive(Debug, Args)]
pub(crate) struct BoundsArgs {
    /// How long to send
    #[arg(short = 'z', long, visible_alias = "for", default_value = "30s", value_name = "TIME")]
    pub(crate) duration: String,
    /// Most operations in flight, in an open loop
    #[arg(short = 'c', long, default_value_t = 2000, value_name = "N")]
    pub(crate) in_flight: usize,
    /// How long one operation may take
    #[arg(short = 't', long, default_value = "30s", value_name = "TIME")]
    pub(crate) timeout: String,
    /// The seed of everything that is drawn or minted [default: 0, where nothing else is said]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}
