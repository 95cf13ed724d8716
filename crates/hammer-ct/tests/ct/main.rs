//! Workloads on logs, driven by the engine over loopback against embedded ones.

mod audit;
mod canned;
mod duplicate;
mod harness;
mod invalid;
mod mutated;
mod logs;
mod observe;
mod plan;
mod proxy;
mod read;
mod submit;
