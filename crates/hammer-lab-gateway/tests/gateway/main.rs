//! The embedded gateway, driven over loopback.

mod authentication;
mod authorization;
mod backend;
mod client;
mod lies;
mod odd;
mod tokens;
