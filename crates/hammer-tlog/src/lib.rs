//! Transparency-log primitives as pure bytes: Merkle trees and their proofs, tiles, signed notes, RFC 6962
//! structures, signed certificate timestamps, and the rebuilding of what a log signs from what was sent to it; on top
//! of them the follower and the audit of a log, as state machines that say what they need and are fed it.
//! This crate never opens a socket or a file, never reads a clock, and holds no private key: it says which bytes are
//! to be signed, and verifies what others have signed. No parser panics, whatever it is given.

pub mod ct;
pub mod encoding;
pub mod hash;
pub mod keys;
pub mod logs;
pub mod tls;
