//! The curve of a series' response times in the form of HdrHistogram's percentile distributions (`.hgrm`), which its plotter and others read.

use std::fmt::Write as _;

use hammer_measure::histogram::{CurvePoint, Distribution};

use crate::report::Series;

/// The curve of the response times over measurement, in milliseconds; none where nothing ended, or the report has figures alone.
///
/// What never ended has no duration to be drawn at: the curve ends below 1, and a comment says how many there are.
pub fn response_times(series: &Series) -> Option<String> {
    let times = series.measurement.durations.response_time.as_ref()?;
    times
        .distribution()
        .filter(|distribution| distribution.count() > distribution.infinite())
        .map(|times| written(&times))
}

fn written(distribution: &Distribution) -> String {
    let mut text =
        format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let ms = |nanos: f64| nanos / 1e6;
    // A text takes whatever is written to it.
    for CurvePoint { duration, share, count } in distribution.curve(TICKS) {
        let _ = write!(text, "{:12.3} {share:.12} {count:10}", ms(duration.0 as f64));
        // Nothing is left above the last point.
        let _ = if share < 1.0 { writeln!(text, " {:14.2}", 1.0 / (1.0 - share)) } else { writeln!(text) };
    }
    let mean = distribution.summary().map_or(0.0, |summary| summary.mean);
    let deviation = distribution.deviation().unwrap_or_default();
    let _ = writeln!(text, "#[Mean    = {:12.3}, StdDeviation   = {:12.3}]", ms(mean), ms(deviation));
    let longest = distribution.longest().0 as f64;
    let _ = writeln!(text, "#[Max     = {:12.3}, Total count    = {:12}]", ms(longest), distribution.count());
    if distribution.infinite() > 0 {
        let _ = writeln!(text, "#[{} never ended, and lie above the last value]", distribution.infinite());
    }
    text
}

/// Points for each halving of what is left above.
const TICKS: u32 = 5;

#[cfg(test)]
mod tests {
    use hammer_measure::Nanos;

    use super::*;

    /// The values of a line.
    fn line(text: &str) -> Vec<f64> {
        text.split_whitespace().map(|cell| cell.parse().unwrap()).collect()
    }

    #[test]
    fn the_curve_goes_up_to_the_longest_and_says_how_many_are_below() {
        let mut distribution = Distribution::default();
        (1..=1_000).for_each(|ms| distribution.record(Nanos(ms * 1_000_000)));
        let text = written(&distribution);
        let lines: Vec<Vec<f64>> =
            text.lines().skip(2).take_while(|line| !line.starts_with('#')).map(line).collect();
        assert_eq!(lines[0][1..3], [0.0, 1.0]);
        let middle = lines.iter().find(|line| line[1] == 0.5).unwrap();
        assert!(
            (middle[0] - 500.0).abs() < 1.0 && (middle[2] - 500.0).abs() < 2.0 && middle[3] == 2.0,
            "{middle:?}"
        );
        let last = &lines[lines.len() - 1];
        assert!((last[0] - 1_000.0).abs() < 1.0 && last[1..] == [1.0, 1_000.0], "{last:?}");
        assert!(
            lines.is_sorted_by(|one, other| one[0] <= other[0] && one[1] <= other[1] && one[2] <= other[2])
        );
        assert!(text.contains("Total count    =         1000]") && !text.contains("never ended"), "{text}");
    }

    #[test]
    fn what_never_ended_is_above_the_end_of_the_curve() {
        let mut distribution = Distribution::default();
        (0..90).for_each(|_| distribution.record(Nanos(5_000_000)));
        (0..10).for_each(|_| distribution.record_infinite());
        let text = written(&distribution);
        let last = text.lines().rev().find(|line| !line.starts_with('#')).map(line).unwrap();
        assert_eq!(last[1..], [0.9, 90.0, 10.0]);
        assert!(text.ends_with("#[10 never ended, and lie above the last value]\n"), "{text}");
    }
}
