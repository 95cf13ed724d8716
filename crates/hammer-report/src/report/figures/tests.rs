use proptest::prelude::*;

use super::*;
use crate::fixture::any::{any_run, told};

fn any_figure() -> impl Strategy<Value = Nanoseconds> {
    (any::<u64>(), any::<bool>()).prop_map(|(nanos, unbounded)| Nanoseconds::of(nanos, unbounded))
}

fn any_counts() -> impl Strategy<Value = Counts> {
    let ends = prop::array::uniform10(0..1_000u64);
    (ends, prop::array::uniform6(0..1_000u64), -500..500i64, -500..500i64).prop_map(
        |(ends, counts, backlog, in_flight)| {
            let [dispatched, completed, resent, redialled, bytes_out, bytes_in] = counts;
            let fates = Fates::new(&ends, backlog, in_flight);
            Counts {
                offered: fates.ended(),
                dispatched,
                completed,
                resent,
                redialled,
                bytes_out,
                bytes_in,
                fates,
            }
        },
    )
}

fn sum(one: Counts, other: &Counts) -> Counts {
    let mut all = one;
    all.add(other);
    all
}

/// A distribution of these nanoseconds, and of so many that never ended.
fn distribution(nanos: &[u64], infinite: u64) -> Distribution {
    let mut distribution = Distribution::default();
    nanos.iter().for_each(|nanos| distribution.record(Nanos(*nanos)));
    (0..infinite).for_each(|_| distribution.record_infinite());
    distribution
}

proptest! {
    #[test]
    fn the_longer_of_two_is_one_of_them_in_whatever_order(
        a in any_figure(), b in any_figure(), c in any_figure(),
    ) {
        prop_assert!(a.longer(b) == a || a.longer(b) == b);
        prop_assert_eq!(a.longer(b), b.longer(a));
        prop_assert_eq!(a.longer(b).longer(c), a.longer(b.longer(c)));
        let unbounded = matches!(a, Nanoseconds::Beyond { .. }) || matches!(b, Nanoseconds::Beyond { .. });
        prop_assert_eq!(matches!(a.longer(b), Nanoseconds::Beyond { .. }), unbounded);
    }

    #[test]
    fn a_figure_is_never_a_bare_number_when_it_has_no_end(figure in any_figure()) {
        let json = serde_json::to_value(figure).unwrap();
        prop_assert_eq!(serde_json::from_value::<Nanoseconds>(json.clone()).unwrap(), figure);
        match figure {
            Nanoseconds::At(nanos) => prop_assert_eq!(json.as_u64(), Some(nanos)),
            Nanoseconds::Beyond { beyond_ns } => prop_assert_eq!(json["beyond_ns"].as_u64(), Some(beyond_ns)),
        }
        let text = figure.to_string();
        prop_assert_eq!(text.starts_with("> "), !json.is_u64());
        prop_assert_eq!(text.trim_start_matches("> "), Nanos(figure.least()).to_string());
    }

    #[test]
    fn counts_add_up_field_by_field(a in any_counts(), b in any_counts(), c in any_counts()) {
        prop_assert_eq!(sum(a, &b), sum(b, &a));
        prop_assert_eq!(sum(sum(a, &b), &c), sum(a, &sum(b, &c)));
        prop_assert_eq!(sum(a, &Counts::default()), a);
        let all = serde_json::to_value(sum(a, &b)).unwrap();
        let (one, other) = (serde_json::to_value(a).unwrap(), serde_json::to_value(b).unwrap());
        for (key, total) in all.as_object().unwrap().iter().chain(all["fates"].as_object().unwrap()) {
            let of = |counts: &serde_json::Value| counts.get(key).or(counts["fates"].get(key)).unwrap().as_i64();
            prop_assert_eq!(total.as_i64(), of(&one).zip(of(&other)).map(|(one, other)| one + other), "{}", key);
        }
    }

    #[test]
    fn counts_balance_when_the_twelve_fates_are_what_was_offered(counts in any_counts()) {
        let open = counts.fates.backlog + counts.fates.in_flight;
        prop_assert_eq!(counts.balances(), open == 0);
        let offered = counts.offered.checked_add_signed(open);
        let balanced = offered.map(|offered| Counts { offered, ..counts });
        prop_assert!(balanced.is_none_or(|balanced| balanced.balances()));
    }

    #[test]
    fn the_figures_of_a_distribution_are_its_own_and_its_payload_brings_it_back(
        nanos in prop::collection::vec(0..20_000_000u64, 0..50), infinite in 0..4u64,
    ) {
        let distribution = distribution(&nanos, infinite);
        let Some(durations) = Durations::of(&distribution) else {
            prop_assert_eq!(distribution.count(), 0);
            return Ok(());
        };
        let summary = distribution.summary().unwrap();
        prop_assert_eq!(&durations, &Durations { hdr: distribution.payload(), ..Durations::from(&summary) });
        prop_assert_eq!((durations.count, durations.infinite), (summary.count, infinite));
        let figures = [durations.p50_ns, durations.p75_ns, durations.p90_ns, durations.p95_ns, durations.p99_ns];
        let exact = [summary.p50, summary.p75, summary.p90, summary.p95, summary.p99].map(Nanoseconds::from);
        prop_assert_eq!(figures, exact);
        prop_assert_eq!(durations.p99_9_ns, Nanoseconds::from(summary.p999));
        let back = durations.distribution().unwrap();
        prop_assert_eq!((back.summary(), back.count()), (Some(summary), durations.count));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_record_and_its_snapshot_have_the_same_figures(chapters in any_run()) {
        let story = told(&chapters);
        for record in story.result().total.series.iter().flatten() {
            let figures = snapshot::SeriesFigures::of(record);
            prop_assert_eq!(Counts::from(&figures), Counts::of(record));
            let (of_record, of_snapshot) = (DurationTable::of(record), DurationTable::from(&figures));
            let bare = |table: &DurationTable| -> Vec<(String, Durations)> {
                let named = table.entries().filter(|(name, _)| Fate::from_name(name).is_none());
                named.map(|(name, all)| (name.to_owned(), Durations { hdr: None, ..all.clone() })).collect()
            };
            prop_assert_eq!(bare(&of_record), bare(&of_snapshot), "exactly, but for the payloads");
            for fate in Fate::ALL {
                let count = of_record.response_time_by_fate.get(fate.name()).map_or(0, |durations| durations.count);
                prop_assert_eq!(count, record.fate(fate), "{}", fate);
            }
        }
    }
}

#[test]
fn the_keys_of_fates_are_their_names() {
    let ends = std::array::from_fn(|index| index as u64 + 1);
    let fates = Fates::new(&ends, -3, 4);
    let json = serde_json::to_value(fates).unwrap();
    for (name, count) in fates.entries() {
        assert_eq!(json[name].as_i64(), Some(count), "{name}");
    }
    assert_eq!(json.as_object().unwrap().len(), fates.entries().count());
    assert_eq!((fates.ended(), fates.failed(), fates.answered()), (55, 54, 15));
    for (fate, count) in Fate::ALL.into_iter().zip(ends) {
        assert_eq!(fates.of(fate), count, "{fate}");
    }
}

#[test]
fn what_never_ended_is_longer_than_all_that_did() {
    let (short, long) = (Nanoseconds::At(5), Nanoseconds::At(9));
    let beyond = Nanoseconds::Beyond { beyond_ns: 1 };
    assert_eq!(short.longer(long), long);
    assert_eq!(long.longer(beyond), beyond);
    assert_eq!(beyond.longer(long), beyond);
    assert_eq!(serde_json::to_string(&[long, beyond]).unwrap(), r#"[9,{"beyond_ns":1}]"#);
}

#[test]
fn mean_and_longest_have_no_end_as_soon_as_one_arrival_has_none() {
    let all_ended = Durations::of(&distribution(&[1_000_000; 100], 0)).unwrap();
    assert!(
        [all_ended.mean_ns, all_ended.min_ns, all_ended.max_ns]
            .iter()
            .all(|f| matches!(f, Nanoseconds::At(_)))
    );
    let one_never = Durations::of(&distribution(&[1_000_000; 100], 1)).unwrap();
    assert_eq!(one_never.min_ns, all_ended.min_ns);
    assert_eq!(one_never.mean_ns, Nanoseconds::Beyond { beyond_ns: all_ended.mean_ns.least() });
    assert_eq!(one_never.max_ns, Nanoseconds::Beyond { beyond_ns: all_ended.max_ns.least() });
    assert_eq!((one_never.p99_ns, one_never.p99_9_ns), (all_ended.p99_ns, one_never.max_ns));
    let none_ended = Durations::of(&distribution(&[], 2)).unwrap();
    assert_eq!(none_ended.min_ns, Nanoseconds::Beyond { beyond_ns: 0 });
    assert_eq!((none_ended.count, none_ended.infinite, none_ended.hdr), (2, 2, None));
}

#[test]
fn a_payload_that_is_missing_or_damaged_gives_no_distribution() {
    let durations = Durations::of(&distribution(&[5_000], 0)).unwrap();
    assert!(Durations { hdr: None, ..durations.clone() }.distribution().is_none());
    assert!(Durations { hdr: Some("AAAA".to_owned()), ..durations }.distribution().is_none());
}

#[test]
fn rates_are_counts_per_second() {
    let fates = Fates { accepted: 30, refused: 10, ..Fates::default() };
    let counts = Counts { offered: 100, dispatched: 50, completed: 40, fates, ..Counts::default() };
    let ended = EndCounts { completed: 30, accepted: 25 };
    let rates = counts.rates(ended, [500, 250], 2.5).unwrap();
    assert_eq!((rates.offered_per_s, rates.dispatched_per_s), (40.0, 20.0));
    assert_eq!((rates.completed_per_s, rates.accepted_per_s), (12.0, 10.0), "the rest ended later");
    assert_eq!((rates.bytes_out_per_s, rates.bytes_in_per_s), (200.0, 100.0));
    for no_time in [0.0, -1.0, f64::NAN] {
        assert_eq!(counts.rates(ended, [0; 2], no_time), None);
    }
}
