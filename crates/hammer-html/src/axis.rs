//! Axes of charts: what they reach from and to, and where they are labelled.

use hammer_measure::{Nanos, shown_lines};
use hammer_report::text::number::grouped;
use plotters::coord::ranged1d::{KeyPointHint, KeyPointWeight, NoDefaultFormatting, Ranged, ValueFormatter};

/// An axis. Its places are numbers that grow evenly along it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Labels, and their places.
    pub(crate) ticks: Vec<(f64, String)>,
    scale: Scale,
}

/// How a value becomes a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    Linear,
    Logarithmic,
    /// Of shares: by the logarithm of what is left above.
    Tail,
}

impl Axis {
    /// From zero to `most`, or a little further, with a label for each value.
    pub(crate) fn linear(most: f64, label: impl Fn(f64) -> String) -> Self {
        let step = even_step(most.max(f64::MIN_POSITIVE));
        let count = (most / step).ceil().max(1.0);
        let places = (0..=count as usize).map(|index| index as f64 * step);
        Self {
            from: 0.0,
            to: count * step,
            ticks: places.map(|place| (place, label(place))).collect(),
            scale: Scale::Linear,
        }
    }

    /// From `least`, or zero where that is more, to `most`, or a little further.
    pub(crate) fn between(least: f64, most: f64, label: impl Fn(f64) -> String) -> Self {
        let (least, most) = (least.min(0.0), most.max(0.0));
        let step = even_step((most - least).max(f64::MIN_POSITIVE));
        let (first, last) = ((least / step).floor(), (most / step).ceil());
        let places = (0..=(last - first) as usize).map(|index| (first + index as f64) * step);
        let ticks = places.map(|place| (place, label(place))).collect();
        Self { from: first * step, to: last.max(first + 1.0) * step, ticks, scale: Scale::Linear }
    }

    /// The same with a line above all of them, for what never ended.
    #[must_use]
    pub(crate) fn with_never(mut self) -> Self {
        self.to += 0.5;
        self.ticks.push((self.to, "never".to_owned()));
        self
    }

    /// Durations from the power of ten below `least` to that above `most`.
    pub(crate) fn durations(least: Nanos, most: Nanos) -> Self {
        let from = (least.0.max(1) as f64).log10().floor();
        let to = (most.0.max(1) as f64).log10().ceil().max(from + 1.0);
        let places = (from as i32..=to as i32).map(f64::from);
        let label = |place: f64| power_of_ten(Nanos(10_f64.powf(place).round() as u64));
        Self {
            from,
            to,
            ticks: places.map(|place| (place, label(place))).collect(),
            scale: Scale::Logarithmic,
        }
    }

    /// Labels side by side, the n-th at n and a half.
    pub(crate) fn labelled(labels: Vec<String>) -> Self {
        let to = labels.len().max(1) as f64;
        let places = labels
            .into_iter()
            .enumerate()
            .map(|(place, label)| (place as f64 + 0.5, shown_lines(&label).into_owned()));
        Self { from: 0.0, to, ticks: places.collect(), scale: Scale::Linear }
    }

    /// Time of a run, by its ends since the start of it, in the unit that suits its length.
    pub(crate) fn time(from: Nanos, to: Nanos) -> Self {
        let (seconds, unit) = match to.since(from).as_secs_f64() {
            0.0..300.0 => (1.0, "s"),
            300.0..18_000.0 => (60.0, "min"),
            _ => (3_600.0, "h"),
        };
        let least = from.as_secs_f64() / seconds;
        let most = (to.as_secs_f64() / seconds).max(least + f64::MIN_POSITIVE);
        let ticks_of = |step: f64| {
            // A multiple that floating point puts a little beyond an end stands at it.
            let (first, last) = ((least / step - SLACK).ceil(), (most / step + SLACK).floor());
            let places = (0..=(last - first).max(0.0) as usize).map(|index| (first + index as f64) * step);
            let tick = |place: f64| (place * seconds, format!("{} {unit}", trimmed(place)));
            places.map(tick).collect::<Vec<_>>()
        };
        let mut ticks = ticks_of(even_step(most - least));
        // Late in a long run labels are long: fewer of them are there.
        if ticks.iter().map(|(_, label)| label.len()).sum::<usize>() > MOST_LETTERS {
            ticks = ticks_of(even_step(2.5 * (most - least)));
        }
        Self { from: least * seconds, to: most * seconds, ticks, scale: Scale::Linear }
    }

    /// Shares of `count` durations that are no longer: 0, 90 %, 99 % and so on, as far as a duration lies above.
    pub(crate) fn shares(count: u64) -> Self {
        let to = (count.max(10) as f64).log10();
        let label = |nines: i32| match nines {
            0 => "0 %".to_owned(),
            1 => "90 %".to_owned(),
            2 => "99 %".to_owned(),
            more => format!("99.{} %", "9".repeat(more as usize - 2)),
        };
        let ticks = (0..=to as i32).map(|nines| (f64::from(nines), label(nines))).collect();
        Self { from: 0.0, to, ticks, scale: Scale::Tail }
    }

    /// Where a value stands, within the axis.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let place = match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic => value.max(1.0).log10(),
            Scale::Tail => -(1.0 - value).max(f64::MIN_POSITIVE).log10(),
        };
        place.clamp(self.from, self.to)
    }

    /// Where a value stands, from 0 at the axis's start to 1 at its end.
    pub(crate) fn share(&self, value: f64) -> f64 {
        (self.place(value) - self.from) / (self.to - self.from)
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (first, last): (i32, i32)) -> i32 {
        let share = (place - self.from) / (self.to - self.from);
        first + (f64::from(last - first) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // The crate asks for lines between the labelled ones as well.
        match hint.weight() {
            KeyPointWeight::Bold => self.ticks.iter().map(|(place, _)| *place).collect(),
            KeyPointWeight::Any => Vec::new(),
        }
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, place: &f64) -> String {
        let tick = self.ticks.iter().find(|(tick, _)| tick == place);
        tick.map_or_else(String::new, |(_, label)| label.clone())
    }
}

/// Of a step, by which a label may lie beyond the axis.
const SLACK: f64 = 1e-6;
/// Letters of all labels of time at most, so that they do not touch.
const MOST_LETTERS: usize = 44;

/// A step of 1, 2 or 5 and zeros that goes four to ten times into `most`.
fn even_step(most: f64) -> f64 {
    let power = 10_f64.powf((most / 4.0).log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|of| of * power);
    steps.into_iter().find(|step| most / step >= 4.0).unwrap_or(power)
}

/// A number without the digits that floating point adds at its end.
pub(crate) fn trimmed(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number in seven columns at most: `2,500`, `150k`, `1.5M`.
pub(crate) fn short(value: f64) -> String {
    let (unit, name) = match value {
        _ if value < 0.0 => return format!("-{}", short(-value)),
        _ if value > 0.0 && value < 1e-3 => return format!("{value:.0e}"),
        10_000.0..1e6 => (1e3, "k"),
        1e6..1e9 => (1e6, "M"),
        1e9..1e12 => (1e9, "G"),
        1e12.. => (1e12, "T"),
        _ if value >= 1_000.0 => return grouped(value as u64),
        _ => (1.0, ""),
    };
    format!("{}{name}", trimmed(value / unit))
}

/// A rate in as few: `150k/s`.
pub(crate) fn short_rate(rate: f64) -> String {
    format!("{}/s", short(rate))
}

/// A power of ten: `10us`, `1s`.
fn power_of_ten(duration: Nanos) -> String {
    let (unit, name) = match duration.0 {
        0..1_000 => (1.0, "ns"),
        1_000..1_000_000 => (1e3, "us"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{}{name}", trimmed(duration.0 as f64 / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn axes_reach_beyond_what_they_show_and_are_labelled_evenly() {
        let rates = |most: f64| Axis::linear(most, trimmed);
        assert_eq!(labels(&rates(930.0)), ["0", "200", "400", "600", "800", "1000"]);
        assert_eq!(labels(&rates(4.0)), ["0", "1", "2", "3", "4"]);
        assert_eq!(rates(0.0).ticks.len(), 2);
        for most in [0.001, 0.7, 1.0, 9.99, 10.0, 51.0, 1e6, 123_456_789.0] {
            let axis = rates(most);
            assert!(axis.to >= most && (4..=11).contains(&axis.ticks.len()), "{most}: {axis:?}");
        }
    }

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 0.035, 950.0, 2_500.0, 10_000.0, 150_000.0, 1_500_000.0, 2e9, 3e12].map(short);
        assert_eq!(short_rate(120_000.0), "120k/s");
        assert_eq!(shown, ["0", "0.035", "950", "2,500", "10k", "150k", "1.5M", "2G", "3T"]);
    }

    #[test]
    fn durations_are_labelled_by_powers_of_ten() {
        let axis = Axis::durations(Nanos::from_micros(120), Nanos::from_millis(1_500));
        assert_eq!(labels(&axis), ["100us", "1ms", "10ms", "100ms", "1s", "10s"]);
        assert_eq!(axis.place(1e6), 6.0);
        assert_eq!((axis.place(0.0), axis.place(1e12)), (5.0, 10.0));
        assert_eq!(labels(&Axis::durations(Nanos(1_000), Nanos(1_000))), ["1us", "10us"]);
    }

    #[test]
    fn time_is_in_the_unit_that_suits_its_length() {
        assert_eq!(
            labels(&Axis::time(Nanos::ZERO, Nanos::from_secs(35))),
            ["0 s", "5 s", "10 s", "15 s", "20 s", "25 s", "30 s", "35 s"]
        );
        assert_eq!(labels(&Axis::time(Nanos::ZERO, Nanos::from_secs(3_630)))[5..], ["50 min", "60 min"]);
        assert_eq!(Axis::time(Nanos::ZERO, Nanos::from_secs(36_000)).ticks[1], (7_200.0, "2 h".to_owned()));
    }

    #[test]
    fn a_window_of_time_starts_where_it_starts_and_its_labels_have_room() {
        let window = |from: f64, to: f64| Axis::time(Nanos::from_secs_f64(from), Nanos::from_secs_f64(to));
        assert_eq!(
            labels(&window(600.0, 750.0)),
            ["600 s", "620 s", "640 s", "660 s", "680 s", "700 s", "720 s", "740 s"]
        );
        assert_eq!((window(600.0, 750.0).from, window(600.0, 750.0).to), (600.0, 750.0));
        assert_eq!(
            labels(&window(0.25, 0.9)),
            ["0.3 s", "0.4 s", "0.5 s", "0.6 s", "0.7 s", "0.8 s", "0.9 s"]
        );
        for (from, to) in [(35_990.0, 36_000.0), (3.1, 3.2), (0.0, 7_199.0), (86_000.0, 86_400.0)] {
            let axis = window(from, to);
            let letters: usize = labels(&axis).iter().map(|label| label.len()).sum();
            assert!(letters <= 44 && axis.ticks.len() >= 2, "{axis:?}");
            assert!(axis.ticks.iter().all(|(at, _)| (from - 1e-6..=to + 1e-6).contains(at)), "{axis:?}");
        }
    }

    #[test]
    fn shares_stand_by_what_is_left_above() {
        let axis = Axis::shares(20_000);
        assert_eq!(labels(&axis), ["0 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
        assert!((axis.place(0.999) - 3.0).abs() < 1e-9);
        assert_eq!(axis.place(1.0), axis.to);
    }
}
