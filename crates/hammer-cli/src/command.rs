//! What each subcommand does.

pub(crate) mod attest;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod ct;
pub(crate) mod ctl;
mod fill;
mod foreground;
pub(crate) mod http;
pub(crate) mod init;
pub(crate) mod lab;
pub(crate) mod man;
mod one_line;
pub(crate) mod pki;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod resources;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod sigstore;
