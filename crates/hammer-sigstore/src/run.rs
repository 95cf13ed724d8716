//! What a workload knows of the run it is part of.

/// What follows from nothing but the run, and what is sent follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SigstoreRun {
    /// The run's seed.
    pub seed: u64,
    /// The wall clock at the run's epoch, milliseconds since the Unix epoch.
    pub epoch_unix_ms: u64,
    /// The workload's place in the plan: the stream of its flows, unless the plan names one.
    pub workload: u64,
}
