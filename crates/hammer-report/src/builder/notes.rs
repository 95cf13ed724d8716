//! What the reader must know about the figures of a series, as sentences.

use crate::report::overload::Overload;
use crate::report::{Interval, Series, SeriesKind};
use crate::text::number::{grouped, per_second};

/// That the target took less than it was offered for as long as it was measured.
pub(super) fn overload(series: &Series, intervals: &[Interval]) -> Option<String> {
    let Overload { grew_per_s, to, took_per_s, offered_per_s } = Overload::of(series, intervals)?;
    Some(format!(
        "waiting and under way grew all through, by {} to {}: the target took {} of the {} offered",
        per_second(grew_per_s),
        grouped(to),
        per_second(took_per_s),
        per_second(offered_per_s),
    ))
}

/// That more than a hundredth of what was completed ended too late for any rate.
pub(super) fn in_drain(series: &Series) -> Option<String> {
    let completed = series.warm_up.counts.completed + series.measurement.counts.completed;
    let late = series.in_drain.completed;
    let what = match series.kind {
        SeriesKind::Operation => "operations",
        SeriesKind::Step => "steps",
    };
    (late.saturating_mul(100) > completed).then(|| {
        let (late, completed) = (grouped(late), grouped(completed));
        format!(
            "{late} of {completed} completed {what} ended in drain, after the measured time; they are in no rate"
        )
    })
}

#[cfg(test)]
mod tests {
    use hammer_measure::{Nanos, Phase};

    use crate::fixture::{Story, operation, report_of, step};

    /// The notes of a series of so many operations that end in time, and so many that do not.
    fn notes(in_time: u64, late: u64) -> Vec<String> {
        let mut story = Story::new(vec![operation("web", "get"), step("web", "post")]);
        story.accept(0, Phase::Measurement, in_time, Nanos::from_micros(1));
        story.ends_within(Phase::Drain);
        story.accept(0, Phase::Measurement, late, Nanos::from_micros(1));
        (0..late).for_each(|_| story.step(1, Nanos::from_millis(1)));
        story.interval(Phase::Measurement);
        let series = report_of(&story.finish(|_| {})).series;
        series.into_iter().flat_map(|series| series.notes).collect()
    }

    #[test]
    fn what_waits_longer_and_longer_is_told_with_what_the_target_took() {
        let mut story = Story::new(vec![operation("web", "get")]);
        story.interval(Phase::WarmUp);
        for _ in 0..10 {
            story.accept(0, Phase::Measurement, 500, Nanos::from_micros(1));
            story.wait((0, Phase::Measurement), 500);
            story.interval(Phase::Measurement);
        }
        let notes = report_of(&story.finish(|_| {})).series.remove(0).notes;
        let expected = "waiting and under way grew all through, by 500/s to 5,000: the target took 500/s of the 1,000/s offered";
        assert_eq!(notes, [expected]);
    }

    #[test]
    fn what_no_rate_has_is_told_above_a_hundredth() {
        assert_eq!(notes(1_980, 0), Vec::<String>::new());
        let late = "2 of 2 completed steps ended in drain, after the measured time; they are in no rate";
        assert_eq!(notes(198, 2), [late]);
        let many = notes(1_000, 1_000);
        assert_eq!(
            many[0],
            "1,000 of 2,000 completed operations ended in drain, after the measured time; they are in no rate"
        );
    }
}
