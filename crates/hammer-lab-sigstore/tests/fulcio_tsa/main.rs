//! The embedded Fulcio, timestamp authority and provider, driven over loopback and checked by OpenSSL.

mod client;
mod ct_log;
mod fulcio;
mod fulcio_lies;
mod grpc;
mod issuer;
mod lookup;
mod openssl;
mod provider;
mod signer;
mod tsa;
mod tsa_lies;
