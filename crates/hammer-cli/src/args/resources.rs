//! What `hammer resources` takes.

use std::net::SocketAddr;

use clap::Args;

use super::address::listen_address;

/// What is served, and where.
#[derive(Debug, Args)]
pub(crate) struct ResourcesArgs {
    /// A component and the number of its process, which counts with everything that it starts
    #[arg(value_name = "NAME=PID")]
    pub(crate) processes: Vec<String>,
    /// The address to listen on, loopback or private; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    pub(crate) listen: SocketAddr,
    /// A component, and a text in the command lines of its processes, whenever they start
    #[arg(long, value_name = "NAME=TEXT")]
    pub(crate) command: Vec<String>,
    /// A component that is a control group: the name of its folder (rekor.service), or with a slash its path
    #[arg(long, value_name = "NAME=UNIT|PATH")]
    pub(crate) cgroup: Vec<String>,
    /// Who allowed an address that is neither loopback nor private; 0.0.0.0 may be one
    #[arg(long, value_name = "WHO")]
    pub(crate) authorized: Option<String>,
}
