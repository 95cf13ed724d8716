//! The thread that starts a run's commands when they are due, listens to what they write, and ends with the run.

use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use hammer_core::clock::MonotonicClock;
use hammer_core::observe::ObservationSink;
use hammer_measure::credential::without_any_secret;
use hammer_measure::event::{Beside, HookExit};
use hammer_measure::{Nanos, Now as _};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use tokio::sync::oneshot;

use super::lines::Lines;
use super::looks::Looks;
use super::marks::{MarkBook, MarkFile};
use super::scripted_faults::ScriptedFaults;
use super::shell_command::{ShellCommand, Written};
use crate::plan::TimedHookPlan;

/// What the run tells the thread.
pub(super) enum Order {
    /// It takes events from now on.
    Open(ObservationSink),
    /// Measurement starts, or started, then.
    Measured(Nanos),
    /// It is over: everything that still runs is ended, and then the sender is dropped.
    End(oneshot::Sender<()>),
}

/// What the thread has to do.
pub(super) struct Attendant {
    pub(super) clock: MonotonicClock,
    pub(super) orders: Receiver<Order>,
    /// Readable when there is an order.
    pub(super) doorbell: Arc<OwnedFd>,
    /// Those that were not started yet.
    pub(super) hooks: Vec<TimedHookPlan>,
    pub(super) faults: ScriptedFaults,
    pub(super) looks: Looks,
    pub(super) mark_file: Option<MarkFile>,
}

/// A run that takes events.
struct Attendance {
    work: Attendant,
    sink: ObservationSink,
    measured_from: Option<Nanos>,
    running: Vec<RunningHook>,
    marks: MarkBook,
    mark_file_fails: bool,
}

/// A hook that was started.
struct RunningHook {
    name: String,
    started: Nanos,
    command: ShellCommand,
    stdout: Lines,
    /// The start of what it wrote to standard error.
    stderr: Vec<u8>,
}

impl Attendant {
    /// Works until the run is over, or nobody is there any more who could say so.
    pub(super) fn attend(self) {
        let mut measured_from = None;
        let sink = loop {
            match self.orders.recv() {
                Ok(Order::Open(sink)) => break sink,
                Ok(Order::Measured(at)) => measured_from = Some(at),
                Ok(Order::End(_)) | Err(_) => return,
            }
        };
        let marks = MarkBook::default();
        let (running, mark_file_fails) = (Vec::new(), false);
        Attendance { work: self, sink, measured_from, running, marks, mark_file_fails }.attend();
    }
}

impl Attendance {
    fn attend(mut self) {
        let done = loop {
            match self.work.orders.try_recv() {
                Ok(Order::Measured(at)) => self.measured_from = Some(at),
                Ok(Order::Open(sink)) => self.sink = sink,
                Ok(Order::End(done)) => break Some(done),
                Err(TryRecvError::Disconnected) => break None,
                Err(TryRecvError::Empty) => {
                    self.mark_faults();
                    self.start_due();
                    self.work.looks.step(self.work.clock.now(), &self.sink);
                    self.follow_marks();
                    self.wait(self.next());
                    self.listen(false);
                    self.running.retain(|hook| !hook.command.is_over());
                }
            }
        };
        self.end();
        drop(done);
    }

    /// When the next hook is due, as far as that is known.
    fn due(&self, hook: &TimedHookPlan) -> Nanos {
        let due = |from: Nanos| from.saturating_add(hook.at.duration().into());
        self.measured_from.map_or(Nanos::MAX, due)
    }

    fn next(&self) -> Nanos {
        let due = self.work.hooks.iter().map(|hook| self.due(hook)).min().unwrap_or(Nanos::MAX);
        let due = due.min(self.work.looks.next()).min(self.work.faults.due());
        match &self.work.mark_file {
            Some(_) => due.min(self.work.clock.now() + LOOK_AT_MARKS_EVERY),
            None => due,
        }
    }

    fn mark_faults(&mut self) {
        while let Some(fault) = self.work.faults.take_due(self.work.clock.now()) {
            self.marks.mark(fault.at, LAB, &fault.text, &self.sink);
        }
    }

    fn start_due(&mut self) {
        let now = self.work.clock.now();
        let hooks = std::mem::take(&mut self.work.hooks);
        let (due, waiting): (Vec<_>, Vec<_>) = hooks.into_iter().partition(|hook| self.due(hook) <= now);
        self.work.hooks = waiting;
        due.into_iter().for_each(|hook| self.start(hook));
    }

    fn start(&mut self, hook: TimedHookPlan) {
        let (started, name) = (self.work.clock.now(), hook.name);
        tracing::info!(hook = %name, "runs");
        match ShellCommand::start(&hook.run) {
            Ok(command) => {
                self.sink.beside(started, Beside::HookStarted { name: name.clone() });
                let (stdout, stderr) = (Lines::default(), Vec::new());
                self.running.push(RunningHook { name, started, command, stdout, stderr });
            }
            Err(error) => self.sink.note(started, format!("hook {name}: failed to start it: {error}")),
        }
    }

    /// Until something happens to a command, an order comes, or that instant.
    fn wait(&self, until: Nanos) {
        let commands = self.running.iter().flat_map(|hook| hook.command.descriptors());
        let commands = commands.chain(self.work.looks.descriptors());
        let all = std::iter::once(self.work.doorbell.as_fd()).chain(commands);
        let mut all: Vec<PollFd<'_>> =
            all.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN)).collect();
        let wait = Duration::from(until.since(self.work.clock.now()));
        // Whatever cannot be waited for so long is looked at again.
        let wait = Timespec::try_from(wait.min(LONGEST_WAIT)).ok();
        // Everything is asked afterwards, whoever woke the thread; an interrupt is as good as a ring.
        let _ = poll(&mut all, wait.as_ref());
        let _ = rustix::io::read(&self.work.doorbell, &mut [0; 8]);
    }

    /// Takes what the commands wrote, and their ends; `cut_off` where the run's end is the reason of these.
    fn listen(&mut self, cut_off: bool) {
        let now = self.work.clock.now();
        for hook in &mut self.running {
            // Before what it wrote is read, so that nothing which it wrote before its end is missing.
            let ended = hook.command.just_ended();
            hook.read(now, &mut self.marks, &self.sink);
            if let Some(status) = ended {
                hook.tell_end(now, status, cut_off, &self.sink);
            }
        }
    }

    fn follow_marks(&mut self) -> bool {
        let Some(file) = &mut self.work.mark_file else { return false };
        let (now, name) = (self.work.clock.now(), file.name());
        match file.follow(|line| self.marks.mark(now, &name, line, &self.sink)) {
            Ok(more) => more,
            Err(error) => {
                if !std::mem::replace(&mut self.mark_file_fails, true) {
                    self.sink.note(now, format!("the marks in {name} are not read: {error}"));
                }
                false
            }
        }
    }

    /// Ends what still runs: by SIGTERM, and a second later by SIGKILL.
    fn end(&mut self) {
        for _ in 0..LAST_LOOKS_AT_MARKS {
            if !self.follow_marks() {
                break;
            }
        }
        self.listen(false);
        self.work.looks = Looks::new(Vec::new());
        self.end_commands();
        let now = self.work.clock.now();
        self.mark_faults();
        for hook in &self.work.hooks {
            let text = format!("hook {} was not run: the run ended before it was due", hook.name);
            self.sink.note(now, text);
        }
        if let Some(mut file) = self.work.mark_file.take() {
            let name = file.name();
            file.finish(|line| self.marks.mark(now, &name, line, &self.sink));
        }
        self.marks.close(now, &self.sink);
    }

    fn end_commands(&mut self) {
        let kill_at = self.work.clock.now() + GRACE;
        let give_up_at = kill_at + KILL_GRACE;
        self.running.retain(|hook| hook.command.runs());
        self.running.iter().for_each(|hook| hook.command.signal(Signal::TERM));
        let mut is_killed = false;
        while !self.running.is_empty() {
            if self.work.clock.now() >= kill_at && !is_killed {
                self.running.iter().for_each(|hook| hook.command.signal(Signal::KILL));
                is_killed = true;
            }
            if self.work.clock.now() >= give_up_at {
                return self.leave_behind();
            }
            self.wait(if is_killed { give_up_at } else { kill_at });
            self.listen(true);
            self.running.retain(|hook| hook.command.runs());
        }
    }

    /// What the kernel does not end, as a process that waits for a disk which does not answer, holds up no run; nor does what has
    /// left its process group, which no signal reaches. Waited for once more when it is dropped, after everything was told.
    fn leave_behind(&self) {
        let now = self.work.clock.now();
        for hook in &self.running {
            let text =
                format!("hook {} is left behind: it has not ended {KILL_GRACE} after SIGKILL", hook.name);
            self.sink.note(now, text);
        }
    }
}

impl RunningHook {
    fn read(&mut self, now: Nanos, marks: &mut MarkBook, sink: &ObservationSink) {
        let Self { name, command, stdout, stderr, .. } = self;
        command.read(|written| match written {
            Written::Stdout(bytes) => stdout.push(bytes, |line| {
                if let Some(text) = line.strip_prefix(MARK) {
                    marks.mark(now, name, text, sink);
                }
            }),
            Written::Stderr(bytes) => {
                let room = MOST_STDERR.saturating_sub(stderr.len());
                stderr.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
        });
    }

    /// A hook that failed spoils no figure: it is a note.
    fn tell_end(&mut self, now: Nanos, status: ExitStatus, cut_off: bool, sink: &ObservationSink) {
        let (name, started) = (self.name.clone(), self.started);
        tracing::info!(hook = %name, %status, "ended");
        let exit = match (status.code(), status.signal()) {
            (Some(code), _) => HookExit::Status(code),
            (None, signal) => HookExit::Signal(signal.unwrap_or_default()),
        };
        sink.beside(now, Beside::HookEnded { name, started, exit, cut_off });
        if !cut_off && !status.success() {
            let stderr = String::from_utf8_lossy(&self.stderr);
            let said = stderr.trim();
            let said =
                if said.is_empty() { String::new() } else { format!(": {}", without_any_secret(said)) };
            sink.note(now, format!("hook {} failed: {status}{said}", self.name));
        }
    }
}

const MARK: &str = "mark ";
/// Whence marks are that embedded targets make by their scripts.
const LAB: &str = "lab";
const MOST_STDERR: usize = 512;
const LOOK_AT_MARKS_EVERY: Nanos = Nanos::from_millis(200);
/// At most a megabyte that was appended since the last look.
const LAST_LOOKS_AT_MARKS: usize = 16;
/// What may clean up on SIGTERM has so long; an observer has twice that for its last look.
const GRACE: Nanos = Nanos::from_secs(1);
/// What was killed has ended by then, if it can. What has not is told while there is still somebody who listens.
const KILL_GRACE: Nanos = Nanos::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(3_600);
