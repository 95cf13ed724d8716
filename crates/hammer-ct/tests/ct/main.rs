//! Workloads on logs, driven by the engine over loopback against embedded ones.

mod audit;
mod canned;
mod duplicate;
mod faults;
mod folder;
mod harness;
mod invalid;
mod lagging;
mod logs;
mod mutated;
mod observe;
mod plan;
mod proxy;
mod read;
mod refusals;
mod submit;
