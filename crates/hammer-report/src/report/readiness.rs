//! Which servers were asked beside the load whether they were ready, and when they were not.

use hammer_measure::event::READY;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::Event;
use super::timeline::ObservationSeries;

/// A server that was asked once a second whether it was ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Readiness {
    /// Where it was asked: host, port and path, and the address where the host is a name.
    pub endpoint: String,
    /// When it was not, in the order of time. A change that is not in `events`, which is bounded, is not here either.
    pub not_ready: Vec<NotReady>,
}

/// A time in which a server was not ready. Its ends are instants at which it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotReady {
    /// When it was first seen not to be, nanoseconds since the epoch.
    pub from_ns: u64,
    /// When it was first seen to be ready again; `null` where it was not to the end.
    pub to_ns: Option<u64>,
    /// What was seen first, as a sentence without its full stop.
    pub said: String,
}

impl Readiness {
    /// All of a run's, in the order in which they were seen first.
    pub(crate) fn all(observations: &[ObservationSeries], events: &[Event]) -> Vec<Self> {
        let endpoints = observations.iter().filter_map(|seen| seen.name.strip_prefix(READY));
        endpoints.map(|endpoint| Self::of(endpoint, events)).collect()
    }

    fn of(endpoint: &str, events: &[Event]) -> Self {
        let mut not_ready: Vec<NotReady> = Vec::new();
        for event in events {
            match event {
                Event::NotReady { at_ns, endpoint: of, said } if of == endpoint => {
                    not_ready.push(NotReady { from_ns: *at_ns, to_ns: None, said: said.clone() });
                }
                Event::ReadyAgain { at_ns, endpoint: of, .. } if of == endpoint => {
                    let last = not_ready.last_mut().filter(|last| last.to_ns.is_none());
                    last.into_iter().for_each(|last| last.to_ns = Some(*at_ns));
                }
                _ => {}
            }
        }
        Self { endpoint: endpoint.to_owned(), not_ready }
    }
}

#[cfg(test)]
mod tests {
    use hammer_measure::event::Beside;
    use hammer_measure::{Nanos, Phase, RunEvent};

    use super::*;
    use crate::fixture::{Story, operation, report_of};
    use crate::text::render;

    #[test]
    fn a_server_was_not_ready_between_two_changes_and_to_the_end_where_none_followed() {
        let mut story = Story::new(vec![operation("web", "get")]);
        story.phase(Phase::Measurement);
        let endpoint = "127.0.0.1:80/health".to_owned();
        let mut tell = |second, what| {
            story.events.push(RunEvent::Beside { at: Nanos::from_secs(second), what });
        };
        let said = "the answer is 503".to_owned();
        tell(2, Beside::NotReady { endpoint: endpoint.clone(), said: said.clone() });
        tell(4, Beside::ReadyAgain { endpoint: endpoint.clone(), since: Nanos::from_secs(2) });
        tell(7, Beside::NotReady { endpoint: endpoint.clone(), said: said.clone() });
        story.accept(0, Phase::Measurement, 10, Nanos::from_micros(10));
        story.observe("ready/127.0.0.1:80/health", 0.0);
        story.interval(Phase::Measurement);
        let report = report_of(&story.finish(|_| {}));
        let seconds = |second: u64| second * 1_000_000_000;
        let time = |from, to| NotReady { from_ns: from, to_ns: to, said: said.clone() };
        let not_ready = vec![time(seconds(2), Some(seconds(4))), time(seconds(7), None)];
        assert_eq!(report.readiness, [Readiness { endpoint, not_ready }]);
        let text = render(&report).split_whitespace().collect::<Vec<_>>().join(" ");
        let row = "ready 127.0.0.1:80/health: not from 2.00s to 4.00s (the answer is 503), nor from 7.00s to the end (the answer is 503)";
        assert!(text.contains(row), "{text}");
        assert!(!text.contains("observed ready/"), "{text}");
    }
}
