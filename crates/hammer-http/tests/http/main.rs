//! Requests, driven by the engine over loopback.

mod canned;
mod flows;
mod harness;
mod requests;
