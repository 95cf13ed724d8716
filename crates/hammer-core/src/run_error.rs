//! Why a run could not go on.

/// A run that could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A thread could not be started.
    #[error("start a thread: {0}")]
    Thread(#[from] std::io::Error),
    /// A workload's session could not be opened.
    #[error("open the load: {0}")]
    Open(String),
    /// A thread ended by a panic.
    #[error("keep shard {0} alive: its thread panicked")]
    Panicked(usize),
    /// A thread that prepares operations ended by a panic.
    #[error("prepare operations: a supply thread panicked")]
    SupplyPanicked,
    /// A thread that checks the promises of a workload ended by a panic.
    #[error("check the promises of {0}: a verifier thread panicked")]
    VerifierPanicked(String),
    /// The thread that looks at the target beside the load ended by a panic.
    #[error("look at the target beside the load: an observer panicked")]
    ObserverPanicked,
    /// A thread that computes in the middle of flows ended by a panic.
    #[error("compute for a flow: a thread of the crew panicked")]
    CrewPanicked,
    /// It was interrupted before it started.
    #[error("start before it was interrupted")]
    Interrupted,
}
