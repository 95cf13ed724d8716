//! The certificates that a signature service must trust.

use hammer_pki::MadeAuthority;

use super::sections::{TARGET, target};
use crate::plan::Plan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;

/// The authorities that issue the certificates of made signers; none where a plan has none.
///
/// # Errors
/// When they cannot be made.
pub(crate) fn authorities(plan: &Plan) -> Result<Vec<MadeAuthority>, PlanError> {
    let Some(made) = target(plan).and_then(|target| target.made_authorities.as_ref()) else {
        return Ok(Vec::new());
    };
    let at = PlanPath::of("target").key(TARGET).key("made_authorities");
    MadeAuthority::all(plan.seed, made.number.get()).map_err(|error| PlanFault::said(error).at(at))
}
