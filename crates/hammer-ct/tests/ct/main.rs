//! Workloads on logs, driven by the engine over loopback against embedded ones.

mod audit;
mod canned;
mod duplicate;
mod harness;
mod observe;
mod plan;
mod read;
mod submit;
