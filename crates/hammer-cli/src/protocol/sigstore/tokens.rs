//! Whom the tokens of a plan's identity are of, and why one is of no use to it.

use hammer_exchange::stock::TokenSubject;
use hammer_report::rfc3339;
use hammer_sigstore::{IdentityPlan, SigstoreError};

use crate::protocol::tokens::{PlacedTokenFault, named, read};

/// Whom the tokens of a plan are of.
pub(super) fn subject(identity: &IdentityPlan) -> TokenSubject {
    identity.subject.as_deref().map_or(TokenSubject::OfToken, |subject| TokenSubject::Stated(subject.into()))
}

/// What a token is of no use for.
pub(super) fn failed(fault: PlacedTokenFault) -> SigstoreError {
    match fault {
        PlacedTokenFault::Token(error) => SigstoreError::Token(error),
        PlacedTokenFault::Useless { place, why } => SigstoreError::TokenUseless { place, why },
    }
}

/// Finds a token of somebody else good at the start of a command, so that it is told at once, and not by flows without one.
///
/// # Errors
/// When it is over.
pub(super) fn expect_good(identity: &IdentityPlan, epoch_unix_ms: u64) -> Result<(), SigstoreError> {
    let Some(place) = &identity.token else { return Ok(()) };
    // An end before 1970 is no time that can be printed, but it is an end.
    let token = read(place, &subject(identity)).map_err(failed)?;
    let end = token.expires_at.map(|end| u64::try_from(end).unwrap_or(0));
    match end.map(|end| end.saturating_mul(1000)).filter(|end| *end <= epoch_unix_ms) {
        Some(end) => Err(SigstoreError::TokenOver { place: named(place), at: rfc3339(end) }),
        None => Ok(()),
    }
}
