//! Exchanges of an operation with a service: a shard's client of it, and the instants, bytes and fate of what it sends, told to
//! the operation's record; and where a plan says that a service's token comes from. Every protocol sends through it. It decides no
//! rate, judges no body, and knows no protocol.

mod service;
pub mod token;
mod wire;

pub use service::{ServiceClient, ServiceConfig, share_of_connections};
pub use wire::{exchange, expect_ok};
