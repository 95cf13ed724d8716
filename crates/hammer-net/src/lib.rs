//! The client side of a shard: dialling and its guard, TLS, HTTP/1.1 and HTTP/2, wire times, pools and balancing.
//! Everything runs on one thread, a `LocalRuntime` or a current-thread runtime within a `LocalSet`. It never reads a clock (who can
//! tell the time is an argument), never follows the environment's proxies, and never dials a peer that is neither
//! loopback nor private unless the plan says who allowed it.

mod arrival;
mod attempt;
mod balance;
mod body;
mod client;
mod cluster;
mod config;
mod context;
mod dial;
mod endpoint;
mod failure;
pub mod grpc;
pub mod guard;
mod gzip;
mod headers;
mod http1;
mod http2;
mod patience;
pub mod reactor;
mod receive;
mod redirect;
mod reference;
mod request;
mod resolve;
mod secret;
pub mod socket;
mod stream;
mod tls;
mod tls_fault;
mod trouble;
mod wire;

pub use balance::Balancing;
pub use body::{Body, BodyBuffer, BodyPart, BodySource};
pub use client::Client;
pub use config::{ClientConfig, ConfigError, DialPlace, HttpVersion, Resend};
pub use failure::{Failure, FailureKind};
pub use gzip::{gunzip, gunzip_start};
pub use headers::Headers;
pub use request::{Answer, BodyDigest, BodySink, Request};
pub use secret::{Secret, SecretError};
pub use tls::{TlsConfig, TlsError};
pub use wire::WireTimes;
