use super::*;

fn of_millis(range: std::ops::RangeInclusive<u64>) -> Distribution {
    let mut distribution = Distribution::default();
    range.for_each(|millis| distribution.record(Nanos::from_millis(millis)));
    distribution
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
    let mut distribution = Distribution::default();
    let mut sorted: Vec<u64> =
        (1..=2_000u64).map(|turn| (turn * turn * 7_919) % 90_000_017 + 1_000).collect();
    sorted.iter().for_each(|nanos| distribution.record(Nanos(*nanos)));
    distribution.record_infinite();
    sorted.sort_unstable();
    let summary = distribution.summary().unwrap();
    let quantiles = [summary.p50, summary.p75, summary.p90, summary.p95, summary.p99, summary.p999];
    for (share, value) in [0.5, 0.75, 0.9, 0.95, 0.99, 0.999].into_iter().zip(quantiles) {
        let rank = (share * 2_001.0f64).ceil() as usize;
        let exact = sorted[rank - 1] as f64;
        assert!((value.nanos().0 as f64 / exact - 1.0).abs() < 0.001, "{share}: {value} is not {exact} ns");
        assert_eq!(distribution.quantile(share), Some(value));
    }
    assert_eq!(distribution.quantile(1.0), Some(Quantile::Beyond(summary.max)));
}

#[test]
fn a_percentile_that_falls_on_what_never_ended_says_beyond() {
    let mut distribution = of_millis(1..=98);
    distribution.record_infinite();
    distribution.record_infinite();
    assert!(matches!(distribution.quantile(0.5), Some(Quantile::At(_))));
    let p99 = distribution.quantile(0.99).unwrap();
    assert!(matches!(p99, Quantile::Beyond(_)));
    assert!(p99.to_string().starts_with("> 98."), "{p99}");
    assert_eq!(p99.nanos(), Nanos::MAX);
}

#[test]
fn only_what_never_ended_is_beyond_nothing() {
    let mut distribution = Distribution::default();
    distribution.record_infinite();
    assert_eq!(distribution.quantile(0.5), Some(Quantile::Beyond(Nanos::ZERO)));
    assert_eq!(distribution.summary().unwrap().infinite, 1);
}

#[test]
fn merging_loses_nothing_and_a_payload_comes_back_whole() {
    let mut merged = of_millis(1..=500);
    merged.merge(&of_millis(501..=1000));
    let whole = of_millis(1..=1000);
    assert_eq!(merged.summary(), whole.summary());
    let back = Distribution::from_payload(&merged.payload().unwrap(), 3).unwrap();
    assert_eq!(back.count(), 1003);
    assert_eq!(back.count_above(Nanos::from_millis(999)), whole.count_above(Nanos::from_millis(999)) + 3);
    assert!(Distribution::from_payload("AAAA", 0).is_err());
    assert!(Distribution::from_payload("not base64!", 0).is_err());
}

#[test]
fn octaves_hold_what_ended_and_nothing_else() {
    let mut distribution = of_millis(1..=100);
    distribution.record_infinite();
    let octaves = distribution.octaves();
    assert_eq!(octaves.count(), 100);
    let below_a_millisecond = Octaves::place(Nanos::from_micros(999));
    assert_eq!(octaves.counts[..=below_a_millisecond].iter().sum::<u64>(), 0);
    assert_eq!(octaves.counts[Octaves::place(Nanos::from_millis(3))], 2, "2 ms and 3 ms");
    assert_eq!(Distribution::default().octaves().count(), 0);
}

#[test]
fn clearing_forgets_all() {
    let mut distribution = of_millis(1..=10);
    distribution.record_infinite();
    distribution.clear();
    assert_eq!(distribution.count(), 0);
    assert_eq!(distribution.summary(), None);
}

/// Of `total` samples exactly the share ends: its percentile is the last that did, and one sample fewer makes it beyond.
#[test]
fn a_whole_rank_is_not_rounded_up_whatever_way_its_share_was_computed() {
    let of = |ended: u64, infinite: u64| {
        let mut distribution = Distribution::default();
        (0..ended).for_each(|_| distribution.record(Nanos(1_000)));
        (0..infinite).for_each(|_| distribution.record_infinite());
        distribution
    };
    for total in [100u64, 700, 1_000] {
        for thousandths in (1..1_000).filter(|thousandths| (thousandths * total).is_multiple_of(1_000)) {
            let rank = thousandths * total / 1_000;
            for share in [thousandths as f64 / 1_000.0, thousandths as f64 / 10.0 / 100.0] {
                let just = of(rank, total - rank).quantile(share);
                assert!(matches!(just, Some(Quantile::At(_))), "{share} of {total}: {just:?}");
            }
        }
    }
}

#[test]
fn what_lies_below_the_resolution_is_no_time_at_all() {
    let mut distribution = Distribution::default();
    [0, 1, 64, 127].map(Nanos).iter().for_each(|nanos| distribution.record(*nanos));
    let summary = distribution.summary().unwrap();
    assert_eq!(
        (summary.min, summary.max, summary.p50),
        (Nanos::ZERO, Nanos::ZERO, Quantile::At(Nanos::ZERO))
    );
    assert_eq!(summary.mean, 0.0, "the mean of no time is no time");
}

#[test]
fn what_came_back_from_a_payload_takes_longer_durations_than_it_has() {
    let mut back = Distribution::from_payload(&of_millis(1..=5).payload().unwrap(), 0).unwrap();
    let mut whole = of_millis(1..=5);
    for distribution in [&mut back, &mut whole] {
        distribution.merge(&of_millis(5_000..=5_001));
        distribution.record(Nanos(LONGEST));
    }
    assert_eq!(back.summary(), whole.summary());
}
