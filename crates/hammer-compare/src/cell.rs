//! Figures as they stand in tables.

use hammer_report::text::number::grouped;

use crate::metric::Metric;
use crate::sample::Sample;

pub(crate) fn mean(metric: Metric, sample: &Sample) -> String {
    sample.mean().map_or_else(none, |mean| shown_of(metric, mean))
}

/// What is beyond all that was measured is no number.
pub(crate) fn shown_of(metric: Metric, figure: f64) -> String {
    if figure.is_finite() { metric.shown(figure) } else { "beyond".to_owned() }
}

/// A figure of which a time has four digits: runs of one variant may differ by less than three of them tell.
pub(crate) fn precise(metric: Metric, figure: f64) -> String {
    let unit = [("s", 1e9), ("ms", 1e6), ("us", 1e3)].into_iter().find(|(_, nanos)| figure >= *nanos);
    match unit.filter(|_| metric != Metric::Rate && figure.is_finite()) {
        Some((unit, nanos)) => {
            let number = figure / nanos;
            format!("{number:.0$}{unit}", (3 - number.log10().floor() as i32).clamp(0, 3) as usize)
        }
        None => shown_of(metric, figure),
    }
}

pub(crate) fn variation(sample: &Sample) -> String {
    let variation = sample.variation().filter(|variation| variation.is_finite());
    variation.map_or_else(none, |variation| format!("{:.1} %", variation * 100.0))
}

/// A ratio in three digits: `46.9`, `0.031`; near 1 in four.
pub(crate) fn shown(ratio: f64) -> String {
    match ratio {
        0.0 => "0".to_owned(),
        ratio if ratio < 1e-4 => "<0.0001".to_owned(),
        ratio if ratio > 1e4 => ">10,000".to_owned(),
        0.9..1.1 => format!("{ratio:.3}"),
        ratio => format!("{ratio:.0$}", (2 - ratio.log10().floor() as i32).clamp(0, 4) as usize),
    }
}

pub(crate) fn none() -> String {
    "-".to_owned()
}

/// A ratio with its sign: `46.9x`.
pub(crate) fn times(ratio: f64) -> String {
    format!("{}x", shown(ratio))
}

/// By how much a figure is greater than the first: `+3.05s`; beyond all that was measured is no number.
pub(crate) fn difference(metric: Metric, first: f64, own: f64) -> String {
    signed(own - first, |difference| metric.shown(difference))
}

/// The same of which a time has four digits.
pub(crate) fn precise_difference(metric: Metric, first: f64, own: f64) -> String {
    signed(own - first, |difference| precise(metric, difference))
}

fn signed(difference: f64, shown: impl Fn(f64) -> String) -> String {
    let sign = if difference < 0.0 { "-" } else { "+" };
    if difference.is_finite() { format!("{sign}{}", shown(difference.abs())) } else { none() }
}

/// By how much of the first a figure is greater: `+31.5 %`.
pub(crate) fn change(first: f64, own: f64) -> String {
    let change = (own / first - 1.0) * 100.0;
    if change.is_finite() { format!("{change:+.1} %") } else { none() }
}

/// A share of which all is all: `99.96 %`, and `100 %` of nothing less.
pub(crate) fn share(share: f64) -> String {
    match share {
        1.0 => "100 %".to_owned(),
        // What would round up to all is less.
        share if share > 0.999_95 => ">99.99 %".to_owned(),
        share => format!("{:.2} %", share * 100.0),
    }
}

/// A number in three digits, a great one whole: `0.0645`, `15,517`.
pub(crate) fn significant(number: f64) -> String {
    match number {
        0.0 => "0".to_owned(),
        number if !number.is_finite() => none(),
        number if number < 0.0 => format!("-{}", significant(-number)),
        number if number < 5e-7 => "<0.000001".to_owned(),
        number if number >= 999.5 => grouped(number.round() as u64),
        number => format!("{number:.0$}", (2 - number.log10().floor() as i32).clamp(0, 6) as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_three_digits() {
        let all = [46.91, 0.0311, 1.0, 0.996, 1.234, 320.6].map(shown);
        assert_eq!(all, ["46.9", "0.0311", "1.000", "0.996", "1.23", "321"]);
        let all = [0.0, 0.000_04, 12_345.0, f64::INFINITY].map(shown);
        assert_eq!(all, ["0", "<0.0001", ">10,000", ">10,000"]);
    }

    #[test]
    fn what_is_less_than_all_is_never_told_as_all() {
        assert_eq!([1.0, 0.9996, 0.999_999, 0.0].map(share), ["100 %", "99.96 %", ">99.99 %", "0.00 %"]);
        assert_eq!(change(985.0, 1295.0), "+31.5 %");
        assert_eq!(change(230.0, 174.0), "-24.3 %");
        assert_eq!([change(0.0, 1.0), difference(Metric::P95, 1.0, f64::INFINITY)], ["-", "-"]);
        assert_eq!(difference(Metric::P95, 68e6, 3_121e6), "+3.05s");
        assert_eq!(precise_difference(Metric::P95, 3_121e6, 68e6), "-3.053s");
        let all =
            [3_121e6, 66.8e6, 999.0, 1_234.0, 0.0, f64::INFINITY].map(|time| precise(Metric::P95, time));
        assert_eq!(all, ["3.121s", "66.80ms", "999ns", "1.234us", "0s", "beyond"]);
        assert_eq!(precise(Metric::Rate, 931.0), "931/s");
        let all = [0.064_446, 15_516.7, 0.0, 1.0, -0.4, 1e-8].map(significant);
        assert_eq!(all, ["0.0644", "15,517", "0", "1.00", "-0.400", "<0.000001"]);
    }
}
