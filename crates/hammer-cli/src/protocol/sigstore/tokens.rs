//! A token that somebody else made, of a file or the environment.

use hammer_exchange::WallTime;
use hammer_exchange::stock::{StockedToken, TokenFile, TokenStock, TokenSubject, TokenWatch};
use hammer_exchange::token::TokenPlan;
use hammer_measure::Nanos;
use hammer_net::Secret;
use hammer_report::rfc3339;
use hammer_sigstore::{IdentityPlan, SigstoreError};

use crate::plan::Plan;
use crate::protocol::tokens::RunTokens;

/// Whom the tokens of a plan are of.
pub(super) fn subject(identity: &IdentityPlan) -> TokenSubject {
    identity.subject.as_deref().map_or(TokenSubject::OfToken, |subject| TokenSubject::Stated(subject.into()))
}

/// The one token of a plan.
///
/// # Errors
/// When it cannot be read, or says of nobody whom it is of.
pub(super) fn of_place(
    plan: &Plan,
    place: &TokenPlan,
    identity: &IdentityPlan,
    epoch_unix_ms: u64,
) -> Result<RunTokens, SigstoreError> {
    let (wall, subject) = (WallTime { epoch_unix_ms }, subject(identity));
    // Looked at before it is read, so that no change is missed between the two.
    let file = match place {
        TokenPlan::File(path) => Some(TokenFile::at(path, subject.clone())),
        TokenPlan::Env(_) => None,
    };
    let token = read(place, &subject)?;
    let notes = ending(plan, place, &token, wall).into_iter().collect();
    let stock = TokenStock::new(vec![token]);
    let watch = TokenWatch::new(stock.clone(), wall);
    let watch = file.into_iter().fold(watch, TokenWatch::of_file);
    Ok(RunTokens { stock, refresh: None, watch, endpoint: None, notes })
}

/// Finds a token of somebody else good at the start of a command, so that it is told at once, and not by flows without one.
///
/// # Errors
/// When it is over.
pub(super) fn expect_good(identity: &IdentityPlan, epoch_unix_ms: u64) -> Result<(), SigstoreError> {
    let Some(place) = &identity.token else { return Ok(()) };
    // An end before 1970 is no time that can be printed, but it is an end.
    let end = read(place, &subject(identity))?.expires_at.map(|end| u64::try_from(end).unwrap_or(0));
    match end.map(|end| end.saturating_mul(1000)).filter(|end| *end <= epoch_unix_ms) {
        Some(end) => Err(SigstoreError::TokenOver { place: named(place), at: rfc3339(end) }),
        None => Ok(()),
    }
}

fn read(place: &TokenPlan, subject: &TokenSubject) -> Result<StockedToken, SigstoreError> {
    let token: Secret = place.read().map_err(SigstoreError::Token)?;
    let useless = |why| SigstoreError::TokenUseless { place: named(place), why };
    StockedToken::of(token, subject, None).map_err(useless)
}

fn named(place: &TokenPlan) -> String {
    match place {
        TokenPlan::File(path) => path.display().to_string(),
        TokenPlan::Env(name) => format!("the environment's {name}"),
    }
}

/// What is said of a token that is over before the run is.
fn ending(plan: &Plan, place: &TokenPlan, token: &StockedToken, wall: WallTime) -> Option<String> {
    let ends = wall.instant_of(token.expires_at?);
    let warm_up = Nanos::from(plan.phases.warm_up.duration());
    let lasts = plan.phases.measurement.map(|span| warm_up.saturating_add(span.duration().into()));
    if lasts.is_some_and(|lasts| lasts < ends) {
        return None;
    }
    let which = named(place);
    let hope = match place {
        TokenPlan::File(_) => "unless another one is written there",
        TokenPlan::Env(_) => "since no other one can come",
    };
    let when = match ends {
        Nanos::ZERO => "has expired".to_owned(),
        ends => format!("expires {:.0} s after the start", ends.as_secs_f64()),
    };
    let before = if lasts.is_some() { ", before the run is over" } else { "" };
    Some(format!("the token of {which} {when}{before}: flows behind that send nothing, {hope}"))
}
