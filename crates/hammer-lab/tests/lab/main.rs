//! The lab's targets, driven over loopback.

mod acceptance;
mod chains;
mod client;
mod ct_log;
mod faults;
mod folder;
mod grpc;
mod lies;
mod plain;
mod policy;
mod recorded;
mod recording;
mod watch;
mod wire;
