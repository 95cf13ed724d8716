//! How a session is kept.

use std::time::Duration;

use bytes::Bytes;

use super::nonce::Nonce;

/// A session as it is kept.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) nonce: Nonce,
    /// Since the Unix epoch.
    pub(crate) expires: Duration,
    pub(crate) stage: Stage,
}

/// How far a session is.
#[derive(Debug, Clone)]
pub(crate) enum Stage {
    /// It waits for evidence.
    Waiting,
    /// It has evidence, and its result is not shown yet.
    Processing {
        appraised: Appraised,
        /// Looks that still show no result.
        polls: u64,
        /// Before this time of the clock no look shows one.
        until: Duration,
    },
    /// It has a result.
    Complete(Appraised),
    /// Its evidence could not be appraised.
    Failed,
}

/// Evidence and its result.
#[derive(Debug, Clone)]
pub(crate) struct Appraised {
    pub(crate) media_type: Bytes,
    pub(crate) evidence: Bytes,
    /// A nonce that is shown in place of the session's.
    pub(crate) shown_nonce: Option<Bytes>,
    /// A JSON Web Token.
    pub(crate) result: Bytes,
}
