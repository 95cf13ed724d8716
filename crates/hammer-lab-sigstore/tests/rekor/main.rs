//! The embedded Rekors, driven over loopback.

mod client;
mod keys;
mod mint;
mod recorded;
mod v1;
mod v1_faults;
mod v1_lies;
mod v2;
mod v2_grpc;
mod v2_lies;
