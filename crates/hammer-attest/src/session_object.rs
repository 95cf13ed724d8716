//! Sessions as verification shows them (`application/vnd.veraison.challenge-response-session+json`).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

/// A session: what a flow needs of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SessionObject<'a> {
    /// How far it is.
    #[serde(borrow)]
    pub status: Cow<'a, str>,
    /// Its nonce, in base64.
    #[serde(borrow, default)]
    pub nonce: Cow<'a, str>,
    /// What verification says of the device, a JWT, once it is there.
    #[serde(borrow, default)]
    pub result: Option<Cow<'a, str>>,
}

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionStatus {
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
    /// Reads one; nothing where it is none.
    pub fn parse(json: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    /// The nonce of a session that waits for evidence.
    pub fn waiting_nonce(&self) -> Option<Vec<u8>> {
        let nonce = STANDARD.decode(self.nonce.as_bytes()).ok()?;
        let is_usable = self.status() == Some(SessionStatus::Waiting) && nonce.len() <= MOST_NONCE;
        is_usable.then_some(nonce)
    }

    /// How far it is; nothing where that is no word for it.
    pub fn status(&self) -> Option<SessionStatus> {
        Some(match &*self.status {
            "waiting" => SessionStatus::Waiting,
            "processing" => SessionStatus::Processing,
            "complete" => SessionStatus::Complete,
            "failed" => SessionStatus::Failed,
            _ => return None,
        })
    }
}

/// What a record has room for; sessions have 64 bytes at most.
const MOST_NONCE: usize = 255;
