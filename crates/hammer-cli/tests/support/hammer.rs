//! The binary as a child process, with a deadline on whatever is waited for.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use hammer_report::Report;

/// A command that runs.
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) stdout: Receiver<String>,
    pub(crate) stderr: Receiver<String>,
}

/// A command that ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `hammer` with these arguments to its end.
pub(crate) fn hammer(args: &[&str]) -> Ended {
    Started::of(command(args)).ended()
}

/// `hammer` with these arguments, not yet started. What it leaves in the working folder is left in that of the tests.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hammer"));
    command.args(args).env_remove("COLUMNS").stdin(Stdio::null()).current_dir(env!("CARGO_TARGET_TMPDIR"));
    command
}

impl Started {
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        Self { child, stdout: lines(stdout), stderr: lines(stderr) }
    }

    /// Waits for its end; what it printed is what no one has taken before.
    pub(crate) fn ended(mut self) -> Ended {
        let stdout = rest(&self.stdout);
        let stderr = rest(&self.stderr);
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
            self.child.kill().unwrap();
            panic!("{:?} did not end within {DEADLINE:?}", self.child);
        };
        let status = self.child.wait().unwrap();
        Ended { code: status.code().unwrap_or(-1), stdout, stderr }
    }
}

impl Ended {
    /// The report on standard output, which contradicts itself nowhere and says the exit code that the command had.
    pub(crate) fn report(&self) -> Report {
        let json = self.stdout.lines().find(|line| line.starts_with("{\"schema\":\"hammer.report/1\""));
        let report = Report::parse(json.unwrap_or_else(|| panic!("no report: {self:?}"))).unwrap();
        assert_eq!(report.check(), Vec::<String>::new());
        assert_eq!(i32::from(report.verdict.exit_code), self.code, "{}", self.stderr);
        report
    }
}

fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
            line.clear();
        }
    });
    receiver
}

fn rest(lines: &Receiver<String>) -> Option<String> {
    let mut text = String::new();
    loop {
        match lines.recv_timeout(DEADLINE) {
            Ok(line) => text.push_str(&line),
            Err(RecvTimeoutError::Disconnected) => return Some(text),
            Err(RecvTimeoutError::Timeout) => return None,
        }
    }
}

/// Longer than any command under test takes on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);
