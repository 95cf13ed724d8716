//! What servers use, and what is observed of them, beside the load, as the reports say it.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/server.rs"]
mod server;

use std::process::{Child, Command, Stdio};

use hammer_report::Report;
use hammer_report::report::Event;
use hammer_report::report::servers::{ComponentResources, ComponentSource};

use folder::Folder;
use hammer::{Ended, hammer};
use server::Server;

/// Answers take 20 ms, so that a machine that is a little late is still believed.
const PLAN: &str = "\
target:
  lab: { http: { faults: { rules: [{ latency: { constant: 20ms } }] } } }
workloads:
  - name: web
    http: {}
    load: { rate: 50/s }
phases:
  warm_up: 100ms
  measurement: 1s
";

/// Carries the plan out with these resources; the JSON is on standard output.
fn run(resources: &str) -> Ended {
    run_with(&format!("resources: {resources}\n"))
}

/// Carries the plan out with these blocks behind it.
fn run_with(blocks: &str) -> Ended {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", &format!("{PLAN}{blocks}"));
    hammer(&["run", &plan, "--out", "-"])
}

/// The last value of an observation.
fn last(report: &Report, name: &str) -> Option<f64> {
    report.observations.iter().find(|series| series.name == name).map(|series| series.last.value)
}

fn component<'a>(report: &'a Report, name: &str) -> &'a ComponentResources {
    let components = &report.server_resources.as_ref().unwrap().components;
    components.iter().find(|component| component.name == name).unwrap()
}

fn notes(report: &Report) -> Vec<&str> {
    let mut notes = Vec::new();
    for event in &report.events {
        if let Event::Note { text, .. } = event {
            notes.push(text.as_str());
        }
    }
    notes
}

/// A process that computes until it is dropped, as a child of one that only waits.
struct Busy(Child);

impl Busy {
    /// Its command line holds `name`.
    fn named(name: &str) -> Self {
        let script = format!("# {name}\n(while :; do :; done) & trap 'kill $!' TERM; wait");
        let mut shell = Command::new("sh");
        Self(shell.args(["-c", &script]).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // The trap ends what computes as well.
        let shell = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(shell, rustix::process::Signal::TERM).unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_process_has_its_children_its_rest_and_its_share_of_each_operation() {
    let busy = Busy::named("computes-by-pid");
    let pid = busy.0.id();
    let ended = run(&format!("{{ every: 100ms, idle: 500ms, processes: [{{ name: server, pid: {pid} }}] }}"));
    let report = ended.report();

    let server = component(&report, "server");
    assert_eq!(server.source, ComponentSource::Processes);
    let cpu = server.cpu.unwrap();
    assert!(cpu.used_s > 0.0 && cpu.mean_cores > 0.0, "the child's time is the component's: {server:?}");
    assert!(cpu.max_cores >= cpu.mean_cores, "a window of 10 s is longer than measurement: {server:?}");
    assert!(server.idle_mean_cores.unwrap() > 0.0, "{server:?}");
    assert!(server.memory_max_bytes.unwrap() > 100_000, "{server:?}");
    let completed = report.totals.measurement.completed as f64;
    let each = server.cpu_ns_per_completed.unwrap() as f64;
    assert!((each - cpu.used_s * 1e9 / completed).abs() <= 1.0, "{server:?}");
    assert!((server.completed_per_core_s.unwrap() - completed / cpu.used_s).abs() < 1e-6, "{server:?}");
    assert_eq!(server.gaps, 0);

    let machine = report.server_resources.as_ref().unwrap().machine;
    assert!(machine.idle.unwrap().user > 0.0 && machine.measurement.unwrap().user > 0.0, "{machine:?}");
    assert!(machine.cores >= 1 && machine.memory_available_min_bytes.unwrap() > 0, "{machine:?}");

    let seen = |name: &str| report.observations.iter().any(|series| series.name == name);
    assert!(seen("resources/server/cpu") && seen("resources/server/memory"));
    assert!(seen("resources/machine/user") && seen("resources/machine/load"));
    assert!(ended.stderr.contains("\n  server  "), "{}", ended.stderr);
    assert!(!ended.stderr.contains("resources/"), "the table says it: {}", ended.stderr);
}

#[test]
fn a_process_is_found_by_its_command_line_and_missed_where_there_is_none() {
    let _busy = Busy::named("computes-by-name");
    let processes =
        "[{ name: there, command: computes-by-name }, { name: nowhere, command: no-such-program }]";
    let report = run(&format!("{{ every: 100ms, processes: {processes} }}")).report();
    assert!(component(&report, "there").cpu.unwrap().used_s > 0.0);
    assert_eq!(component(&report, "there").idle_mean_cores, None);
    let nowhere = component(&report, "nowhere");
    assert_eq!((nowhere.cpu.unwrap().used_s, nowhere.memory_max_bytes), (0.0, Some(0)));
    let said = "resources of nowhere: there is no such process";
    assert_eq!(notes(&report).iter().filter(|note| **note == said).count(), 1, "{:?}", notes(&report));
}

#[test]
fn a_process_that_is_killed_in_mid_run_is_told() {
    let folder = Folder::new();
    let busy = Busy::named("is-killed");
    let plan = format!(
        "{PLAN}resources: {{ every: 50ms, processes: [{{ name: server, pid: {0} }}] }}\n\
         hooks: {{ at: [{{ at: 300ms, name: kill, run: 'kill {0}' }}] }}\n",
        busy.0.id()
    );
    // Nobody waits for it while hammer runs; what has ended and was not waited for has no memory any more.
    let report = hammer(&["run", &folder.write("plan.yaml", &plan), "--out", "-"]).report();
    let memory = report.observations.iter().find(|series| series.name == "resources/server/memory").unwrap();
    assert!(memory.first.value > 0.0 && memory.last.value == 0.0, "{memory:?}");
    assert!(component(&report, "server").cpu.unwrap().used_s > 0.0, "what it used stays counted");
}

#[test]
fn a_server_is_asked_on_its_page_of_metrics() {
    let server = Server::answering_each(|n| {
        let cpu = 100.0 + n as f64;
        let page = format!("process_cpu_seconds_total {cpu}\nprocess_resident_memory_bytes 5.0e+07\n");
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{page}", page.len())
    });
    let ended =
        run(&format!("{{ every: 100ms, metrics: [{{ name: fulcio, url: '{}metrics' }}] }}", server.url()));
    let report = ended.report();
    let fulcio = component(&report, "fulcio");
    assert_eq!(fulcio.source, ComponentSource::Metrics);
    // A second more with every look.
    assert_eq!(fulcio.cpu.unwrap().used_s, fulcio.samples as f64 - 1.0, "{fulcio:?}");
    assert_eq!((fulcio.memory_max_bytes, fulcio.gaps), (Some(50_000_000), 0));
    let requests = server.requests();
    assert_eq!(requests[0].line, "GET /metrics HTTP/1.1");
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_page_without_the_metric_is_a_gap_and_a_note() {
    let server = Server::ok();
    let report =
        run(&format!("{{ every: 100ms, metrics: [{{ name: fulcio, url: '{}' }}] }}", server.url())).report();
    let fulcio = component(&report, "fulcio");
    assert_eq!((fulcio.cpu, fulcio.samples), (None, 0));
    assert!(fulcio.gaps > 0);
    let said = "resources of fulcio: failed to find process_cpu_seconds_total on the page";
    assert_eq!(notes(&report).iter().filter(|note| **note == said).count(), 1, "{:?}", notes(&report));
    assert_eq!(report.totals.measurement.fates.accepted, 50, "the load goes on");
}

#[test]
fn the_first_number_that_a_command_prints_is_an_observation() {
    let folder = Folder::new();
    let count = folder.path("count");
    let command = format!("echo . >> {count}; echo \"rows: $(wc -l < {count}) of 900\"; echo 7");
    let ended = run_with(&format!("observe: [{{ name: rows, every: 100ms, run: '{command}' }}]\n"));
    let report = ended.report();
    let rows = report.observations.iter().find(|series| series.name == "observe/rows").unwrap();
    assert!(rows.first.value >= 1.0 && rows.last.value > rows.first.value, "{rows:?}");
    assert_eq!(last(&report, "observe/rows/gaps"), None);
    assert!(ended.stderr.contains("observe/rows "), "{}", ended.stderr);
}

#[test]
fn a_command_that_fails_or_takes_too_long_is_a_gap_and_not_an_error() {
    let report = run_with(
        "observe: [{ name: bad, every: 100ms, run: 'echo 5; exit 3' }, { name: slow, every: 200ms, run: sleep 600 },\n\
         { name: mute, every: 100ms, run: 'echo no number' }]\n",
    )
    .report();
    for (name, why) in [
        ("bad", "the command ended with exit status: 3"),
        ("slow", "the command took longer than 200ms"),
        ("mute", "the command printed no number"),
    ] {
        assert_eq!(last(&report, &format!("observe/{name}")), None);
        assert!(last(&report, &format!("observe/{name}/gaps")).unwrap() >= 1.0);
        let said = format!("observe/{name} has a gap: {why}");
        assert_eq!(notes(&report).iter().filter(|note| **note == said).count(), 1, "{:?}", notes(&report));
    }
    assert_eq!(report.totals.measurement.fates.accepted, 50, "the load goes on");
}

#[test]
fn a_metric_is_the_sum_of_the_samples_with_its_labels() {
    let page = "queue{kind=\"a\",shard=\"1\"} 3\nqueue{kind=\"a\",shard=\"2\"} 4\nqueue{kind=\"b\"} 90\n";
    let server =
        Server::answering(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{page}", page.len()));
    let number = |name: &str, rest: &str| {
        format!("{{ name: {name}, every: 100ms, scrape: {{ url: '{}metrics', {rest} }} }}", server.url())
    };
    let observe = [
        number("queue", "metric: queue, labels: { kind: a }"),
        number("all", "metric: queue"),
        number("nothing", "metric: queues"),
    ];
    let report = run_with(&format!("observe: [{}]\n", observe.join(", "))).report();
    assert_eq!(last(&report, "observe/queue"), Some(7.0));
    assert_eq!(last(&report, "observe/all"), Some(97.0));
    assert_eq!(last(&report, "observe/nothing"), None);
    assert!(last(&report, "observe/nothing/gaps").unwrap() >= 1.0);
    assert!(notes(&report).contains(&"observe/nothing has a gap: the page has no number for queues"));
}

#[test]
fn what_contradicts_itself_is_refused_where_it_stands() {
    let page = "url: 'http://127.0.0.1:1'";
    for (block, said) in [
        (
            format!("resources: {{ processes: [{{ name: a, pid: 1 }}], metrics: [{{ name: a, {page} }}] }}"),
            "resources.metrics[0].name: `a` is taken",
        ),
        (
            "resources: { processes: [{ name: machine, pid: 1 }] }".to_owned(),
            "resources.processes[0].name: `machine` is taken",
        ),
        (
            "resources: { processes: [{ name: a }] }".to_owned(),
            "resources.processes[0].pid: give pid or command",
        ),
        (
            "resources: { processes: [{ name: a, pid: 1, command: b }] }".to_owned(),
            "resources.processes[0].command: there is a pid already",
        ),
        ("resources: { metrics: [{ name: a, url: 'http://198.51.100.1:1' }] }".to_owned(), "198.51.100.1"),
        ("observe: [{ name: a }]".to_owned(), "observe[0].run: give run or scrape"),
        (
            "observe: [{ name: a, run: 'true' }, { name: a, run: 'true' }]".to_owned(),
            "observe[1].name: `a` is taken",
        ),
        (
            format!("observe: [{{ name: a, run: 'true', scrape: {{ {page}, metric: m }} }}]"),
            "observe[0].scrape: there is a run already",
        ),
        (
            "observe: [{ name: a, scrape: { url: 'http://198.51.100.1:1', metric: m } }]".to_owned(),
            "198.51.100.1",
        ),
    ] {
        let ended = run_with(&format!("{block}\n"));
        assert_eq!(ended.code, 2, "{block}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{block}: {}", ended.stderr);
    }
}
