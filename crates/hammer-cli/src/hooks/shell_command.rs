//! A command by `sh -c` that is not waited for.

use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// A command with a process group of its own, so that what it started can be ended with it. Dropped, it is killed.
#[derive(Debug)]
pub(super) struct ShellCommand {
    child: Child,
    group: Pid,
    /// Readable once the shell has ended.
    ended: OwnedFd,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    status: Option<ExitStatus>,
}

/// What a command wrote.
pub(super) enum Written<'a> {
    /// To its standard output.
    Stdout(&'a [u8]),
    /// To its standard error.
    Stderr(&'a [u8]),
}

impl ShellCommand {
    /// Starts it.
    ///
    /// # Errors
    /// When there is no shell, or no descriptor left.
    pub(super) fn start(command: &str) -> io::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).process_group(0);
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = shell.spawn()?;
        let group = Pid::from_child(&child);
        let ended = match pidfd_open(group, PidfdFlags::empty()) {
            Ok(ended) => ended,
            Err(error) => {
                // Nobody would know when it ends.
                let _ = child.kill().and_then(|()| child.wait());
                return Err(error.into());
            }
        };
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let command = Self { child, group, ended, stdout, stderr, status: None };
        command.pipes().try_for_each(|pipe| ioctl_fionbio(pipe, true))?;
        Ok(command)
    }

    /// What is readable when something happens to it: its end, and what it writes.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let ended = self.status.is_none().then(|| self.ended.as_fd());
        ended.into_iter().chain(self.pipes())
    }

    fn pipes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let stdout = self.stdout.as_ref().map(AsFd::as_fd);
        stdout.into_iter().chain(self.stderr.as_ref().map(AsFd::as_fd))
    }

    /// Hands on what it wrote since; each stream gives way after some of it, so that no command holds up the others.
    pub(super) fn read(&mut self, mut take: impl FnMut(Written<'_>)) {
        if !read(&mut self.stdout, |bytes| take(Written::Stdout(bytes))) {
            self.stdout = None;
        }
        if !read(&mut self.stderr, |bytes| take(Written::Stderr(bytes))) {
            self.stderr = None;
        }
    }

    /// The status that it has just ended with; none while it runs, and none once that was told.
    pub(super) fn just_ended(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
            return self.status;
        }
        None
    }

    /// Whether it still runs.
    pub(super) fn runs(&self) -> bool {
        self.status.is_none()
    }

    /// Whether neither it nor what it left behind can write any more.
    pub(super) fn is_over(&self) -> bool {
        !self.runs() && self.stdout.is_none() && self.stderr.is_none()
    }

    /// Sends its group a signal, if it still runs: once its shell was waited for, the group may be another's.
    pub(super) fn signal(&self, signal: Signal) {
        if self.runs() {
            // What has ended in between needs no signal.
            let _ = kill_process_group(self.group, signal);
        }
    }
}

impl Drop for ShellCommand {
    fn drop(&mut self) {
        if self.runs() {
            self.signal(Signal::KILL);
            // It has been killed, and so ends at once, unless the kernel holds it: then nobody waits for it.
            let soon = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };
            let _ = poll(&mut [PollFd::new(&self.ended, PollFlags::IN)], Some(&soon));
            let _ = self.child.try_wait();
        }
    }
}

/// Reads what is there, up to a bound; says whether more can come.
fn read(pipe: &mut Option<impl Read>, mut take: impl FnMut(&[u8])) -> bool {
    let Some(pipe) = pipe else { return false };
    let mut buffer = [0; 4_096];
    for _ in 0..MOST_READS {
        match pipe.read(&mut buffer) {
            Ok(0) => return false,
            Ok(length) => take(&buffer[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
    true
}

const MOST_READS: usize = 16;
