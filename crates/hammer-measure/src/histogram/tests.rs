use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::fixture::of_nanos;

fn of_millis(range: std::ops::RangeInclusive<u64>) -> Distribution {
    of_nanos(range.map(|millis| millis * 1_000_000))
}

/// With `infinite` more that never ended.
fn and_infinite(mut distribution: Distribution, infinite: u64) -> Distribution {
    (0..infinite).for_each(|_| distribution.record_infinite());
    distribution
}

fn merged(one: &Distribution, other: &Distribution) -> Distribution {
    let mut all = one.clone();
    all.merge(other);
    all
}

/// Everything that a distribution says, to compare two of them by.
fn told(distribution: &Distribution) -> (Option<Summary>, Octaves, Vec<u64>) {
    let bounds = [0, 100_000, 20_000_000, 1_000_000_000].map(Nanos);
    let above = bounds.iter().map(|bound| distribution.count_above(*bound)).collect();
    (distribution.summary(), distribution.octaves(), above)
}

/// Nothing below the resolution of 128 ns; above it at most a thousandth, or that resolution, too long.
fn is_within_precision(found: Nanos, exact: u64) -> bool {
    if exact < 128 {
        return found == Nanos::ZERO;
    }
    found.0 >= exact && found.0 - exact <= (exact / 1_000).max(127)
}

/// The duration of that rank (from 1) in `sorted`; what never ended comes last.
fn exact_of_rank(sorted: &[u64], rank: u64) -> Option<u64> {
    sorted.get(rank as usize - 1).copied()
}

/// Nanoseconds of all magnitudes, those below the resolution among them, but seldom of hours: a histogram of them is long.
fn any_length() -> impl Strategy<Value = u64> {
    prop_oneof![20 => 0..300u64, 20 => 0..300_000u64, 20 => 0..50_000_000u64, 1 => 0..LONGEST]
}

fn any_distribution() -> impl Strategy<Value = Distribution> {
    (vec(any_length(), 0..40), 0..4u64)
        .prop_map(|(lengths, infinite)| and_infinite(of_nanos(lengths), infinite))
}

/// A share in thousandths beside its number, so that the exact rank needs no floating point.
fn any_share() -> impl Strategy<Value = (u64, f64)> {
    (1..=1_000u64).prop_map(|thousandths| (thousandths, thousandths as f64 / 1_000.0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_quantile_is_the_duration_of_its_exact_rank(
        mut lengths in vec(any_length(), 0..200), infinite in 0..20u64, (thousandths, share) in any_share(),
    ) {
        let distribution = and_infinite(of_nanos(lengths.iter().copied()), infinite);
        lengths.sort_unstable();
        let total = lengths.len() as u64 + infinite;
        let found = distribution.quantile(share);
        if total == 0 {
            prop_assert_eq!(found, None);
            return Ok(());
        }
        match exact_of_rank(&lengths, (thousandths * total).div_ceil(1_000)) {
            Some(exact) => {
                let Some(Quantile::At(at)) = found else { panic!("{found:?} of {exact} ns that ended") };
                prop_assert!(is_within_precision(at, exact), "{} is not {exact}", at.0);
            }
            None => prop_assert!(matches!(found, Some(Quantile::Beyond(_))), "{found:?}"),
        }
    }

    #[test]
    fn a_summary_says_what_the_sorted_durations_say(lengths in vec(any_length(), 1..200), infinite in 0..20u64) {
        let summary = and_infinite(of_nanos(lengths.iter().copied()), infinite).summary().unwrap();
        let (shortest, longest) = (*lengths.iter().min().unwrap(), *lengths.iter().max().unwrap());
        prop_assert_eq!((summary.count, summary.infinite), (lengths.len() as u64 + infinite, infinite));
        prop_assert!(is_within_precision(summary.max, longest), "max {} of {longest}", summary.max.0);
        prop_assert!(summary.min.0 <= shortest);
        prop_assert!(shortest - summary.min.0 <= (shortest / 1_000).max(127), "min {} of {shortest}", summary.min.0);
        let exact = lengths.iter().map(|length| *length as f64).sum::<f64>() / lengths.len() as f64;
        prop_assert!((summary.mean - exact).abs() <= 128.0 + exact / 1_000.0, "mean {} of {exact}", summary.mean);
        prop_assert!(summary.min.0 as f64 <= summary.mean && summary.mean <= summary.max.0 as f64, "{summary:?}");
        let rising = [summary.p50, summary.p75, summary.p90, summary.p95, summary.p99, summary.p999];
        prop_assert!(rising.is_sorted_by_key(|quantile| quantile.nanos()), "{rising:?}");
    }

    #[test]
    fn merging_is_recording_into_one(
        ours in vec(any_length(), 0..60), theirs in vec(any_length(), 0..60), infinite in [0..4u64, 0..4u64],
    ) {
        let one = and_infinite(of_nanos(ours.iter().copied()), infinite[0]);
        let other = and_infinite(of_nanos(theirs.iter().copied()), infinite[1]);
        let whole = and_infinite(of_nanos(ours.into_iter().chain(theirs)), infinite[0] + infinite[1]);
        prop_assert_eq!(told(&merged(&one, &other)), told(&whole));
    }

    #[test]
    fn the_order_of_merging_changes_nothing(
        a in any_distribution(), b in any_distribution(), c in any_distribution(),
    ) {
        prop_assert_eq!(told(&merged(&a, &b)), told(&merged(&b, &a)));
        prop_assert_eq!(told(&merged(&merged(&a, &b), &c)), told(&merged(&a, &merged(&b, &c))));
        prop_assert_eq!(told(&merged(&a, &Distribution::default())), told(&a));
    }

    #[test]
    fn a_cleared_distribution_is_as_a_new_one(used in any_distribution(), next in any_distribution()) {
        let mut cleared = used;
        cleared.clear();
        prop_assert_eq!(told(&cleared), told(&Distribution::default()));
        prop_assert_eq!(cleared.payload(), None);
        cleared.merge(&next);
        prop_assert_eq!(told(&cleared), told(&next));
    }

    #[test]
    fn a_payload_comes_back_as_what_it_was_and_can_be_added_to(
        sent in any_distribution(), later in any_distribution(),
    ) {
        let Some(payload) = sent.payload() else {
            prop_assert_eq!(sent.count(), sent.infinite);
            return Ok(());
        };
        let mut back = Distribution::from_payload(&payload, sent.infinite).unwrap();
        prop_assert_eq!(told(&back), told(&sent));
        prop_assert_eq!(told(&merged(&sent, &back)), told(&merged(&sent, &sent)));
        back.merge(&later);
        prop_assert_eq!(told(&back), told(&merged(&sent, &later)));
        back.record(Nanos(LONGEST));
        prop_assert_eq!(back.summary().unwrap().max, of_nanos([LONGEST]).summary().unwrap().max);
    }

    #[test]
    fn what_lies_above_a_bound_is_counted_to_the_precision(
        lengths in vec(any_length(), 0..100), bound in any_length(), infinite in 0..4u64,
    ) {
        let found = and_infinite(of_nanos(lengths.iter().copied()), infinite).count_above(Nanos(bound)) - infinite;
        let doubt = (bound / 1_000).max(127);
        let above = |bound: u64| lengths.iter().filter(|length| **length > bound).count() as u64;
        prop_assert!(found >= above(bound + doubt), "{found} above {bound} of {lengths:?}");
        prop_assert!(found <= above(bound), "{found} above {bound} of {lengths:?}");
    }

    #[test]
    fn octaves_keep_every_duration_that_ended(lengths in vec(any_length(), 0..100), infinite in 0..4u64) {
        let octaves = and_infinite(of_nanos(lengths.iter().copied()), infinite).octaves();
        prop_assert_eq!(octaves.count(), lengths.len() as u64);
        for place in 0..Octaves::COUNT - 1 {
            let bound = Octaves::bound(place).0;
            let found: u64 = octaves.counts[..=place].iter().sum();
            let below = |bound: u64| lengths.iter().filter(|length| **length < bound).count() as u64;
            prop_assert!(found <= below(bound), "{found} below {bound}");
            prop_assert!(found >= below(bound - (bound / 1_000).max(127)), "{found} below {bound}");
        }
    }
}

#[test]
fn percentiles_are_within_a_thousandth() {
    let summary = of_millis(1..=1000).summary().unwrap();
    let Quantile::At(p99) = summary.p99 else { panic!("p99 ended") };
    assert!((p99.as_millis_f64() - 990.0).abs() < 1.0, "{p99}");
    assert!((summary.mean / 1e6 - 500.5).abs() < 0.6, "{}", summary.mean);
    assert_eq!(summary.count, 1000);
}

#[test]
fn every_quantile_of_a_summary_is_the_duration_of_its_rank() {
    let mut sorted: Vec<u64> =
        (1..=2_000u64).map(|turn| (turn * turn * 7_919) % 90_000_017 + 1_000).collect();
    let distribution = and_infinite(of_nanos(sorted.iter().copied()), 1);
    sorted.sort_unstable();
    let summary = distribution.summary().unwrap();
    let quantiles = [summary.p50, summary.p75, summary.p90, summary.p95, summary.p99, summary.p999];
    for (thousandths, value) in [500, 750, 900, 950, 990, 999].into_iter().zip(quantiles) {
        let exact = exact_of_rank(&sorted, (thousandths * 2_001u64).div_ceil(1_000)).unwrap();
        assert!(is_within_precision(value.nanos(), exact), "{thousandths}: {value} is not {exact} ns");
        assert_eq!(distribution.quantile(thousandths as f64 / 1_000.0), Some(value));
    }
    assert_eq!(distribution.quantile(1.0), Some(Quantile::Beyond(summary.max)));
}

/// Of `total` samples exactly the share ends: its percentile is the last that did, and one sample fewer makes it beyond.
#[test]
fn a_whole_rank_is_not_rounded_up_whatever_way_its_share_was_computed() {
    for total in [100u64, 700, 1_000] {
        for thousandths in (1..1_000).filter(|thousandths| (thousandths * total).is_multiple_of(1_000)) {
            let rank = thousandths * total / 1_000;
            let just = and_infinite(of_nanos(std::iter::repeat_n(1_000, rank as usize)), total - rank);
            let short =
                and_infinite(of_nanos(std::iter::repeat_n(1_000, rank as usize - 1)), total - rank + 1);
            for share in [thousandths as f64 / 1_000.0, thousandths as f64 / 10.0 / 100.0] {
                let (just, short) = (just.quantile(share), short.quantile(share));
                assert!(matches!(just, Some(Quantile::At(_))), "{share} of {total}: {just:?}");
                assert!(matches!(short, Some(Quantile::Beyond(_))), "{share} of {total}: {short:?}");
            }
        }
    }
}

#[test]
fn the_ends_of_the_scale_are_the_first_and_the_last() {
    let distribution = of_nanos([500_000, 1_000_000, 9_000_000]);
    let at = |share: f64| distribution.quantile(share).unwrap().nanos();
    for (share, exact) in [(0.0, 500_000), (-1.0, 500_000), (1.0, 9_000_000), (7.0, 9_000_000)] {
        assert!(is_within_precision(at(share), exact), "{share}: {}", at(share));
    }
    assert_eq!(at(f64::NAN), at(0.0));
}

#[test]
fn a_percentile_that_falls_on_what_never_ended_says_beyond() {
    let distribution = and_infinite(of_millis(1..=98), 2);
    assert!(matches!(distribution.quantile(0.5), Some(Quantile::At(_))));
    assert!(matches!(distribution.quantile(0.98), Some(Quantile::At(_))));
    let p99 = distribution.quantile(0.99).unwrap();
    assert!(matches!(p99, Quantile::Beyond(_)));
    assert!(p99.to_string().starts_with("> 98."), "{p99}");
    assert_eq!(p99.nanos(), Nanos::MAX);
    assert_eq!(format!("[{p99:>9}]"), format!("[{:>9}]", p99.to_string()), "it pads as a whole");
}

#[test]
fn only_what_never_ended_is_beyond_nothing() {
    let distribution = and_infinite(Distribution::default(), 1);
    assert_eq!(distribution.quantile(0.5), Some(Quantile::Beyond(Nanos::ZERO)));
    let summary = distribution.summary().unwrap();
    assert_eq!((summary.count, summary.infinite), (1, 1));
    assert_eq!((summary.mean, summary.min, summary.max), (0.0, Nanos::ZERO, Nanos::ZERO));
    assert_eq!(distribution.count_above(Nanos::MAX), 1);
    assert_eq!(distribution.payload(), None);
}

#[test]
fn what_lies_below_the_resolution_is_no_time_at_all() {
    let summary = of_nanos([0, 1, 64, 127]).summary().unwrap();
    assert_eq!(
        (summary.min, summary.max, summary.p50),
        (Nanos::ZERO, Nanos::ZERO, Quantile::At(Nanos::ZERO))
    );
    assert_eq!(summary.mean, 0.0, "the mean of no time is no time");
    assert!(of_nanos([128]).summary().unwrap().min > Nanos::ZERO);
}

#[test]
fn what_is_longer_than_two_hours_counts_as_two_hours() {
    let two_hours = of_nanos([7_200_000_000_000]);
    for nanos in [7_200_000_000_001, u64::MAX] {
        assert_eq!(told(&of_nanos([nanos])), told(&two_hours));
    }
    assert_eq!(two_hours.summary().unwrap().max.to_string(), "2h00m");
}

#[test]
fn a_payload_that_is_none_says_at_which_step() {
    let message = |payload: &str| Distribution::from_payload(payload, 0).unwrap_err().to_string();
    assert_eq!(message("not base64!"), "decode the base64 of a histogram");
    assert!(message("AAAA").starts_with("read an HDR V2 payload: "), "{}", message("AAAA"));
    let whole = of_millis(1..=1_000).payload().unwrap();
    let bytes = STANDARD.decode(&whole).unwrap();
    let cut = STANDARD.encode(&bytes[..40]);
    assert!(message(&cut).starts_with("read an HDR V2 payload: "), "{}", message(&cut));
    // What zlib says of its own bytes is heard.
    let mut altered = bytes.clone();
    *altered.last_mut().unwrap() ^= 1;
    let altered = message(&STANDARD.encode(altered));
    assert!(altered.starts_with("read an HDR V2 payload: "), "{altered}");
}

#[test]
fn a_payload_that_would_be_gigantic_is_refused_before_it_is_inflated_or_allocated_for() {
    let deflated = |inner: &[u8]| {
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut zlib, inner).unwrap();
        let zlib = zlib.finish().unwrap();
        let head = [0x1c84_9314_u32.to_be_bytes(), (zlib.len() as u32).to_be_bytes()].concat();
        STANDARD.encode([head, zlib].concat())
    };
    let mut head = vec![0_u8; 40];
    head[..4].copy_from_slice(&0x1c84_9313_u32.to_be_bytes());
    head[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    head[15] = 5;
    head[23] = 1;
    head[24..32].copy_from_slice(&(u64::MAX / 2).to_be_bytes());
    head[32..].copy_from_slice(&1.0_f64.to_be_bytes());
    for inner in [head, vec![0; 64 << 20]] {
        assert!(matches!(Distribution::from_payload(&deflated(&inner), 0), Err(PayloadError::Bounds)));
    }
}

#[test]
fn octaves_hold_what_ended_and_nothing_else() {
    let octaves = and_infinite(of_millis(1..=100), 1).octaves();
    assert_eq!(octaves.count(), 100);
    let below_a_millisecond = Octaves::place(Nanos::from_micros(999));
    assert_eq!(octaves.counts[..=below_a_millisecond].iter().sum::<u64>(), 0);
    assert_eq!(octaves.counts[Octaves::place(Nanos::from_millis(3))], 2, "2 ms and 3 ms");
    assert_eq!(Distribution::default().octaves().count(), 0);
}

#[test]
fn a_curve_has_the_percentiles_of_the_figures() {
    // So few that each is told from the next.
    let mut distribution = Distribution::default();
    (1..=100).for_each(|ms| distribution.record(Nanos::from_millis(ms)));
    let curve = distribution.curve(5);
    for share in [0.1, 0.3, 0.5, 0.75, 0.9, 0.95] {
        let point = curve.iter().find(|point| (point.share - share).abs() < 1e-9).unwrap();
        let Some(Quantile::At(duration)) = distribution.quantile(share) else { panic!() };
        assert_eq!((point.duration, point.count), (duration, (share * 100.0).round() as u64), "{share}");
    }
    let last = curve.last().unwrap();
    assert_eq!((last.share, last.count, last.duration), (1.0, 100, distribution.longest()));
}
