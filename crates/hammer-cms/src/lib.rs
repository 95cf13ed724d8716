//! CMS signed data (RFC 5652) and the timestamps that are made of it (RFC 3161): read in place, verified and asked for.
//! Bytes alone: it never opens a connection or reads a clock, and it signs nothing. Only DER is read; the BER that CMS
//! allows besides is refused.
//!
//! Read in this order: [`signed_data`], [`timestamp`].

mod integer;
pub mod signed_data;
pub mod timestamp;
