//! The link between hammer and its target: how much of the measured time the bytes alone take at its rate, so that it is not taken for the
//! target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::finite;
use super::series::Series;

/// The rates of a link, bits a second; a direction without one is not judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkRates {
    /// What hammer sends.
    pub up: Option<u64>,
    /// What it is answered.
    pub down: Option<u64>,
}

/// The bytes of all operations of a run over its measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarriedBytes {
    /// From hammer to its target, in a second.
    pub out_per_s: f64,
    /// From the target to hammer, in a second.
    pub in_per_s: f64,
    /// How long measurement was; zero where no time was measured.
    pub measured_seconds: f64,
}

/// Who says how fast a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkSource {
    /// The plan's `target.link`.
    Plan,
    /// An embedded target, which has such a link before it.
    Lab,
    /// A plain upload or download before the run.
    Measured,
}

/// A link, and what of the measured time it was busy with the operations of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkFigures {
    /// Who says how fast it is.
    pub source: LinkSource,
    /// From hammer to the target; `null` where its rate is not known.
    pub up: Option<LinkDirection>,
    /// From the target to hammer; `null` where its rate is not known.
    pub down: Option<LinkDirection>,
    /// What of it an operation takes, by series of operations of which any was completed in measurement.
    pub operations: Vec<LinkedOperation>,
    /// Whether it was the limit, as a sentence without its full stop.
    pub conclusion: String,
}

/// A direction of a link over measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkDirection {
    /// Its rate, bits a second.
    pub bits_per_s: u64,
    /// Bytes of all operations a second of measurement, as connections count them: with TLS, without the headers of TCP and IP.
    pub bytes_per_s: f64,
    /// The share of measurement that these bytes alone take at the rate; above 1.25 the rate is not the link's, or what was sent last was
    /// still on its way when the run ended. `null` when
    /// no time was measured.
    pub busy: Option<f64>,
    /// Whether that is 0.9 to 1.25, so that the link and not the target set the pace.
    pub is_limit: bool,
}

/// What of a link an operation takes on average.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkedOperation {
    /// Its series, `workload/name`.
    pub path: String,
    /// Bytes that it sends.
    pub bytes_out: u64,
    /// Bytes that it is answered.
    pub bytes_in: u64,
    /// How long `bytes_out` take alone at the rate up; `null` where that is not known.
    pub up_ns: Option<u64>,
    /// How long `bytes_in` take alone at the rate down; `null` where that is not known.
    pub down_ns: Option<u64>,
}

impl LinkFigures {
    /// A link of such rates over measurement, by what it carried, and series of operations.
    pub fn of<'a>(
        source: LinkSource,
        rates: LinkRates,
        carried: CarriedBytes,
        operations: impl Iterator<Item = &'a Series>,
    ) -> Self {
        let is_measured = carried.measured_seconds > 0.0;
        let direction = |rate: Option<u64>, bytes_per_s: f64| {
            rate.map(|bits_per_s| LinkDirection::of(bits_per_s, bytes_per_s, is_measured))
        };
        let (up, down) = (direction(rates.up, carried.out_per_s), direction(rates.down, carried.in_per_s));
        let operations = operations.filter_map(|series| LinkedOperation::of(series, rates));
        Self { source, up, down, operations: operations.collect(), conclusion: conclusion(up, down) }
    }

    /// The directions that were the limit, by their names.
    pub fn limits(&self) -> Vec<&'static str> {
        limits(self.up, self.down).into_iter().map(|(name, _)| name).collect()
    }
}

impl LinkDirection {
    fn of(bits_per_s: u64, bytes_per_s: f64, is_measured: bool) -> Self {
        let busy = is_measured.then(|| finite(bytes_per_s * 8.0 / bits_per_s as f64));
        let is_limit = busy.is_some_and(|busy| (LIMIT..=MOST_BUSY).contains(&busy));
        Self { bits_per_s, bytes_per_s, busy, is_limit }
    }

    /// Whether no link of that rate carries so much.
    fn is_impossible(&self) -> bool {
        self.busy.is_some_and(|busy| busy > MOST_BUSY)
    }

    fn words(&self) -> String {
        let busy = self.busy.map_or_else(
            || "not measured".to_owned(),
            |busy| format!("busy {:.1} % of the measured time", busy * 100.0),
        );
        format!("{busy} at {}", bits_per_second(self.bits_per_s))
    }
}

/// The rate of a link: `6 Mbit/s`, `1.5 Gbit/s`, in powers of ten.
pub fn bits_per_second(rate: u64) -> String {
    let (unit, name) = match rate {
        0..1_000 => (1.0, ""),
        1_000..1_000_000 => (1e3, "k"),
        1_000_000..1_000_000_000 => (1e6, "M"),
        _ => (1e9, "G"),
    };
    // To three digits at least, without zeros behind the point.
    format!("{} {name}bit/s", (rate as f64 / unit * 100.0).round() / 100.0)
}

impl LinkedOperation {
    fn of(series: &Series, rates: LinkRates) -> Option<Self> {
        let counts = &series.measurement.counts;
        let mean = |bytes: u64| bytes.checked_div(counts.completed);
        let (bytes_out, bytes_in) = (mean(counts.bytes_out)?, mean(counts.bytes_in)?);
        let alone = |bytes: u64, rate: Option<u64>| {
            rate.map(|bits_per_s| (bytes as f64 * 8e9 / bits_per_s as f64).round() as u64)
        };
        Some(Self {
            path: series.path.clone(),
            bytes_out,
            bytes_in,
            up_ns: alone(bytes_out, rates.up),
            down_ns: alone(bytes_in, rates.down),
        })
    }
}

fn named(up: Option<LinkDirection>, down: Option<LinkDirection>) -> Vec<(&'static str, LinkDirection)> {
    let all = [("the uplink", up), ("the downlink", down)];
    all.into_iter().filter_map(|(name, direction)| Some((name, direction?))).collect()
}

fn limits(up: Option<LinkDirection>, down: Option<LinkDirection>) -> Vec<(&'static str, LinkDirection)> {
    named(up, down).into_iter().filter(|(_, direction)| direction.is_limit).collect()
}

fn conclusion(up: Option<LinkDirection>, down: Option<LinkDirection>) -> String {
    let limits = limits(up, down);
    let impossible = named(up, down).into_iter().filter(|(_, direction)| direction.is_impossible());
    let impossible: Vec<String> = impossible
        .map(|(name, direction)| format!("{name} carried more than its rate: {}", direction.words()))
        .collect();
    if !impossible.is_empty() {
        return format!(
            "whether the link was the limit is not known: {}; that rate is not the link's, or what was sent last was still on its way when the run ended",
            impossible.join("; ")
        );
    }
    if limits.is_empty() {
        let each =
            named(up, down).into_iter().map(|(name, direction)| format!("{name} was {}", direction.words()));
        return format!("the link was not the limit: {}", each.collect::<Vec<_>>().join(", "));
    }
    let each =
        limits.into_iter().map(|(name, direction)| format!("{name} is the limit: {}", direction.words()));
    format!(
        "{}; rates and times of this run are the link's, and not the target's",
        each.collect::<Vec<_>>().join("; ")
    )
}

/// The share of the measured time from which on a direction was the limit. A full link never has all of its rate in these bytes: the headers
/// of TCP, IP and Ethernet take up to a twentieth of it, and rates are stated in round numbers.
const LIMIT: f64 = 0.9;
/// The share up to which a link can have been as busy: at its start it gives what it saved up, and buffers hold some of what was sent last.
const MOST_BUSY: f64 = 1.25;

#[cfg(test)]
mod tests {
    use hammer_measure::{Nanos, Phase};

    use super::*;
    use crate::Report;
    use crate::fixture::{Story, operation, report_of, step};

    /// Operations of 10 bytes out and 20 in, so many in a second of measurement.
    fn report(operations: u64) -> Report {
        let mut story = Story::new(vec![operation("sign", "cades"), step("sign", "start")]);
        story.accept(0, Phase::Measurement, operations, Nanos::from_micros(1));
        story.interval(Phase::Measurement);
        report_of(&story.finish(|_| {}))
    }

    fn of(operations: u64, up: Option<u64>, down: Option<u64>) -> LinkFigures {
        report(operations).link_figures(LinkSource::Plan, LinkRates { up, down })
    }

    #[test]
    fn a_direction_whose_rate_the_bytes_fill_is_the_limit_and_any_other_is_not() {
        let sent = report(1_000).totals.bytes_out_per_s * 8.0;
        let rate = |share: f64| Some((sent / share).round() as u64);
        let full = of(1_000, rate(0.91), Some(u64::MAX));
        assert_eq!((full.limits(), full.up.unwrap().is_limit), (vec!["the uplink"], true));
        assert!(
            full.conclusion.starts_with("the uplink is the limit: busy 91.0 % of the measured time at "),
            "{}",
            full.conclusion
        );
        let free = of(1_000, rate(0.89), None);
        assert_eq!((free.limits().len(), free.down), (0, None));
        assert!(
            free.conclusion.starts_with("the link was not the limit: the uplink was busy 89.0 %"),
            "{}",
            free.conclusion
        );
    }

    #[test]
    fn both_directions_can_be_the_limit_and_a_run_without_time_has_none() {
        let totals = report(1_000).totals;
        let exactly = |bytes_per_s: f64| Some((bytes_per_s * 8.0).round() as u64);
        let both = of(1_000, exactly(totals.bytes_out_per_s), exactly(totals.bytes_in_per_s));
        assert_eq!(both.limits(), ["the uplink", "the downlink"]);
        let mut unmeasured = report(1_000);
        unmeasured.run.measured_seconds = 0.0;
        let rates = LinkRates { up: Some(1), down: None };
        let figures = unmeasured.link_figures(LinkSource::Lab, rates);
        assert_eq!((figures.limits().len(), figures.up.unwrap().busy), (0, None));
    }

    #[test]
    fn a_link_that_carried_more_than_its_rate_is_not_called_the_limit() {
        let sent = report(1_000).totals.bytes_out_per_s * 8.0;
        let figures = of(1_000, Some((sent / 1.3).round() as u64), None);
        assert_eq!((figures.limits().len(), figures.up.unwrap().is_limit), (0, false));
        let said = &figures.conclusion;
        assert!(
            said.starts_with("whether the link was the limit is not known: the uplink carried more"),
            "{said}"
        );
    }

    #[test]
    fn an_operation_takes_the_time_of_its_bytes_alone() {
        let figures = of(10, Some(8_000), None);
        let [only] = figures.operations.as_slice() else { panic!("one series of operations: {figures:?}") };
        let counts = report(10).series[0].measurement.counts;
        assert_eq!((only.bytes_out, only.bytes_in), (counts.bytes_out / 10, counts.bytes_in / 10));
        assert_eq!((only.up_ns, only.down_ns), (Some(only.bytes_out * 1_000_000), None));
        assert_eq!(of(0, Some(1), Some(1)).operations, []);
    }
}
