//! What is done with a command while it runs, and a second try where the machine was busy elsewhere.

use rustix::process::{Pid, Signal, kill_process};

use crate::hammer::{DEADLINE, Ended, Started};

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

/// What `run` ends like when the generator keeps its plan. A machine that is busy elsewhere makes it late, which the
/// report says and exit 5 with it; that is not what these tests are about, so that it may try again.
pub(crate) fn believed(run: impl Fn() -> Ended) -> Ended {
    const NOT_BELIEVABLE: i32 = 5;
    let mut ended = run();
    for _ in 0..4 {
        if ended.code != NOT_BELIEVABLE {
            break;
        }
        ended = run();
    }
    ended
}
