//! Commands: what they ask of whom, and the answer.

use hammer_measure::event::CommandRefusal;
use hammer_measure::{Command, Now as _, RunEvent};

use crate::shard::ShardCommand;

use super::{APPLY_IN, Run};

impl Run<'_, '_> {
    pub(super) fn command(&mut self, command: Command) {
        let at = self.spec.clock.now() + APPLY_IN;
        let of = match &command {
            Command::Rate { workload, .. } | Command::InFlight { workload, .. } => workload.as_deref(),
            Command::Pause | Command::Resume | Command::Stop { .. } => None,
        };
        let lane = of.and_then(|name| self.lane(name));
        if let (Some(name), None) = (of, lane) {
            let why = "no workload has that name".to_owned();
            let refused = vec![CommandRefusal { workload: name.to_owned(), why }];
            return self.tell(&RunEvent::Command { at, command, refused });
        }
        let (asked, refused) = self.refusals(lane, &command);
        if let Command::Stop { reason } = &command {
            self.stop(&reason.clone());
        } else if refused.len() < asked {
            self.threads.tell_shards(|| ShardCommand::Apply(at, lane, command.clone()));
        }
        self.tell(&RunEvent::Command { at, command, refused });
    }

    /// How many workloads a command asks, the one in that place or all of them, and which of them refuse.
    fn refusals(&self, lane: Option<usize>, command: &Command) -> (usize, Vec<CommandRefusal>) {
        let asked = self.spec.lanes.iter().enumerate();
        let asked: Vec<_> = asked.filter(|(place, _)| lane.is_none_or(|lane| lane == *place)).collect();
        let refusals = asked.iter().filter_map(|(_, plan)| {
            let why = match self.ended_at {
                Some(_) => Some("its arrivals have ended"),
                None => plan.refuses(command),
            };
            Some(CommandRefusal { workload: plan.workload().to_owned(), why: why?.to_owned() })
        });
        (asked.len(), refusals.collect())
    }

    fn lane(&self, name: &str) -> Option<usize> {
        self.spec.lanes.iter().position(|lane| lane.workload() == name)
    }
}
