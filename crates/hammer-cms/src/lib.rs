//! CMS signed data (RFC 5652), the signatures of documents (CAdES) and the timestamps (RFC 3161) that are made of it: read in place,
//! verified, and timestamps asked for.
//! Bytes alone: it never opens a connection or reads a clock, and it signs nothing. Only DER is read; the BER that CMS
//! allows besides is written anew as DER first ([`ber`]).
//!
//! Read in this order: [`ber`], [`signed_data`], [`timestamp`], [`signature`].

pub mod ber;
mod integer;
pub mod signature;
pub mod signed_data;
pub mod timestamp;
