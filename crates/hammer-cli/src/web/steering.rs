//! What is asked of a run over its door, and what of that the run can be told.

use std::str::FromStr;

use hammer_measure::Command;
use hammer_values::Rate;
use serde::Deserialize;

use crate::hooks::marks::one_line;
use crate::tui::{FACTORS, SteeredWorkload};

/// A command as it is sent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum AskedCommand {
    /// Suspend arrivals.
    Pause {},
    /// Take them up again.
    Resume {},
    /// Change the rate of a workload, or of all.
    Rate {
        /// Its name.
        #[serde(default)]
        workload: Option<String>,
        /// `500/s`, or a multiple of the plan's: `1.5x`.
        rate: String,
    },
    /// Change the limit of operations in flight of a workload, or of all.
    InFlight {
        /// Its name.
        #[serde(default)]
        workload: Option<String>,
        /// The new limit, over all shards.
        limit: usize,
    },
    /// End the arrivals, drain and report.
    Stop {
        /// Why.
        #[serde(default)]
        reason: Option<String>,
    },
    /// Name this instant in the record.
    Mark {
        /// What for.
        text: String,
    },
}

impl AskedCommand {
    /// What the run is told, whose workloads these are.
    ///
    /// # Errors
    /// What cannot be asked of it, as a sentence without its full stop.
    pub(super) fn command(self, workloads: &[SteeredWorkload]) -> Result<Command, String> {
        Ok(match self {
            Self::Pause {} => Command::Pause,
            Self::Resume {} => Command::Resume,
            Self::Rate { workload, rate } => factor(workload, &rate, workloads)?,
            Self::InFlight { limit, .. } if !LIMITS.contains(&limit) => {
                return Err(format!(
                    "a limit of {limit} in flight: expected {} to {}",
                    LIMITS.start(),
                    LIMITS.end()
                ));
            }
            Self::InFlight { workload, limit } => {
                known(workload.as_deref(), workloads)?;
                Command::InFlight { workload, limit }
            }
            Self::Stop { reason } => {
                let reason = reason.map(|reason| one_line(&reason)).filter(|reason| !reason.is_empty());
                Command::Stop { reason: reason.unwrap_or_else(|| STOPPED.to_owned()) }
            }
            Self::Mark { text } => match one_line(&text) {
                text if text.is_empty() => return Err("a mark needs a text".to_owned()),
                text => Command::Mark { text },
            },
        })
    }
}

/// A rate as it is asked for: `500/s`, or a multiple of the plan's, `1.5x`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AskedRate {
    Multiple(f64),
    Absolute(Rate),
}

impl FromStr for AskedRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let multiple = |times: &str| {
            let times = times.trim().parse::<f64>().ok()?;
            (times.is_finite() && times >= 0.0).then_some(Self::Multiple(times))
        };
        let read = match text.strip_suffix('x') {
            Some(times) => multiple(times),
            None => text.parse().ok().map(Self::Absolute),
        };
        read.ok_or_else(|| {
            format!("`{text}` is no rate: expected one like 500/s, or a multiple of the plan's like 1.5x")
        })
    }
}

/// The multiple of the plan's rate that is asked for.
fn factor(workload: Option<String>, rate: &str, workloads: &[SteeredWorkload]) -> Result<Command, String> {
    let named = known(workload.as_deref(), workloads)?;
    let asked = rate.parse::<AskedRate>()?;
    let multiple = |factor: f64, workload: Option<String>| {
        if FACTORS.contains(&factor) {
            Ok(Command::Rate { workload, factor })
        } else if factor == 0.0 {
            Err("a rate of nothing is a pause: use pause".to_owned())
        } else {
            let (least, most) = (FACTORS.start(), FACTORS.end());
            Err(format!("{rate} is {factor} times the plan's rate: expected {least} to {most} times it"))
        }
    };
    let asked = match asked {
        AskedRate::Multiple(times) => return multiple(times, workload),
        AskedRate::Absolute(asked) => asked,
    };
    let own = match (named, workloads) {
        (Some(own), _) | (None, [own]) => own,
        (None, _) => {
            return Err(format!("{rate} is the rate of one workload: say of which ({})", names(workloads)));
        }
    };
    match own.rate.filter(|planned| *planned > 0.0) {
        Some(planned) => multiple(asked.per_second() / planned, Some(own.name.clone())),
        None if own.closed_loop => Err(format!(
            "the load of {} is closed: users wait for their answers, and there is no rate to change",
            own.name
        )),
        None => Err(format!("the plan of {} has no constant rate: say a multiple of it (1.5x)", own.name)),
    }
}

/// The workload of that name; none where all are meant.
fn known<'a>(
    name: Option<&str>,
    workloads: &'a [SteeredWorkload],
) -> Result<Option<&'a SteeredWorkload>, String> {
    let Some(name) = name else { return Ok(None) };
    let found = workloads.iter().find(|known| known.name == name);
    found.map(Some).ok_or_else(|| format!("no workload is called {name}: there are {}", names(workloads)))
}

fn names(workloads: &[SteeredWorkload]) -> String {
    workloads.iter().map(|workload| workload.name.as_str()).collect::<Vec<_>>().join(", ")
}

const LIMITS: std::ops::RangeInclusive<usize> = 1..=1_000_000;
const STOPPED: &str = "ended over the control door";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::spec::{PanelSide, WorkloadSpec};

    fn workload(name: &str, rate: Option<f64>, closed_loop: bool) -> SteeredWorkload {
        let spec = WorkloadSpec {
            name: name.to_owned(),
            side: PanelSide::Neither,
            rate,
            in_flight: 8,
            closed_loop,
            page: None,
        };
        SteeredWorkload::planned(spec)
    }

    fn told(json: &str, workloads: &[SteeredWorkload]) -> Result<Command, String> {
        serde_json::from_str::<AskedCommand>(json).map_err(|error| error.to_string())?.command(workloads)
    }

    #[test]
    fn a_rate_is_a_multiple_of_the_planned_one() {
        let workloads = [workload("submit", Some(200.0), false), workload("read", None, false)];
        let rate = |workload: Option<&str>, factor| {
            Ok(Command::Rate { workload: workload.map(str::to_owned), factor })
        };
        let ask = |json| told(json, &workloads);
        assert_eq!(
            ask(r#"{"command":"rate","workload":"submit","rate":"500/s"}"#),
            rate(Some("submit"), 2.5)
        );
        assert_eq!(
            ask(r#"{"command":"rate","workload":"submit","rate":"6000/min"}"#),
            rate(Some("submit"), 0.5)
        );
        assert_eq!(ask(r#"{"command":"rate","rate":"1.5x"}"#), rate(None, 1.5));
        assert_eq!(ask(r#"{"command":"rate","workload":"read","rate":"2x"}"#), rate(Some("read"), 2.0));
        assert_eq!(told(r#"{"command":"rate","rate":"100/s"}"#, &workloads[..1]), rate(Some("submit"), 0.5));
        for (json, why) in [
            (r#"{"command":"rate","rate":"500/s"}"#, "say of which (submit, read)"),
            (r#"{"command":"rate","workload":"read","rate":"500/s"}"#, "no constant rate"),
            (r#"{"command":"rate","workload":"submit","rate":"500"}"#, "`500` is no rate"),
            (r#"{"command":"rate","rate":"0x"}"#, "use pause"),
            (
                r#"{"command":"rate","workload":"nobody","rate":"2x"}"#,
                "no workload is called nobody: there are submit, read",
            ),
            (r#"{"command":"in_flight","workload":"nobody","limit":2}"#, "no workload is called nobody"),
            (r#"{"command":"rate","rate":"-1x"}"#, "is no rate"),
            (r#"{"command":"rate","rate":"NaNx"}"#, "is no rate"),
            (r#"{"command":"rate","rate":"1e9x"}"#, "expected 0.001 to 1000 times"),
            (r#"{"command":"in_flight","limit":0}"#, "expected 1 to"),
            (r#"{"command":"mark","text":" \n "}"#, "needs a text"),
            (r#"{"command":"mark"}"#, "missing field `text`"),
            (r#"{"command":"rate","factor":2}"#, "unknown field `factor`"),
            (r#"{"command":"quit"}"#, "unknown variant `quit`"),
            (r#"{"command":"pause","workload":"submit"}"#, "unknown field `workload`"),
        ] {
            let error = ask(json).unwrap_err();
            assert!(error.contains(why), "{json}: {error}");
        }
    }

    #[test]
    fn what_is_written_over_the_door_is_one_line() {
        let text = serde_json::to_string(
            &serde_json::json!({ "command": "mark", "text": format!("a\n\u{1b}[2J{}", "b".repeat(900)) }),
        )
        .unwrap();
        let Ok(Command::Mark { text }) = told(&text, &[]) else { panic!() };
        assert!(text.starts_with("a  [2Jb") && text.chars().count() == 200, "{text}");
        assert_eq!(told(r#"{"command":"stop"}"#, &[]), Ok(Command::Stop { reason: STOPPED.to_owned() }));
    }
}
