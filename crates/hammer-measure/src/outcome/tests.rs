use serde::de::IntoDeserializer;
use serde::de::value::Error;

use super::*;
use crate::fixture::OUTCOMES;

#[test]
fn every_fate_is_found_by_its_name_and_stands_at_its_index() {
    for (index, fate) in Fate::ALL.into_iter().enumerate() {
        assert_eq!(Fate::from_name(fate.name()), Some(fate));
        assert_eq!(fate as usize, index);
        assert_eq!(format!("[{fate:>14}]"), format!("[{:>14}]", fate.name()));
        let read: Result<Fate, Error> = Fate::deserialize(fate.name().into_deserializer());
        assert_eq!(read.unwrap(), fate, "it has one name in reports and thresholds");
    }
    assert_eq!(Fate::from_name("lost"), None);
    assert_eq!(Fate::from_name("Accepted"), None);
}

#[test]
fn an_outcome_has_the_fate_of_its_name() {
    for outcome in OUTCOMES {
        let name = Fate::from(outcome).name();
        let read: Result<Outcome, Error> = Outcome::deserialize(name.into_deserializer());
        assert_eq!(read.unwrap(), outcome, "{name}");
    }
    let fates = OUTCOMES.map(Fate::from);
    assert_eq!(fates[..], Fate::ALL[..OUTCOMES.len()]);
    let never_dispatched = &Fate::ALL[OUTCOMES.len()..];
    assert_eq!(never_dispatched, [Fate::Shed, Fate::Starved]);
}

#[test]
fn an_answer_has_a_response_time_and_so_have_a_failure_and_a_timeout() {
    let answered: Vec<Fate> = Fate::ALL.into_iter().filter(|fate| fate.answered()).collect();
    let timed: Vec<Fate> = Fate::ALL.into_iter().filter(|fate| fate.timed()).collect();
    assert_eq!(answered, Fate::ALL[..5], "accepted to malformed");
    assert_eq!(timed, Fate::ALL[..7], "and unreachable and timed out");
}

/// RFC 9110, section 15: the class of a status is its first digit; 429 is RFC 6585's.
#[test]
fn every_status_says_its_outcome() {
    for status in 0..=u16::MAX {
        let expected = match (status, status / 100) {
            (429 | 503, _) => Outcome::Pushback,
            (_, 2) => Outcome::Accepted,
            (_, 5) => Outcome::ServerError,
            _ => Outcome::Refused,
        };
        assert_eq!(Outcome::of_status(status), expected, "{status}");
    }
}

#[test]
fn a_cause_prints_as_a_reader_would_say_it() {
    assert_eq!(Detail::None.to_string(), "");
    assert_eq!(Detail::Status(404).to_string(), "HTTP 404");
    assert_eq!(Detail::Failure("connection reset").to_string(), "connection reset");
    assert_eq!(Detail::DESCRIPTORS_EXHAUSTED.to_string(), "descriptors exhausted");
    assert_eq!(Detail::PORTS_EXHAUSTED.to_string(), "local ports exhausted");
    assert_eq!(Detail::default(), Detail::None);
}
