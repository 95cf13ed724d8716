//! Sessions as verification shows them (`application/vnd.veraison.challenge-response-session+json`).

use std::borrow::Cow;

use serde::Deserialize;

/// A session: what a flow needs of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct SessionObject<'a> {
    /// How far it is.
    #[serde(borrow)]
    pub(crate) status: Cow<'a, str>,
    /// Its nonce, in base64.
    #[serde(borrow, default)]
    pub(crate) nonce: Cow<'a, str>,
    /// What verification says of the device, a JWT, once it is there.
    #[serde(borrow, default)]
    pub(crate) result: Option<Cow<'a, str>>,
}

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionStatus {
    /// It waits for evidence.
    Waiting,
    /// Its evidence is being appraised.
    Processing,
    /// There is a result.
    Complete,
    /// There will be none.
    Failed,
}

impl<'a> SessionObject<'a> {
    pub(crate) fn parse(json: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    pub(crate) fn status(&self) -> Option<SessionStatus> {
        Some(match &*self.status {
            "waiting" => SessionStatus::Waiting,
            "processing" => SessionStatus::Processing,
            "complete" => SessionStatus::Complete,
            "failed" => SessionStatus::Failed,
            _ => return None,
        })
    }
}
