//! Messages of Protocol Buffers that services of Sigstore, and collectors of OpenTelemetry, are asked and answer with, and the paths of the
//! methods that take them. Written by hand after the services' own `.proto` files, with their names and numbers, as far as load needs them: what is
//! left out is skipped when it is read. It never sends anything, and it judges no answer.
//!
//! Read in this order: [`json`], [`google`], [`health`], [`fulcio`], [`rekor`], [`bundle`], [`trillian`],
//! [`otlp`].

pub mod bundle;
pub mod fulcio;
pub mod google;
pub mod health;
pub mod json;
pub mod otlp;
pub mod rekor;
pub mod trillian;
