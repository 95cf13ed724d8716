//! The live page of a run, and the door by which it is steered: what is asked of it is in the report, and nobody else is let in.

#[expect(dead_code, reason = "other tests read what is printed")]
#[path = "support/attended.rs"]
mod attended;
#[path = "support/folder.rs"]
mod folder;
#[expect(dead_code, reason = "other tests have the report on standard output")]
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/on_time.rs"]
mod on_time;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use hammer_report::Report;
use hammer_report::report::Event;
use hammer_report::report::event::Command;
use rustix::process::Signal;
use serde_json::{Value, json};

use folder::Folder;
use hammer::{DEADLINE, Ended, Started, command, hammer};
use on_time::exit_if_on_time;

const PLAN: &str = "\
name: steered
target: { lab: { http: {} } }
workloads:
  - { name: get, http: {}, load: { rate: 100/s } }
  - { name: users, http: {}, load: { users: 2, think: 5ms } }
phases: { warm_up: 200ms, measurement: 600s }
";

/// A run with a live page, and where that is.
struct ShownRun {
    started: Started,
    /// `127.0.0.1:port`.
    address: String,
    folder: Folder,
}

impl ShownRun {
    fn start(plan: &str, flags: &[&str]) -> Self {
        let folder = Folder::new();
        let (plan, out) = (folder.write("plan.yaml", plan), folder.path("report.json"));
        let web: &[&str] = if flags.contains(&"--web") { &[] } else { &["--web", "127.0.0.1:0"] };
        let args = [&["run", &plan, "--out", &out], web, flags].concat();
        let mut run = command(&args);
        run.env("XDG_RUNTIME_DIR", folder.path("runtime"));
        let started = Started::of(run);
        let address = loop {
            let line = started.stderr.recv_timeout(DEADLINE).unwrap();
            if let Some((_, url)) = line.split_once("live page at http://") {
                break url.trim_end().trim_end_matches('/').to_owned();
            }
        };
        Self { started, address, folder }
    }

    fn steered(plan: &str) -> Self {
        Self::start(plan, &["--control"])
    }

    /// `hammer ctl` with the token that the run has made.
    fn ctl(&self, args: &[&str]) -> Ended {
        let url = format!("http://{}", self.address);
        let all = [&["ctl", &url], args].concat();
        let mut ctl = command(&all);
        ctl.env("XDG_RUNTIME_DIR", self.folder.path("runtime"));
        Started::of(ctl).ended()
    }

    /// Waits until it stands so.
    fn status(&self, stands: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..MOST_LOOKS {
            let ended = self.ctl(&["status", "--json"]);
            if ended.code == 0 {
                let status = serde_json::from_str(&ended.stdout).unwrap();
                if stands(&status) {
                    return status;
                }
            }
        }
        panic!("the run never stands so: {:?}", self.ctl(&["status"]));
    }

    /// What is new on the page, from now on.
    fn live(&self) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        write!(stream, "GET /live HTTP/1.1\r\nHost: {}\r\n\r\n", self.address).unwrap();
        BufReader::new(stream)
    }

    fn token(&self) -> String {
        let folder = fs::read_dir(self.folder.path("runtime/hammer")).unwrap();
        let files: Vec<_> = folder.map(|file| file.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        fs::read_to_string(&files[0]).unwrap().trim().to_owned()
    }

    /// The status and the body of the answer to a request with these lines in its head.
    fn asked(&self, line: &str, head: &[&str], body: &str) -> (u16, String) {
        let (status, _, body) = self.answered(line, head, body);
        (status, body)
    }

    /// The same, with the head of the answer between the two.
    fn answered(&self, line: &str, head: &[&str], body: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut all = format!("{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !head.iter().any(|header| header.starts_with("Host")) {
            all.push_str(&format!("Host: {}\r\n", self.address));
        }
        head.iter().for_each(|header| all.push_str(&format!("{header}\r\n")));
        write!(stream, "{all}\r\n{body}").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_owned(), body.to_owned())
    }

    fn ended(self) -> (Ended, Report) {
        let Self { started, folder, .. } = self;
        let ended = started.ended();
        let report = Report::parse(&fs::read_to_string(folder.path("report.json")).unwrap()).unwrap();
        assert_eq!(report.check(), Vec::<String>::new());
        (ended, report)
    }
}

#[test]
fn what_is_asked_over_the_door_is_done_and_is_in_the_report() {
    let run = ShownRun::steered(PLAN);
    run.status(|status| status["phase"] == "measurement" && status["at_ns"].as_u64() > Some(0));
    for (args, said) in [
        (&["rate", "get", "250/s"][..], "rate of get set to 2.5 times the plan's by hand"),
        (&["in-flight", "users", "1"], "in-flight limit of users set to 1 by hand"),
        (&["mark", "deploy 17"], "deploy 17 (control)"),
        (&["pause"], "arrivals paused by hand"),
    ] {
        let ended = run.ctl(args);
        assert!(ended.code == 0 && ended.stdout.contains(said), "{args:?}: {ended:?}");
        assert!(ended.stdout.starts_with("command "), "{ended:?}");
    }
    let status = run.status(|status| status["paused"] == true);
    assert_eq!(
        status["workloads"],
        json!([
            { "name": "get", "closed_loop": false, "rate_per_s": 250.0, "factor": 2.5, "in_flight": status["workloads"][0]["in_flight"] },
            { "name": "users", "closed_loop": true, "rate_per_s": null, "factor": 1.0, "in_flight": 1 },
        ])
    );
    for (args, why) in [
        (&["rate", "users", "2x"][..], "refused by users: its load is closed"),
        (&["rate", "nobody", "2x"], "no workload is called nobody: there are get, users"),
        (&["rate", "users", "500/s"], "the load of users is closed"),
        (&["in-flight", "users", "3"], "refused by users: its load is closed: a command leaves users out"),
        (&["rate", "500/s"], "500/s is the rate of one workload: say of which (get, users)"),
        (&["mark", ""], "a mark needs a text"),
    ] {
        let ended = run.ctl(args);
        assert!(ended.code == 2 && ended.stderr.contains(why), "{args:?}: {ended:?}");
    }
    assert_eq!(run.ctl(&["resume"]).code, 0);
    let ended = run.ctl(&["stop", "enough seen", "--json"]);
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(answer["words"], "stopped: enough seen");
    let token = run.token();
    let (ended, report) = run.ended();
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{}", ended.stderr);
    assert_eq!(report.run.stopped, "enough seen");
    let commands = report.events.iter().filter_map(|event| match event {
        Event::Command { id, command, refused, .. } => Some((id.unwrap(), command.clone(), refused.len())),
        _ => None,
    });
    let rate = |workload: &str, factor| Command::Rate { workload: Some(workload.to_owned()), factor };
    let in_flight = |limit| Command::InFlight { workload: Some("users".to_owned()), limit };
    assert_eq!(
        commands.collect::<Vec<_>>(),
        [
            (1, rate("get", 2.5), 0),
            (2, in_flight(1), 0),
            (4, Command::Pause, 0),
            (5, rate("users", 2.0), 1),
            (6, in_flight(3), 1),
            (7, Command::Resume, 0),
            (8, Command::Stop { reason: "enough seen".to_owned() }, 0),
        ]
    );
    let marks = report.events.iter().filter_map(|event| match event {
        Event::Mark { source, text, id, .. } => Some((source.as_str(), text.as_str(), *id)),
        _ => None,
    });
    assert_eq!(marks.collect::<Vec<_>>(), [("control", "deploy 17", Some(3))]);
    let all = format!("{}{}{}", ended.stdout, ended.stderr, serde_json::to_string(&report).unwrap());
    assert!(!all.contains(&token), "the token is in what the run says");
}

#[test]
fn nobody_steers_without_the_token_from_another_origin_or_through_a_page_that_is_read_only() {
    let run = ShownRun::steered(PLAN);
    run.status(|status| status["phase"] == "measurement");
    let pause = r#"{"command":"pause"}"#;
    let right = format!("Authorization: Bearer {}", run.token());
    for (head, status, why) in [
        (&[][..], 401, "the token of this door is missing"),
        (&["Authorization: Bearer another-token-of-that-length"], 401, "the token of this door"),
        (&[&*format!("Cookie: hammer_token={}", run.token())], 401, "the token of this door"),
        (&[&right, "Origin: http://evil.example"], 403, "another origin"),
        (&[&right, "Origin: null"], 403, "another origin"),
        (&[&right, "Host: evil.example"], 403, "localhost"),
    ] {
        let (found, body) = run.asked("POST /commands", head, pause);
        assert!(found == status && body.contains(why), "{head:?}: {found} {body}");
    }
    for (line, head, body, status) in [
        ("GET /commands", &*right, "", 405),
        ("DELETE /", &right, "", 405),
        ("POST /commands", &right, "{}", 400),
        ("POST /commands", &right, r#"{"command":"rate","rate":"fast"}"#, 422),
        ("POST /commands", &right, &"x".repeat(20_000), 413),
        ("GET /elsewhere", &right, "", 404),
    ] {
        assert_eq!(run.asked(line, &[head], body).0, status, "{line} {body}");
    }
    let origin = format!("Origin: http://{}", run.address);
    assert_eq!(run.asked("POST /commands", &[&right, &origin], pause).0, 200);
    run.started.signal(Signal::TERM);
    let (_, report) = run.ended();
    let commands = report.events.iter().filter(|event| matches!(event, Event::Command { .. })).count();
    assert_eq!(commands, 1);

    let run = ShownRun::start(PLAN, &[]);
    let ended = run.ctl(&["pause"]);
    assert!(ended.code == 2 && ended.stderr.contains("--control"), "{ended:?}");
    let (status, body) = run.asked("POST /commands", &[&right], pause);
    assert!(status == 403 && body.contains("read-only"), "{status} {body}");
    run.started.signal(Signal::TERM);
    run.ended();
}

/// The data of the next event of that stream, with its name.
fn next_event(stream: &mut impl std::io::BufRead) -> (String, Value) {
    let mut lines = stream.lines().map(Result::unwrap);
    let name = lines.by_ref().find_map(|line| Some(line.strip_prefix("event: ")?.to_owned())).unwrap();
    let data = lines.next().unwrap();
    (name, serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap())
}

#[test]
fn whoever_looks_on_is_given_what_changes_and_at_the_end_what_the_report_says() {
    let run = ShownRun::steered(PLAN);
    let (status, page) = run.asked("GET /", &[], "");
    assert!(status == 200 && page.contains("EventSource('live')"), "{page}");
    let mut stream = run.live();
    let mut events: Vec<_> = (0..3).map(|_| next_event(&mut stream)).collect();
    assert!(events.iter().all(|(name, _)| name == "parts"));
    assert_eq!(run.ctl(&["stop"]).code, 0);
    while events.last().is_none_or(|(name, _)| name != "end") {
        events.push(next_event(&mut stream));
    }
    let (_, report) = run.ended();
    let (_, last) = events.last().unwrap();
    assert_eq!(
        last["title"].as_str().unwrap(),
        format!("steered: {}", hammer_report::text::verdict(&report))
    );
    let parts = |update: &Value| {
        let parts = update["parts"].as_array().unwrap().iter();
        parts.map(|part| part["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(parts(&events[0].1).contains(&"banner".to_owned()));
    let facts = last["parts"].as_array().unwrap().iter().find(|part| part["id"] == "facts").unwrap();
    let offered = hammer_report::text::number::grouped(report.totals.all.offered);
    assert!(facts["html"].as_str().unwrap().contains(&format!("<dd>{offered}</dd>")), "{offered}: {facts}");
}

#[test]
fn a_page_that_others_can_reach_needs_a_token_from_whoever_looks_on() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    let ended = hammer(&["run", &plan, "--web", "0.0.0.0:0"]);
    assert!(ended.code == 2 && ended.stderr.contains("--web-token"), "{ended:?}");
    let token = folder.path("token");
    let ended = hammer(&["run", &plan, "--web", "127.0.0.1:0", "--web-token", &token]);
    assert!(ended.code == 2 && ended.stderr.contains("nobody needs a token"), "{ended:?}");
    assert!(!fs::exists(&token).unwrap());
    let mut run = ShownRun::start(PLAN, &["--web", "0.0.0.0:0", "--web-token", &token]);
    run.address = run.address.replace("0.0.0.0", "127.0.0.1");
    let text = fs::read_to_string(&token).unwrap().trim().to_owned();
    for line in ["GET /live", "GET /status", "GET /"] {
        let (status, body) = run.asked(line, &[], "");
        assert!(status == 401 && !body.contains("steered"), "{line}: {status} {body}");
    }
    assert_eq!(run.asked("POST /session", &[], "token=another").0, 401);
    let (status, _) = run.asked("POST /session", &["Origin: http://evil.example"], &format!("token={text}"));
    assert_eq!(status, 403);
    let (status, head, _) = run.answered("POST /session", &[], &format!("token={text}\r\n"));
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")?.split(';').next()).unwrap();
    assert!(status == 303 && !cookie.contains(&text), "{head}");
    let cookie = format!("Cookie: {cookie}");
    assert_eq!(run.asked("GET /", &[&cookie], "").0, 200);
    // A browser sends the cookie to whoever answers at another port.
    let as_bearer = cookie.replace("Cookie: hammer_token=", "Authorization: Bearer ");
    assert_eq!(run.asked("GET /status", &[&as_bearer], "").0, 401);
    assert_eq!(run.asked("GET /", &[&format!("Cookie: hammer_token={text}")], "").0, 401);
    assert_eq!(run.asked("GET /status", &[&format!("Authorization: Bearer {text}")], "").0, 200);
    run.started.signal(Signal::TERM);
    run.ended();
}

#[test]
fn a_page_that_is_left_open_takes_nothing_of_the_next_command_at_its_address_for_its_own() {
    let run = |plan: &str| {
        let run = ShownRun::start(plan, &[]);
        run.status(|status| status["at_ns"].as_u64() > Some(0));
        let (_, update) = next_event(&mut run.live());
        run.started.signal(Signal::TERM);
        run.ended();
        update["run"].as_str().unwrap().to_owned()
    };
    let door = |run: &str| run.rsplit_once('-').unwrap().0.to_owned();
    let (first, second) = (run(PLAN), run(PLAN));
    assert!(first.ends_with("-1") && second.ends_with("-1"), "{first} {second}");
    assert_ne!(door(&first), door(&second));
}

#[test]
fn whoever_looks_on_is_told_of_a_run_that_does_not_start() {
    let plan = PLAN
        .replace("target: {", "target: { ready: { timeout: 600s, path: /ready, expect: { status: 204 } },");
    let run = ShownRun::start(&plan, &[]);
    let mut stream = run.live();
    assert_eq!(next_event(&mut stream).0, "parts");
    run.started.signal(Signal::TERM);
    while next_event(&mut stream).0 != "end" {}
    assert_eq!(run.started.ended().code, 130);
}

#[test]
fn a_stop_ends_the_run_that_is_under_way_and_the_next_one_follows() {
    // Nobody accepts: the run stays in its opening until its dial is given up.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let plan = format!(
        "target: {{ url: \"https://{}\" }}\nrounds: 2\nworkloads:\n  - {{ name: get, http: {{}}, load: {{ rate: 10/s }} }}\nphases: {{ measurement: 600s }}\n",
        listener.local_addr().unwrap()
    );
    let run = ShownRun::steered(&plan);
    for number in 1..=2 {
        run.status(|status| status["run"] == number);
        let ended = run.ctl(&["stop", "enough"]);
        assert!(ended.stdout.contains("stopped: enough"), "{ended:?}");
    }
    let ShownRun { started, folder, .. } = run;
    started.ended();
    let summary: Value =
        serde_json::from_str(&fs::read_to_string(folder.path("report.json")).unwrap()).unwrap();
    assert_eq!(summary["runs"].as_array().unwrap().len(), 2, "{summary}");
}

/// Each is a process, which takes milliseconds at least.
const MOST_LOOKS: usize = 5_000;
