//! Requests, driven by the engine over loopback.

mod canned;
mod harness;
mod requests;
