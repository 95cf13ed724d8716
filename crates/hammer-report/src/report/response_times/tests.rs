use hammer_measure::{Detail, Fate, Nanos, Outcome, Phase};

use super::*;
use crate::fixture::{Story, operation};

const PATHS: [&str; 2] = ["submit/add-chain", "reads/tile"];

fn paths() -> Vec<String> {
    PATHS.map(str::to_owned).to_vec()
}

/// A run of so many seconds, looked at after each of them. In each n-th up to six operations of the first series end, the i-th after i times n ms
/// and what the fixture adds, and one never does where n is odd.
fn run(seconds: u64, mut look: impl FnMut(u64, &ResponseTimeline)) -> ResponseTimeline {
    let mut timeline = ResponseTimeline::default();
    for second in 1..=seconds {
        // The figures of the run so far are another's matter, and slow to make.
        let mut story = Story::new(vec![operation("submit", "add-chain"), operation("reads", "tile")]);
        let end = (Outcome::Accepted, Detail::default());
        story.end((0, Phase::Measurement), second % 7, Nanos::from_millis(second), end);
        story.never(0, Fate::Shed, second % 2);
        story.interval(Phase::Measurement);
        let mut snapshot = Snapshot::clone(&story.last_snapshot());
        snapshot.at = Nanos::from_secs(second);
        timeline.push(&snapshot);
        look(second, &timeline);
    }
    timeline
}

fn check(seconds: u64, timeline: &ResponseTimeline) {
    let all = timeline.of_series(&paths());
    assert_eq!(all.iter().map(|times| &*times.path).collect::<Vec<_>>(), PATHS);
    let (mut second, mut end) = (1, 0);
    for (stretch, other) in all[0].stretches.iter().zip(&all[1].stretches) {
        assert_eq!((stretch.at_ns, stretch.span_ns), (other.at_ns, other.span_ns));
        assert_eq!((other.count, other.infinite, &other.hdr), (0, 0, &None));
        end += stretch.span_ns;
        assert_eq!(stretch.at_ns, end, "they follow one another");
        let of = second..=stretch.at_ns / 1_000_000_000;
        let mut expected = Distribution::default();
        for second in of.clone() {
            let before = Nanos::from_micros(125);
            (1..=second % 7).for_each(|index| expected.record(before + Nanos::from_millis(index * second)));
            (0..second % 2).for_each(|_| expected.record_infinite());
        }
        assert_eq!(stretch.distribution().unwrap(), expected, "{of:?} of {seconds}");
        second = of.end() + 1;
    }
    assert_eq!(second, seconds + 1);
}

#[test]
fn neighbours_are_merged_as_histograms_and_nothing_is_lost() {
    let mut fewest = MOST_STRETCHES;
    run(1_900, |second, timeline| {
        let length = timeline.stretches.len() + usize::from(timeline.open.intervals > 0);
        assert!(length <= MOST_STRETCHES, "{length} after {second} s");
        if second > 600 {
            fewest = fewest.min(length);
        }
        let spans = || timeline.stretches.iter().map(|stretch| stretch.span_ns / 1_000_000_000);
        match second {
            1 | 2 | 598 | 600 | 601 | 700 | 1_205 | 1_900 => check(second, timeline),
            // Pairs have been merged from the first to the last.
            899 => assert!(spans().all(|seconds| seconds == 2), "{:?}", spans().collect::<Vec<_>>()),
            _ => {}
        }
    });
    assert!(fewest >= MOST_STRETCHES / 2, "{fewest}");
}

#[test]
fn a_payload_that_has_not_as_many_is_none() {
    let timeline = run(3, |_, _| {});
    let stretch = timeline.of_series(&paths())[0].stretches[2].clone();
    assert_eq!((stretch.count, stretch.infinite), (4, 1));
    assert!(ResponseStretch { count: 5, ..stretch.clone() }.distribution().is_none());
    assert!(ResponseStretch { hdr: Some("no".to_owned()), ..stretch }.distribution().is_none());
}
