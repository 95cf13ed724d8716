//! The embedded Veraison over its wire.

mod client;
mod device;
mod exchange;
mod negatives;
mod recorded;
mod service;
