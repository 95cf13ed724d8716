//! The embedded Veraison over its wire.

mod auth;
mod client;
mod device;
mod exchange;
mod faults;
mod lies;
mod negatives;
mod recorded;
mod service;
mod signed;
