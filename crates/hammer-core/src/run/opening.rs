//! The opening of a run: every shard dials, and supply fills its ring.

use hammer_measure::snapshot::RunResult;
use hammer_measure::{Command, Now as _, RunEvent};

use crate::message::Message;
use crate::run_error::RunError;
use crate::shard::{ShardCommand, ShardReport};

use super::Run;

impl Run<'_, '_> {
    /// Starts the run once every shard is ready, unless it is told to end before.
    pub(super) fn open(&mut self) -> Result<(), RunError> {
        if self.wait_until_ready()? {
            self.start();
        }
        Ok(())
    }

    /// Whether the run starts.
    fn wait_until_ready(&mut self) -> Result<bool, RunError> {
        let mut ready = 0;
        while ready < self.spec.shards.count() {
            match self.inbox.messages.recv().expect("the run keeps a sender of its own") {
                Message::Shard(_, ShardReport::Ready(unread_at_most)) => {
                    self.judge.answers_may_wait(unread_at_most);
                    ready += 1;
                }
                Message::Failed(error) => return Err(error),
                Message::Interrupt => {
                    self.interrupted = true;
                    self.leave(RunResult::INTERRUPTED);
                    return Ok(false);
                }
                Message::Command(id, Command::Stop { reason }) => {
                    let (at, command) = (self.spec.clock.now(), Command::Stop { reason: reason.clone() });
                    self.tell(&RunEvent::Command { id, at, command, refused: Vec::new() });
                    self.leave(&reason);
                    return Ok(false);
                }
                other => self.take(other)?,
            }
        }
        Ok(true)
    }

    /// Ends the run before it starts: what is dialled is let go of, and what there is to report is that.
    fn leave(&mut self, reason: &str) {
        let now = self.spec.clock.now();
        self.stopped = Some(reason.to_owned());
        // No instant lies in a phase with arrivals.
        (self.phases.start, self.ended_at) = (now, Some(now));
        self.collector.start(now);
        self.threads.tell_shards(|| ShardCommand::Leave);
    }
}
