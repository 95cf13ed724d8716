//! Exchanges of an operation with a service: a shard's client of it, and the instants, bytes and fate of what it sends, told to
//! the operation's record; and where a plan says that a service's token comes from: a file, the environment, or an issuer that grants
//! it, which is asked beside the load, or whose key hammer has. Every protocol sends through it. It decides no rate, judges no body but that of a token endpoint,
//! and knows no protocol.

pub mod basic;
pub mod bearer;
mod credentials;
pub mod grant;
pub mod health;
pub mod minted;
mod said;
mod service;
pub mod stock;
pub mod token;
pub mod token_watch;
mod waiting;
mod wall;
mod wire;

pub use credentials::secrets_of_bearer;
pub use service::{SentSecrets, ServiceClient, ServiceConfig, share_of_connections};
pub use wall::WallTime;
pub use wire::{exchange, expect_ok};
