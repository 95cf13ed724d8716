//! Which media types a client takes (RFC 9110 section 12.5.1), as the services' framework reads that.

use http::{HeaderMap, StatusCode, header::ACCEPT};

use crate::problem::Problem;

/// Fails where the client takes none of `offers`, the first of which is named.
///
/// # Errors
/// 406.
pub(crate) fn check(headers: &HeaderMap, offers: &[&str]) -> Result<(), Problem> {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let taken = || accept.split(',').map(|part| part.split(';').next().unwrap_or_default().trim());
    let matches = |taken: &str| offers.iter().any(|offer| covers(taken, offer));
    if accept.is_empty() || taken().filter(|taken| !taken.is_empty()).any(matches) {
        return Ok(());
    }
    let detail = format!("the only supported output format is {}", offers[0]);
    Err(Problem::new(StatusCode::NOT_ACCEPTABLE, detail))
}

/// Whether a part of `Accept` covers a media type. Weights are not looked at; whatever follows a star is covered.
fn covers(taken: &str, offer: &str) -> bool {
    match taken.split_once('*') {
        Some((before, _)) => offer.starts_with(before),
        None => taken == offer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_is_taken_by_its_name_by_a_star_and_by_silence() {
        for (accept, taken) in [
            ("", true),
            ("*/*", true),
            ("application/*", true),
            ("text/html, application/x+json;q=0.5", true),
            ("text/html", false),
            ("application/x", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, accept.parse().unwrap());
            assert_eq!(check(&headers, &["application/x+json"]).is_ok(), taken, "{accept}");
        }
        assert!(check(&HeaderMap::new(), &["application/x+json"]).is_ok());
    }
}
