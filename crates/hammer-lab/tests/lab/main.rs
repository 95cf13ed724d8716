//! The lab's targets, driven over loopback.

mod acceptance;
mod chains;
mod client;
mod ct_log;
mod faults;
mod folder;
mod plain;
mod policy;
mod recorded;
mod recording;
mod wire;
