//! Commands, and what they are answered: who applies one, and who refuses it and why.

use hammer_measure::event::CommandRefusal;
use hammer_measure::{Command, CommandId, Nanos, Now as _, RunEvent};

use crate::shard::ShardCommand;

use super::{APPLY_IN, Run};

impl Run<'_, '_> {
    /// Has those workloads apply a command that can, and tells which cannot.
    pub(super) fn command(&mut self, id: CommandId, command: Command) {
        let now = self.spec.clock.now();
        if matches!(command, Command::Mark { .. }) {
            // No shard has anything to do with it.
            return self.tell(&RunEvent::Command { id, at: now, command, refused: Vec::new() });
        }
        let at = now + APPLY_IN;
        let (asked, are_all) = match self.asked(&command) {
            Ok(asked) => asked,
            Err(refusal) => {
                return self.tell(&RunEvent::Command { id, at, command, refused: vec![refusal] });
            }
        };
        let (mut applying, mut refused) = (Vec::new(), Vec::new());
        for lane in asked {
            match self.refusal(lane, at, &command) {
                Some(why) => refused.push(self.refused_by(lane, why)),
                None => applying.push(lane),
            }
        }
        if let Command::Stop { reason } = &command {
            self.stop(&reason.clone());
        } else if are_all && refused.is_empty() {
            self.threads.tell_shards(|| ShardCommand::Apply(at, None, command.clone()));
        } else {
            // One by one, so that neither who was not asked nor who is said to refuse it applies it after all.
            for lane in applying {
                self.threads.tell_shards(|| ShardCommand::Apply(at, Some(lane), command.clone()));
            }
        }
        self.tell(&RunEvent::Command { id, at, command, refused });
    }

    /// The places of the workloads that a command is meant for, and whether it is for all.
    fn asked(&self, command: &Command) -> Result<(Vec<usize>, bool), CommandRefusal> {
        let named = match command {
            Command::Rate { workload, .. } | Command::InFlight { workload, .. } => workload.as_deref(),
            Command::Pause | Command::Resume | Command::Stop { .. } | Command::Mark { .. } => None,
        };
        let Some(name) = named else { return Ok(((0..self.spec.lanes.len()).collect(), true)) };
        let lane = self.spec.lanes.iter().position(|lane| lane.workload() == name);
        let why = "no workload has that name".to_owned();
        lane.map(|lane| (vec![lane], false)).ok_or_else(|| CommandRefusal { workload: name.to_owned(), why })
    }

    /// Why the workload in that place would not do at `at` what a command asks for.
    fn refusal(&self, lane: usize, at: Nanos, command: &Command) -> Option<&'static str> {
        let is_run_over = at >= self.arrivals_end();
        // A stop is for the run: that a workload has nothing left to stop is no refusal.
        let is_lane_over = !matches!(command, Command::Stop { .. }) && self.lane_ends.has_ended(lane);
        if is_run_over || is_lane_over {
            return Some("its arrivals have ended");
        }
        self.spec.lanes[lane].refuses(command, self.spec.shards.total())
    }

    fn refused_by(&self, lane: usize, why: &str) -> CommandRefusal {
        CommandRefusal { workload: self.spec.lanes[lane].workload().to_owned(), why: why.to_owned() }
    }
}
