//! What is done with a command while it runs, and its verdict where the machine was busy elsewhere.

use hammer_report::{ExitCode, ReasonKind, Verdict};
use rustix::process::{Pid, Signal, kill_process};

use crate::hammer::{DEADLINE, Started};

impl Started {
    /// The next line of standard output that holds `part`.
    pub(crate) fn line_with(&self, part: &str) -> String {
        loop {
            let line = self.stdout.recv_timeout(DEADLINE).unwrap_or_else(|_| panic!("no line with {part}"));
            if line.contains(part) {
                return line;
            }
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }
}

/// The exit code of a verdict but for the generator's own lateness: a machine that is busy elsewhere makes any run late,
/// which its report says, and exit 5 with it.
pub(crate) fn exit_if_on_time(verdict: &Verdict) -> u8 {
    let reasons = verdict.reasons.iter().map(|reason| reason.reason);
    ExitCode::of(reasons.filter(|reason| *reason != ReasonKind::NotBelievable)).number()
}
