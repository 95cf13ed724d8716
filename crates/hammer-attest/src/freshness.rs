//! How old a discovery document may be that came by way of a cache: one that shows no new key says nothing of what was signed since it was made.

use hammer_measure::Nanos;
use hammer_values::Date;
use http::header::{AGE, CACHE_CONTROL, DATE, EXPIRES, HeaderMap, HeaderName};

/// The headers of an answer that tell.
pub(crate) const TOLD_BY: [HeaderName; 4] = [AGE, CACHE_CONTROL, DATE, EXPIRES];

/// How long ago an answer may have been made: what it says (RFC 9111 section 5.1); or what follows from the dates in it, where it says when
/// it expires; or else as long as caches may keep it, though they were asked for a new one. Five minutes at most.
pub(crate) fn age(headers: &HeaderMap) -> Nanos {
    let seconds =
        said(headers).or_else(|| kept_for(headers).map(|kept| since_made(headers, kept).unwrap_or(kept)));
    Nanos::from_secs(seconds.unwrap_or(0).min(MOST_SECONDS))
}

fn said(headers: &HeaderMap) -> Option<u64> {
    headers.get(AGE)?.to_str().ok()?.trim().parse().ok()
}

/// For how many seconds a cache may keep it.
fn kept_for(headers: &HeaderMap) -> Option<u64> {
    let lines = headers.get_all(CACHE_CONTROL).iter().filter_map(|line| line.to_str().ok());
    let directives: Vec<&str> = lines.flat_map(|line| line.split(',')).map(str::trim).collect();
    if directives.iter().any(|directive| directive.eq_ignore_ascii_case("no-store")) {
        return None;
    }
    let of = |name: &str| {
        let pairs = directives.iter().filter_map(|directive| directive.split_once('='));
        let mut named = pairs.filter(|(other, _)| other.eq_ignore_ascii_case(name));
        named.next().and_then(|(_, seconds)| seconds.trim_matches('"').parse::<u64>().ok())
    };
    of("s-maxage").into_iter().chain(of("max-age")).max()
}

/// The seconds from when it was made, which is so long before it expires, to when it was answered.
fn since_made(headers: &HeaderMap, kept: u64) -> Option<u64> {
    let at = |name: HeaderName| date(headers.get(name)?.to_str().ok()?);
    let (answered, expires) = (at(DATE)?, at(EXPIRES)?);
    Some(answered.saturating_add(kept).saturating_sub(expires).min(kept))
}

/// Seconds since the Unix epoch of `Sat, 21 Nov 2026 06:41:19 GMT` (RFC 9110 section 5.6.7); the zone is that whatever it is called, as
/// v0.0.2608 calls it `UTC`.
fn date(text: &str) -> Option<u64> {
    let (_, text) = text.split_once(", ")?;
    let mut words = text.split(' ');
    let (day, month, year, time) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let month = 1 + MONTHS.iter().position(|name| *name == month)?;
    let date: Date = format!("{year}-{month:02}-{day}T{time}Z").parse().ok()?;
    Some(date.unix_seconds())
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// A document that may be kept for a day must not keep a verdict back for as long.
const MOST_SECONDS: u64 = 300;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(headers: &[(HeaderName, &str)]) -> u64 {
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
        age(&headers.collect()).0 / 1_000_000_000
    }

    #[test]
    fn a_document_is_as_old_as_its_answer_says_or_as_it_may_be() {
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&[(CACHE_CONTROL, "no-store, max-age=60")]), 0);
        assert_eq!(of(&[(CACHE_CONTROL, "public, Max-Age=60")]), 60);
        assert_eq!(of(&[(CACHE_CONTROL, "max-age=60, s-maxage=90")]), 90);
        assert_eq!(of(&[(CACHE_CONTROL, "max-age=60"), (AGE, "7")]), 7);
        assert_eq!(of(&[(CACHE_CONTROL, "max-age=86400")]), 300);
        assert_eq!(of(&[(AGE, "none")]), 0);
    }

    #[test]
    fn what_v0_0_2608_says_of_its_documents_tells_those_of_caches_from_its_own() {
        let at = |date| {
            let expires = (EXPIRES, "Sat, 21 Nov 2026 06:41:19 UTC");
            of(&[(CACHE_CONTROL, "max-age=60"), (DATE, date), expires])
        };
        assert_eq!(at("Sat, 21 Nov 2026 06:40:19 GMT"), 0);
        assert_eq!(at("Sat, 21 Nov 2026 06:41:02 GMT"), 43);
        assert_eq!(at("Sat, 21 Nov 2026 07:00:00 GMT"), 60);
        // A date that is none says nothing.
        assert_eq!(at("today"), 60);
    }
}
