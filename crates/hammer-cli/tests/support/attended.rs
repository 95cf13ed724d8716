//! What is done with a command while it runs.

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
