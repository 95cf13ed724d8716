use super::*;

#[test]
fn every_fate_is_found_by_its_name() {
    for fate in Fate::ALL {
        assert_eq!(Fate::from_name(fate.name()), Some(fate));
        assert_eq!(Fate::ALL[fate as usize], fate);
    }
    assert_eq!(Fate::from_name("lost"), None);
}

#[test]
fn statuses_say_their_outcome() {
    assert_eq!(Outcome::of_status(200), Outcome::Accepted);
    assert_eq!(Outcome::of_status(302), Outcome::Refused);
    assert_eq!(Outcome::of_status(400), Outcome::Refused);
    assert_eq!(Outcome::of_status(429), Outcome::Pushback);
    assert_eq!(Outcome::of_status(503), Outcome::Pushback);
    assert_eq!(Outcome::of_status(504), Outcome::ServerError);
}
