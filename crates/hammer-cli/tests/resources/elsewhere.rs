//! What `hammer resources` serves, as the run of a plan on another machine would have it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use hammer_report::report::servers::ComponentSource;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{PLAN, component};
use crate::folder::Folder;
use crate::hammer::{Started, command, hammer};

/// A process that computes whenever it is not stopped; it is stopped at first, and killed in the end.
struct Stopped(Child);

impl Stopped {
    fn new() -> Self {
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", "kill -STOP $$; while :; do :; done"]).stdin(Stdio::null());
        let child = Self(shell.stdout(Stdio::null()).spawn().unwrap());
        // It has computed nothing before that.
        while !child.is_stopped() {
            std::thread::yield_now();
        }
        child
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn is_stopped(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        kill_process(Pid::from_child(&self.0), Signal::KILL).unwrap();
        self.0.wait().unwrap();
    }
}

/// `hammer resources`, until it is dropped, and what it prints of itself.
struct Exporter {
    process: Started,
    block: Value,
}

impl Exporter {
    fn of(more: &[&str]) -> Self {
        let process = Started::of(command(&[&["resources", "--listen", "127.0.0.1:0"], more].concat()));
        let block = serde_json::from_str(&process.line_with("metrics")).unwrap();
        Self { process, block }
    }

    /// What it serves.
    fn page(&self) -> String {
        let url = self.block["machines"][0]["url"].as_str().unwrap();
        let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET /{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        // A test that has ended it already has nobody left to kill.
        let _ = self.process.child.kill();
        let _ = self.process.child.wait();
    }
}

/// A control group as the kernel would show it, of that use.
fn group(folder: &Folder, used_us: u64) -> String {
    let path = folder.path("group");
    std::fs::create_dir_all(&path).unwrap();
    folder.write("group/cpu.stat", &format!("usage_usec {used_us}\nthrottled_usec {}\n", used_us / 4));
    folder.write("group/memory.current", "70000000\n");
    path
}

#[test]
fn a_run_reads_what_is_served_of_processes_and_of_a_group_as_if_they_were_its_own() {
    let folder = Folder::new();
    let (busy, group) = (Stopped::new(), group(&folder, 8_000_000));
    let next = folder.write("next", "usage_usec 9000000\nthrottled_usec 2500000\n");
    let pid = busy.pid();
    let exporter = Exporter::of(&[&format!("served={pid}"), "--cgroup", &format!("served-group={group}")]);
    let mut resources = exporter.block.clone();
    let machine = resources["machines"][0]["name"].as_str().unwrap().to_owned();
    resources.as_object_mut().unwrap().extend([
        ("every".to_owned(), json!("100ms")),
        ("idle".to_owned(), json!("300ms")),
        ("processes".to_owned(), json!([{ "name": "own", "pid": pid }])),
        ("cgroups".to_owned(), json!([{ "name": "own-group", "path": group }])),
    ]);
    // At the ends of measurement it is stopped, so that each look there finds the same whenever it is.
    let works = format!("kill -CONT {pid}; cp {next} {group}/cpu.stat");
    let plan = format!(
        "{}resources: {resources}\nhooks: {{ at: [{{ at: 200ms, name: works, run: '{works}' }}, \
         {{ at: 800ms, name: stops, run: kill -STOP {pid} }}] }}\n",
        PLAN.replace("measurement: 1s", "measurement: 4s"),
    );
    let ended = hammer(&["run", &folder.write("plan.yaml", &plan), "--out", "-"]);
    assert!(busy.is_stopped());
    let report = ended.report();
    for (own, served) in [("own", "served"), ("own-group", "served-group")] {
        let (own, served) = (component(&report, own), component(&report, served));
        let used = (own.cpu.unwrap().used_s, served.cpu.unwrap().used_s);
        assert!(used.0 > 0.0 && (used.0 - used.1).abs() < 1e-6, "{own:?} {served:?}");
        assert_eq!((own.idle_mean_cores, served.idle_mean_cores), (Some(0.0), Some(0.0)), "{served:?}");
        assert_eq!((own.memory_max_bytes, own.gaps), (served.memory_max_bytes, served.gaps));
        assert_eq!((own.held_back_s, served.gaps), (served.held_back_s, 0));
        assert_eq!(served.source, ComponentSource::Metrics);
        let completed = report.totals.measurement.completed as f64;
        assert!((served.completed_per_core_s.unwrap() - completed / used.1).abs() < 1e-3, "{served:?}");
        assert!(served.cpu_ns_per_completed.unwrap() > 0, "{served:?}");
        // All that is known of it is in the text.
        let row =
            ended.stderr.lines().find(|line| line.trim_start().starts_with(&format!("{} ", served.name)));
        let row: Vec<&str> = row.unwrap_or_else(|| panic!("{}", ended.stderr)).split_whitespace().collect();
        assert!(row.len() >= 7 && !row.contains(&"-"), "{row:?}");
    }
    assert_eq!(component(&report, "served-group").held_back_s, Some(0.5));
    let servers = report.server_resources.as_ref().unwrap();
    let [other] = servers.machines.as_slice() else { panic!("{:?}", servers.machines) };
    assert_eq!(
        (other.name.as_str(), other.figures.cores, other.gaps),
        (machine.as_str(), servers.machine.cores, 0)
    );
    assert!(other.figures.idle.is_some() && other.figures.load_max.is_some(), "{other:?}");
    assert!(other.figures.measurement.unwrap().user > 0.0, "{other:?}");
    assert!(
        ended.stderr.contains(&format!("{machine}, {} cores: ", other.figures.cores)),
        "{}",
        ended.stderr
    );
    assert!(report.observations.iter().any(|series| series.name == format!("resources/{machine}/user")));
}

#[test]
fn a_component_that_starts_later_and_is_killed_is_found_by_its_command_line() {
    let folder = Folder::new();
    let exporter = Exporter::of(&["--command", "later=starts-later-than-hammer"]);
    let url = &exporter.block["metrics"][0]["url"];
    let page = json!([{ "name": "later", "url": url, "labels": { "name": "later" } }]);
    // It ends by itself, and what it used stays counted.
    let works = "timeout 1 sh -c \"# starts-later-than-hammer\n while :; do :; done\"; true";
    let plan = format!(
        "{}resources: {{ every: 50ms, metrics: {page} }}\nhooks: {{ at: [{{ at: 100ms, name: works, run: {} }}] }}\n",
        PLAN.replace("measurement: 1s", "measurement: 4s"),
        json!(works),
    );
    let report = hammer(&["run", &folder.write("plan.yaml", &plan), "--out", "-"]).report();
    let later = component(&report, "later");
    assert!(later.cpu.unwrap().used_s > 0.0 && later.memory_max_bytes.unwrap() > 0, "{later:?}");
    // That it is not there is what the page says, and no hole in what is known of it.
    assert_eq!(later.gaps, 0);
    let cpu = later.cpu.unwrap();
    assert!(later.absent_s > 1.0 && cpu.used_s / cpu.mean_cores < 3.0, "{later:?}");
    let notes = super::notes(&report);
    for said in ["there is no such component", "the component is there", "the component has gone"] {
        let said = format!("resources of later: {said}");
        assert_eq!(notes.iter().filter(|note| **note == said).count(), 1, "{notes:?}");
    }
    let cores = report.observations.iter().find(|series| series.name == "resources/later/cpu").unwrap();
    assert!(cores.last.value > 0.0, "nobody says that what is not there uses nothing: {cores:?}");
}

#[test]
fn what_is_not_there_has_no_sample_of_its_use_on_the_page() {
    let folder = Folder::new();
    let here = group(&folder, 8_000_000);
    let missing = format!("gone={}", folder.path("no-such-group"));
    let exporter = Exporter::of(&[
        &format!("own={}", std::process::id()),
        "--command",
        "never=a-command-that-nobody-ever-starts",
        "--cgroup",
        &format!("group={here}"),
        "--cgroup",
        &missing,
    ]);
    let page = exporter.page();
    let of = |name: &str| {
        let label = format!("{{name=\"{name}\"}} ");
        let samples = page.lines().filter_map(|line| line.split_once(&label));
        samples.map(|(metric, value)| (metric.to_owned(), value.to_owned())).collect::<Vec<_>>()
    };
    for name in ["own", "group"] {
        assert!(of(name).contains(&("hammer_component_up".to_owned(), "1".to_owned())), "{page}");
        assert!(of(name).iter().any(|(metric, _)| metric == "process_cpu_seconds_total"), "{page}");
    }
    assert_eq!(of("gone"), [("hammer_component_up".to_owned(), "0".to_owned())], "{page}");
    let never = [("hammer_component_up", "0"), ("hammer_processes", "0")];
    assert_eq!(of("never"), never.map(|(metric, value)| (metric.to_owned(), value.to_owned())), "{page}");
}

#[test]
fn a_page_that_goes_away_and_comes_back_is_a_gap_and_two_notes() {
    let folder = Folder::new();
    let busy = Stopped::new();
    let served = format!("served={}", busy.pid());
    let exporter = Exporter::of(&[&served]);
    let metrics = exporter.block["metrics"].clone();
    let address = metrics[0]["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    let address = address.strip_suffix("/metrics").unwrap().to_owned();
    let (own, again) = (exporter.process.child.id(), env!("CARGO_BIN_EXE_hammer"));
    // It comes back once its absence was told, and its counters start from zero again.
    let events = folder.path("events.jsonl");
    let again = format!(
        "kill -9 {own}; until grep -q 'resources of served: failed' {events}; do :; done; \
         while :; do {again} resources --listen {address} {served} >/dev/null 2>&1; done"
    );
    let plan = format!(
        "{}resources: {{ every: 50ms, metrics: {metrics} }}\nhooks: {{ at: [{{ at: 300ms, name: restart, run: {} }}] }}\n\
         output: {{ events: '{events}' }}\n",
        PLAN.replace("measurement: 1s", "measurement: 5s"),
        json!(again),
    );
    let report = hammer(&["run", &folder.write("plan.yaml", &plan), "--out", "-"]).report();
    let served = component(&report, "served");
    assert!(served.gaps > 0 && served.samples > 0, "{served:?}");
    assert_eq!(served.cpu.unwrap().used_s, 0.0, "it was stopped all the while: {served:?}");
    let notes = super::notes(&report);
    assert!(notes.iter().any(|note| note.starts_with("resources of served: failed to ")), "{notes:?}");
    assert!(notes.contains(&"resources of served: its page is read again"), "{notes:?}");
}

#[test]
fn what_cannot_be_served_is_refused_by_its_argument() {
    for (arguments, said) in [
        (["--listen", "198.51.100.1:9100"].as_slice(), "listen on 198.51.100.1:9100: it is neither"),
        (&["--listen", "0.0.0.0:0"], "listen on 0.0.0.0:0: it is neither"),
        (&["--listen", "[::]:0"], "--authorized must say who allowed it"),
        (&["--listen", "127.0.0.1:0", "rekor"], "use NAME=PID \"rekor\": it has no `=`"),
        (
            &["--listen", "127.0.0.1:0", "rekor=x"],
            "use NAME=PID \"rekor=x\": expected the number of a process",
        ),
        (&["--listen", "127.0.0.1:0", "rekor=0"], "use NAME=PID \"rekor=0\": there is no such process"),
        (&["--listen", "127.0.0.1:0", "a.b=1"], "use NAME=PID \"a.b=1\": "),
        (&["--listen", "127.0.0.1:0", "machine=1"], "`machine` is taken"),
        (&["--listen", "127.0.0.1:0", "a=1", "--command", "a=x"], "use --command \"a=x\": `a` is taken"),
        (&["--listen", "127.0.0.1:0", "--cgroup", "a="], "use --cgroup \"a=\": nothing is behind the `=`"),
    ] {
        let ended = hammer(&[&["resources"], arguments].concat());
        assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn a_signal_ends_it_well() {
    let mut exporter = Exporter::of(&["--authorized", "the owner of this machine"]);
    assert_eq!(exporter.block["metrics"], json!([]));
    exporter.process.signal(Signal::TERM);
    let status = exporter.process.child.wait().unwrap();
    assert_eq!(status.code(), Some(0));
}
