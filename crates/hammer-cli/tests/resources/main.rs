//! What servers use, and what is observed of them, beside the load, as the reports say it.

mod elsewhere;
mod prometheus;

#[path = "../support/attended.rs"]
mod attended;
#[path = "../support/folder.rs"]
mod folder;
#[path = "../support/hammer.rs"]
mod hammer;
#[path = "../support/server.rs"]
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
fn a_process_that_is_not_there_is_refused_where_its_number_stands() {
    // Above the greatest number of a process (PID_MAX_LIMIT of Linux).
    for kind in ["processes", "cgroups"] {
        let ended = run(&format!("{{ {kind}: [{{ name: server, pid: 4200000 }}] }}"));
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
        let said = format!("resources.{kind}[0].pid: there is no process 4200000");
        assert!(ended.stderr.contains(&said), "{}", ended.stderr);
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
    assert_eq!((nowhere.cpu, nowhere.memory_max_bytes, nowhere.samples), (None, None, 0), "{nowhere:?}");
    assert!(nowhere.absent_s > 0.5 && nowhere.gaps == 0, "{nowhere:?}");
    assert!(!report.observations.iter().any(|series| series.name.starts_with("resources/nowhere/")));
    let said = "resources of nowhere: there is no such process";
    assert_eq!(notes(&report).iter().filter(|note| **note == said).count(), 1, "{:?}", notes(&report));
}

#[test]
fn a_process_that_is_killed_in_mid_run_is_told() {
    let folder = Folder::new();
    let busy = Busy::named("is-killed");
    let plan = format!(
        "{1}resources: {{ every: 50ms, processes: [{{ name: server, pid: {0} }}] }}\n\
         hooks: {{ at: [{{ at: 2s, name: kill, run: 'kill {0}' }}] }}\n",
        busy.0.id(),
        PLAN.replace("measurement: 1s", "measurement: 4s"),
    );
    // Nobody waits for it while hammer runs: its line of `/proc` stays, and it has no memory any more.
    let ended = hammer(&["run", &folder.write("plan.yaml", &plan), "--out", "-"]);
    let report = ended.report();
    let memory = report.observations.iter().find(|series| series.name == "resources/server/memory").unwrap();
    assert!(memory.last.value > 0.0, "{memory:?}");
    let server = component(&report, "server");
    let cpu = server.cpu.unwrap();
    assert!(cpu.used_s > 0.0, "what it used stays counted");
    assert!(server.absent_s > 1.0 && server.gaps == 0, "{server:?}");
    // Of four seconds it was there for two.
    assert!(cpu.used_s / cpu.mean_cores < 3.0, "{server:?}");
    assert!(notes(&report).contains(&"resources of server: the process has gone"), "{:?}", notes(&report));
    let said = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("absent server: not there for "), "{}", ended.stderr);
    assert!(said.contains("s of measurement; its mean is that of the rest"), "{}", ended.stderr);
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
fn a_cgroup_has_its_use_its_memory_and_for_how_long_its_limit_held_it_back() {
    let folder = Folder::new();
    let group = folder.path("group");
    std::fs::create_dir(&group).unwrap();
    // As the kernel's own would be: the use of CPU grows, by what a command beside the load writes.
    let write =
        |used: u64| format!("usage_usec {used}\nuser_usec 1\nnr_throttled 2\nthrottled_usec {}\n", used / 2);
    folder.write("group/cpu.stat", &write(5_000_000));
    folder.write("group/memory.current", "70000000\n");
    let next = folder.write("next", &write(6_000_000));
    let plan = format!(
        "{PLAN}resources: {{ every: 50ms, cgroups: [{{ name: rekor, path: '{group}' }}, {{ name: gone, path: no/such/group }}] }}\n\
         hooks: {{ at: [{{ at: 300ms, name: works, run: 'cp {next} {group}/cpu.stat' }}] }}\n",
    );
    let ended = hammer(&["run", &folder.write("plan.yaml", &plan), "--out", "-"]);
    let report = ended.report();
    let rekor = component(&report, "rekor");
    assert_eq!((rekor.source, rekor.memory_max_bytes), (ComponentSource::Cgroup, Some(70_000_000)));
    assert_eq!((rekor.cpu.unwrap().used_s, rekor.held_back_s), (1.0, Some(0.5)), "{rekor:?}");
    assert!(ended.stderr.contains("rekor: held back by its limit of CPU for 0.50 s"), "{}", ended.stderr);
    let gone = component(&report, "gone");
    assert!(gone.cpu.is_none() && gone.gaps == 0 && gone.absent_s > 0.5, "{gone:?}");
    let said = "resources of gone: there is no such cgroup";
    assert_eq!(notes(&report).iter().filter(|note| **note == said).count(), 1, "{:?}", notes(&report));
}

/// Not on a machine without the hierarchy of version 2, or in a container that cannot see its own group.
#[test]
fn the_cgroup_of_a_process_is_that_of_version_two() {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
    let root = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"));
    let (root, group) =
        (root.and_then(|line| line.split(' ').nth(1)), own.lines().find_map(|line| line.strip_prefix("0::")));
    let stat = root.zip(group).map(|(root, group)| format!("{root}{group}/cpu.stat"));
    let is_there = stat.is_some_and(|stat| std::fs::exists(stat).unwrap());
    let report =
        run(&format!("{{ every: 100ms, cgroups: [{{ name: own, pid: {} }}] }}", std::process::id())).report();
    let own = component(&report, "own");
    let is_sampled = own.cpu.is_some_and(|cpu| cpu.used_s > 0.0);
    assert!(is_sampled == is_there && (own.absent_s > 0.0) != is_there, "{own:?}");
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
fn a_number_comes_from_a_prometheus_that_gets_the_token_and_the_report_does_not() {
    let body = r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{"job":"a"},"value":[1,"2.5"]},{"metric":{},"value":[1,"4"]}]}}"#;
    let server =
        Server::answering(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()));
    let folder = Folder::new();
    let token = folder.write("token", "canary-of-prometheus\n");
    let query = |name: &str, more: &str| {
        format!(
            "{{ name: {name}, every: 100ms, promql: {{ url: '{}', query: 'sum(up) + 1'{more} }} }}",
            server.url()
        )
    };
    let observe = query("pods", &format!(", token: {{ file: '{token}' }}"));
    let ended = run_with(&format!("observe: [{observe}]\n"));
    let report = ended.report();
    assert_eq!(last(&report, "observe/pods"), Some(6.5));
    assert_eq!(last(&report, "observe/pods/gaps"), None);
    let requests = server.requests();
    let request = &requests[0];
    assert_eq!(request.line, "GET /api/v1/query?query=sum%28up%29%20%2B%201 HTTP/1.1");
    assert_eq!(request.header("authorization"), Some("Bearer canary-of-prometheus"));
    assert!(!ended.stdout.contains("canary") && !ended.stderr.contains("canary"), "{ended:?}");
}

#[test]
fn a_query_that_prometheus_refuses_is_a_gap_with_its_reason() {
    let body = r#"{"status":"error","errorType":"bad_data","error":"invalid parameter"}"#;
    let server = Server::answering(format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ));
    let nobody = Server::ok();
    let number = |name: &str, url: String| {
        format!("{{ name: {name}, every: 100ms, promql: {{ url: '{url}', query: up }} }}")
    };
    let observe = [number("bad", server.url()), number("other", nobody.url())].join(", ");
    let report = run_with(&format!("observe: [{observe}]\n")).report();
    assert_eq!(last(&report, "observe/bad"), None);
    let said = notes(&report);
    assert!(said.contains(&"observe/bad has a gap: the query has no number: invalid parameter"), "{said:?}");
    let other = "observe/other has a gap: the answer is 200 OK, and none of Prometheus's API";
    assert!(said.contains(&other), "{said:?}");
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
        (
            "resources: { cgroups: [{ name: a }] }".to_owned(),
            "resources.cgroups[0].path: give path, pid or unit",
        ),
        (
            "resources: { cgroups: [{ name: a, pid: 1, unit: a.service }] }".to_owned(),
            "resources.cgroups[0].unit: there is a pid already",
        ),
        (
            "resources: { processes: [{ name: a, pid: 1 }], cgroups: [{ name: a, pid: 1 }] }".to_owned(),
            "resources.cgroups[0].name: `a` is taken",
        ),
        ("resources: { metrics: [{ name: a, url: 'http://198.51.100.1:1' }] }".to_owned(), "198.51.100.1"),
        (
            format!(
                "resources: {{ metrics: [{{ name: a, {page} }}], promql: [{{ name: a, {page}, cpu: up }}] }}"
            ),
            "resources.promql[0].name: `a` is taken",
        ),
        (
            format!("resources: {{ metrics: [{{ name: a, {page} }}], machines: [{{ name: a, {page} }}] }}"),
            "resources.machines[0].name: `a` is taken",
        ),
        ("resources: { machines: [{ name: a, url: 'http://198.51.100.1:1' }] }".to_owned(), "198.51.100.1"),
        (
            "resources: { promql: [{ name: a, url: 'http://198.51.100.1:1', cpu: up }] }".to_owned(),
            "198.51.100.1",
        ),
        (
            format!("resources: {{ promql: [{{ name: a, {page} }}] }}"),
            "resources.promql[0].cpu: it is not given",
        ),
        (
            format!(
                "resources: {{ promql: [{{ name: a, {page}, cpu: up, token: {{ env: NO_SUCH_VARIABLE }} }}] }}"
            ),
            "resources.promql[0].token.env: failed to read a secret",
        ),
        (
            format!("resources: {{ promql: [{{ name: a, {page}, cpu: up, token: canary-of-a-token }}] }}"),
            "resources.promql[0].token: expected a map with file or env",
        ),
        (
            format!(
                "resources: {{ promql: [{{ name: a, {page}, cpu: up, roots: [ /no/such/file.pem ] }}] }}"
            ),
            "resources.promql[0]: ",
        ),
        ("observe: [{ name: a }]".to_owned(), "observe[0].run: give run, scrape, promql or lab"),
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
        (
            "observe: [{ name: a, promql: { url: 'http://198.51.100.1:1', query: up } }]".to_owned(),
            "198.51.100.1",
        ),
        (
            format!("observe: [{{ name: a, run: 'true', promql: {{ {page}, query: up }} }}]"),
            "observe[0].promql: there is a run already",
        ),
        (
            format!(
                "observe: [{{ name: a, promql: {{ {page}, query: up, token: {{ env: NO_SUCH_VARIABLE }} }} }}]"
            ),
            "observe[0].promql.token.env: failed to read a secret",
        ),
        (
            format!(
                "observe: [{{ name: a, promql: {{ {page}, query: up, roots: [ /no/such/file.pem ] }} }}]"
            ),
            "observe[0].promql: ",
        ),
    ] {
        let ended = run_with(&format!("{block}\n"));
        assert_eq!(ended.code, 2, "{block}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{block}: {}", ended.stderr);
        assert!(!ended.stderr.contains("canary"), "{block}: {}", ended.stderr);
    }
}

/// Users who come one by one, and a server that computes all the time: it may use one core, and is held to a part of that, since others may
/// have the rest.
#[test]
fn a_server_that_uses_up_its_cores_ends_the_arrivals_and_is_told_with_what_it_did() {
    let busy = Busy::named("hammer-test-saturated");
    let resources = "{ every: 100ms, processes: [{ name: server, command: hammer-test-saturated }], \
                     saturation: { cores: 1, above: 5%, for: 300ms, per_minute: 60000 } }";
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", &format!("{PLAN}resources: {resources}\n"));
    let set = ["workloads.web.load={users: 2, groups: 2}", "phases={measurement: 60s}", "interval=100ms"];
    let set = set.iter().flat_map(|change| ["--set", change]);
    let args: Vec<&str> = ["run", &plan, "--out", "-"].into_iter().chain(set).collect();
    let ended = hammer(&args);
    drop(busy);
    let report = ended.report();
    let stopped = "the CPU of server was above 5 % of its 1 cores for 300ms";
    assert_eq!(report.run.stopped, stopped, "{}", ended.stderr);
    let of = report.server_resources.as_ref().unwrap().saturation.as_ref().unwrap();
    let span = of.reached.unwrap();
    assert_eq!((of.cores, span.users, of.shares_cores), (1.0, Some(4), Some(true)));
    assert!(span.to_ns - span.from_ns >= 300_000_000, "{span:?}");
    // What is said of a minute and of cores follows from what was counted.
    let of_core = span.operations as f64 / span.seconds * 60.0 / span.mean_cores;
    assert!((span.per_minute_core.unwrap() / of_core - 1.0).abs() < 1e-9, "{span:?}");
    assert!((of.cores_needed.unwrap() * of_core / 60_000.0 - 1.0).abs() < 1e-9, "{of:?}");
    assert!(words(&ended.stderr).contains(", from 4 users on: "), "{}", ended.stderr);
}

/// A text whose lines may break anywhere.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_server_that_is_idle_is_said_not_to_be_used_up_and_ends_nothing() {
    let resources = "{ every: 100ms, processes: [{ name: server, pid: PID }], saturation: { for: 200ms } }";
    let mut idle = Command::new("sleep").arg("600").spawn().unwrap();
    let ended = run(&resources.replace("PID", &idle.id().to_string()));
    idle.kill().unwrap();
    idle.wait().unwrap();
    let report = ended.report();
    let of = report.server_resources.as_ref().unwrap().saturation.as_ref().unwrap();
    assert_eq!((of.reached, report.run.stopped.as_str()), (None, "as planned"));
    assert!(of.most_share.is_some_and(|most| most < 0.5), "{of:?}");
    assert!(words(&ended.stderr).contains("What it can do is not known from this run"), "{}", ended.stderr);
}

#[test]
fn a_server_that_is_not_there_yet_has_no_cores_that_anybody_knows() {
    let ended = run("{ processes: [{ name: server, command: no-such-server }], saturation: {} }");
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("resources.saturation.cores: `server` is not there yet"),
        "{}",
        ended.stderr
    );
}
