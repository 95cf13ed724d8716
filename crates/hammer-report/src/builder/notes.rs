//! What the reader must know about the figures of a series, as sentences.

use crate::report::{Series, SeriesKind};
use crate::text::number::grouped;

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
