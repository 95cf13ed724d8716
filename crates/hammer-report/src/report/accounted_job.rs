//! What another tool sends, in the terms of a report.

/// What one job of another tool sends, in series of this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountedJob {
    /// The job's name there.
    pub job: &'static str,
    /// Paths of the operations of which it consists.
    pub operations: Vec<String>,
    /// Paths of the steps that are requests there; none where that tool counts whole operations.
    pub requests: Vec<String>,
    /// Requests of each operation that are counted there and not sent here.
    pub not_sent: u64,
}
