//! The dashboard on a terminal of its own: it comes, obeys, and leaves the terminal as it was.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
#[expect(dead_code, reason = "these runs write no JSON report")]
mod hammer;

use std::fs::{self, File};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use folder::Folder;
use hammer::{DEADLINE, command, hammer};

const PLAN: &str = "\
name: on-a-terminal
target:
  lab: { http: { faults: { rules: [{ latency: { constant: 20ms } }] } } }
workloads:
  - name: web
    http: {}
    load: { rate: 50/s }
phases:
  measurement: 300s
";
/// Its answers take longer than the test: a drain that only another signal can end.
const SLOW_PLAN: &str = "\
target:
  lab: { http: { faults: { rules: [{ latency: { constant: 200s } }] } } }
workloads:
  - name: web
    http: {}
    load: { rate: 50/s }
    timeout: 300s
phases:
  measurement: 300s
  drain: 300s
";

/// `hammer run --tui` on a terminal of 80x24, or another one.
struct OnTerminal {
    child: Child,
    keys: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
    drawn: vt100::Parser,
    terminal: OwnedFd,
    /// As long as it is held, what is drawn is read.
    held: PipeWriter,
    folder: Folder,
}

impl OnTerminal {
    fn of(plan: &str) -> Self {
        Self::named("xterm", 80, plan)
    }

    /// The same on a terminal of that name and width.
    fn named(name_of_terminal: &str, columns: u16, plan: &str) -> Self {
        let folder = Folder::new();
        let plan = folder.write("plan.yaml", plan);
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let terminal = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        tcsetwinsize(&terminal, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let stream = || terminal.try_clone().unwrap();
        let mut command = command(&["run", &plan, "--tui"]);
        command.current_dir(folder.path("."));
        command.env("TERM", name_of_terminal).stdin(stream()).stdout(stream()).stderr(stream());
        let child = command.spawn().unwrap();
        let keys = File::from(master);
        let (let_go, held) = std::io::pipe().unwrap();
        let screen = read(keys.try_clone().unwrap(), let_go);
        Self {
            child,
            keys,
            screen,
            seen: String::new(),
            drawn: vt100::Parser::new(size(24), size(columns), 0),
            terminal,
            held,
            folder,
        }
    }

    /// Waits until the text stands on the screen.
    fn wait_for(&mut self, text: &str) {
        while !self.drawn.screen().contents().contains(text) {
            self.look(text);
        }
    }

    /// Waits until these bytes were written.
    fn wait_for_bytes(&mut self, bytes: &str) {
        while !self.seen.contains(bytes) {
            self.look(bytes);
        }
    }

    fn look(&mut self, awaited: &str) {
        let Ok(bytes) = self.screen.recv_timeout(DEADLINE) else {
            self.child.kill().unwrap();
            panic!("{awaited:?} never came:\n{}", self.drawn.screen().contents());
        };
        self.drawn.process(&bytes);
        self.seen.push_str(&String::from_utf8_lossy(&bytes));
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Its exit code, and what stands on the terminal that it left as it was.
    fn left(mut self) -> (i32, String) {
        self.wait_for_bytes(LEAVE);
        let code = self.child.wait().unwrap().code().unwrap();
        // What follows was written before it ended, and is read before this.
        writeln!(File::from(self.terminal.try_clone().unwrap()), "{END}").unwrap();
        self.wait_for_bytes(END);
        assert!(
            tcgetattr(&self.terminal).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
        );
        let (drawn, after) = self.seen.split_once(LEAVE).unwrap();
        assert!(drawn.contains(ENTER));
        (code, after.to_owned())
    }
}

fn size(cells: u16) -> NonZero<u16> {
    NonZero::new(cells).unwrap()
}

fn read(mut terminal: File, let_go: PipeReader) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while is_held(&terminal, &let_go)
            && let Ok(read @ 1..) = terminal.read(&mut buffer)
        {
            if sender.send(buffer[..read].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Waits until something was drawn; whether nobody let go of the terminal before.
fn is_held(terminal: &File, let_go: &PipeReader) -> bool {
    let mut both = [PollFd::new(terminal, PollFlags::IN), PollFd::new(let_go, PollFlags::IN)];
    poll(&mut both, None).unwrap();
    both[1].revents().is_empty()
}

#[test]
fn q_ends_the_arrivals_and_the_report_stands_on_a_restored_terminal() {
    let mut run = OnTerminal::of(PLAN);
    run.wait_for(": measurement");
    run.press(">");
    run.press("3");
    run.wait_for("110.0");
    run.press("q");
    run.wait_for("q again ends the run");
    run.press("q");
    let (code, report) = run.left();
    assert!(report.contains("ended: a key of the dashboard"), "{report}");
    assert!(report.contains("rate of web set to 1.1 times the plan's by hand"), "{report}");
    assert!(
        [130, 5].contains(&code),
        "{code}: interrupted, or on a busy machine not to be believed\n{report}"
    );
}

#[test]
fn a_second_q_ends_the_drain_and_leaves_a_report() {
    let mut run = OnTerminal::of(SLOW_PLAN);
    run.wait_for("measurement");
    run.press("qq");
    run.wait_for("draining");
    // However often it is pressed, the report is written.
    run.press("qqqq");
    let (code, after) = run.left();
    assert!(
        [130, 5].contains(&code),
        "{code}: interrupted, or on a busy machine not to be believed\n{after}"
    );
    assert!(after.contains("ended: a key of the dashboard"), "{after}");
}

#[test]
fn a_signal_drains_as_q_does_and_a_second_one_ends_that_and_restores_the_terminal() {
    let mut run = OnTerminal::of(SLOW_PLAN);
    run.wait_for("measurement");
    let pid = Pid::from_child(&run.child);
    kill_process(pid, Signal::INT).unwrap();
    run.press("3");
    run.wait_for("drain starts");
    kill_process(pid, Signal::INT).unwrap();
    let (code, after) = run.left();
    assert!(
        [130, 5].contains(&code),
        "{code}: interrupted, or on a busy machine not to be believed\n{after}"
    );
    assert!(after.contains("ended: interrupted by a signal"), "{after}");
}

#[test]
fn a_terminal_that_goes_away_takes_the_dashboard_with_it_and_not_the_run() {
    let mut run =
        OnTerminal::of(&format!("output: {{ report: report.json }}\n{}", PLAN.replace("300s", "4s")));
    run.wait_for(": measurement");
    // What is drawn last stands there: it waits for keys.
    run.wait_for("q quit");
    let OnTerminal { mut child, keys, terminal, held, folder, .. } = run;
    drop((keys, terminal, held));
    let (told, ended) = channel();
    let pid = Pid::from_child(&child);
    thread::spawn(move || told.send(child.wait().unwrap()));
    if ended.recv_timeout(DEADLINE).is_err() {
        kill_process(pid, Signal::KILL).unwrap();
        panic!("it never ended");
    }
    let report = fs::read_to_string(folder.path("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["run"]["interrupted"], false, "{}", report["run"]);
    assert_eq!(report["run"]["stopped"], "as planned", "{}", report["run"]);
}

#[test]
fn without_a_terminal_the_dashboard_is_refused() {
    let folder = Folder::new();
    let ended = hammer(&["run", &folder.write("plan.yaml", PLAN), "--tui"]);
    assert_eq!(ended.code, 2);
    assert_eq!(
        ended.stderr,
        "hammer: failed to show the dashboard (--tui): standard output is not a terminal\n"
    );
    assert_eq!(ended.stdout, "");
}

#[test]
fn a_terminal_that_only_prints_or_is_narrow_gets_progress_in_place_of_the_dashboard() {
    for (name, columns, why) in [
        ("dumb", 80, "(--tui): TERM is dumb, a terminal that only prints; progress "),
        ("xterm", 50, "(--tui): the terminal has 50 columns, and it needs 60; progress "),
    ] {
        let mut terminal = OnTerminal::named(name, columns, &PLAN.replace("300s", "3s"));
        terminal.wait_for_bytes(why);
        terminal.wait_for_bytes("promises   none made");
        terminal.child.wait().unwrap();
        let (_, behind) = terminal.seen.split_once(why).unwrap();
        let (progress, _) = behind.split_once("total      ").unwrap();
        assert!(progress.contains("measurement: offered"), "{name}: {progress}");
        assert!(!terminal.seen.contains(ENTER), "{name}");
    }
}

const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";
const END: &str = "[end of the test]";
