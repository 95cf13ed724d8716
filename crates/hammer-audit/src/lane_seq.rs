//! Numbers of operations, with the workload that they are of.

/// The operation's own number, without the workload that shares the auditor.
pub(crate) fn seq(seq: u64) -> u64 {
    seq & SEQ_MASK
}

/// The bits of the operation's own number; the workload's stands above them.
pub(crate) const SEQ_BITS: u32 = 56;
const SEQ_MASK: u64 = (1 << SEQ_BITS) - 1;
