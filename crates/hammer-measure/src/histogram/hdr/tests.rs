use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::fixture::{any_nanos, of_nanos};

fn written(distribution: &Distribution) -> Vec<u8> {
    postcard::to_stdvec(distribution).unwrap()
}

fn read_back(bytes: &[u8]) -> Result<Distribution, postcard::Error> {
    postcard::from_bytes(bytes)
}

/// The payload of a distribution, as [`written`] has it behind the count of what never ended and its own length.
fn payload(distribution: &Distribution) -> Vec<u8> {
    let mut payload = Vec::new();
    V2Serializer::new().serialize(distribution.histogram.as_ref().unwrap().as_ref(), &mut payload).unwrap();
    payload
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_written_comes_back_equal_and_goes_on(
        nanos in vec(any_nanos(), 0..60), infinite in 0..4u64, more in any_nanos(),
    ) {
        let mut sent = of_nanos(nanos.into_iter().map(|nanos| nanos.0));
        (0..infinite).for_each(|_| sent.record_infinite());
        let mut back = read_back(&written(&sent)).unwrap();
        prop_assert_eq!(&back, &sent);
        prop_assert_eq!(back.summary(), sent.summary());
        let json = serde_json::to_string(&sent).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Distribution>(&json).unwrap(), &sent);
        // One that grew goes on growing.
        back.record(more);
        sent.record(more);
        prop_assert_eq!(&back, &sent);
        let mut doubled = sent.clone();
        doubled.merge(&back);
        prop_assert_eq!(doubled.count(), 2 * sent.count());
    }
}

#[test]
fn an_equal_distribution_records_as_much_of_each_duration() {
    let one = of_nanos([1_000_000, 2_000_000]);
    assert_eq!(one, of_nanos([2_000_000, 1_000_000]));
    assert_ne!(one, of_nanos([1_000_000, 2_000_000, 2_000_000]));
    assert_ne!(one, of_nanos([1_000_000, 3_000_000]));
    let mut cleared = one.clone();
    cleared.clear();
    assert_eq!(cleared, Distribution::default());
    assert_eq!(written(&cleared), [0, 0], "nothing recorded is two bytes");
}

#[test]
fn our_header_is_the_one_that_is_written() {
    let sent = payload(&of_nanos([5_000_000_000]));
    let highest = u64::from_be_bytes(sent[24..32].try_into().unwrap());
    assert_eq!(sent[..HEADER], header(sent.len() - HEADER, highest));
    assert!(check(&sent).is_ok());
    assert!(check(&payload(&of_nanos([u64::MAX]))).is_ok(), "two hours are the longest");
}

#[test]
fn a_histogram_of_other_bounds_is_refused() {
    let sent = payload(&of_nanos([5_000_000]));
    // Cookie (the deflated form too), length, offset, digits, resolution, the highest bound, scale.
    for (place, byte) in [(0, 0), (3, 0x14), (5, 0xff), (11, 1), (15, 5), (23, 1), (24, 0x7f), (32, 0)] {
        let mut other = sent.clone();
        other[place] = byte;
        assert!(matches!(check(&other), Err(PayloadError::Bounds)), "byte {place}");
    }
    let below = header(0, RESOLUTION);
    assert!(matches!(check(&below), Err(PayloadError::Bounds)), "a histogram needs two values at least");
    assert!(matches!(check(&sent[..39]), Err(PayloadError::Bounds)));
}

#[test]
fn counts_that_no_run_reaches_are_refused_before_they_are_believed() {
    let with_counts = |counts: &[u8]| [header(counts.len(), 4_096_000).as_slice(), counts].concat();
    // A run of zeros whose length has no positive number, one that is too long, a count that is cut off, and one too large.
    for counts in [
        &[0xff; 9][..],
        &[0xff, 0xff, 0xff, 0x7f],
        &[0x80],
        &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1],
    ] {
        assert!(matches!(check(&with_counts(counts)), Err(PayloadError::Bounds)), "{counts:x?}");
    }
    // Within the bounds of this check, and beyond those of the histogram itself.
    let beyond = with_counts(&[0xff, 0xff, 0x03, 0x02]);
    assert!(check(&beyond).is_ok() && matches!(read(&beyond), Err(PayloadError::Payload(_))));
}
