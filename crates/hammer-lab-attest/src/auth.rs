//! Who may provision: users with passwords (RFC 7617), where the plan names some.

use hammer_tlog::encoding::from_base64;
use http::{HeaderMap, header::AUTHORIZATION};

use crate::{plan::LabUser, problem::Problem};

/// Fails where none of the users asks, or one that may not provision.
///
/// # Errors
/// 401.
pub(crate) fn check(users: &[LabUser], headers: &HeaderMap) -> Result<(), Problem> {
    if users.is_empty() {
        return Ok(());
    }
    // Sic.
    let credentials =
        credentials(headers).ok_or_else(|| Problem::unauthorized("no Basic Authorizaiton given"))?;
    let is_right = |user: &&LabUser| credentials == format!("{}:{}", user.name, user.password);
    let user =
        users.iter().find(is_right).ok_or_else(|| Problem::unauthorized("wrong username or password"))?;
    user.provisions.then_some(()).ok_or_else(|| Problem::unauthorized("API unauthorized for user"))
}

/// Name and password, with a colon between them.
fn credentials(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, encoded) = value.split_once(' ')?;
    let credentials = from_base64(encoded).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    String::from_utf8(credentials).ok().filter(|text| text.contains(':'))
}
