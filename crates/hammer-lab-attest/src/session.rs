//! Sessions of the challenge-response interface: begun, looked at, answered, deleted, lost and over.

mod id;
mod nonce;
mod state;
mod table;
mod text;

pub(crate) use id::{SessionId, SessionIds};
pub(crate) use nonce::{AskedNonce, Nonce};
pub(crate) use state::{Appraised, Session, Stage};
pub(crate) use table::Sessions;
pub(crate) use text::{SESSION_TYPE, SessionText};
