//! A promise on its way, and the bytes that it is in a ring or a file: its length, its sequence number and its kind stand before
//! what the shard wrote down.

use crate::promise::ledger::PromiseKind;

/// A promise on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromiseRecord<'a> {
    /// The operation that received it.
    pub seq: u64,
    /// Which promise, of the whole workload.
    pub kind: PromiseKind,
    /// What the shard wrote down.
    pub bytes: &'a [u8],
}

pub(super) fn encode(out: &mut Vec<u8>, promise: PromiseRecord<'_>) {
    out.extend_from_slice(&(promise.bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(&promise.seq.to_le_bytes());
    out.push(promise.kind.0);
    out.extend_from_slice(promise.bytes);
}

/// Kind, sequence number and length of the record after a header.
pub(super) fn decode_header(header: [u8; HEADER]) -> (PromiseKind, u64, usize) {
    let [a, b, c, d, seq @ .., kind] = header;
    (PromiseKind(kind), u64::from_le_bytes(seq), u32::from_le_bytes([a, b, c, d]) as usize)
}

pub(super) const HEADER: usize = 13;
