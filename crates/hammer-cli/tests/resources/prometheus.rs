//! Components that a Prometheus knows, which is behind TLS and wants a token.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use hammer_lab::clock::Clock;
use hammer_lab::handle::{LabConfig, LabHandle, LabTarget};
use hammer_lab::serve::answer::{self, AnswerBody};
use hammer_lab::serve::{ServePlan, Target, TlsFiles};
use hammer_lab::{FaultScript, LabError};
use hammer_report::report::servers::ComponentSource;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::{PLAN, component, notes};
use crate::folder::Folder;
use crate::hammer::hammer;

/// What is asked by a query, as often as it is: the n-th answer, from 0 on.
type Answers = fn(query: &str, n: usize) -> String;

struct Config {
    serve: ServePlan,
    faults: FaultScript,
    answers: Answers,
}

struct Prometheus {
    answers: Answers,
    asked: Mutex<BTreeMap<String, usize>>,
}

impl LabConfig for Config {
    type Target = Prometheus;

    const THREAD: &'static str = "prometheus";

    fn serve(&self) -> &ServePlan {
        &self.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.faults
    }

    fn target(self, _: &Arc<dyn Clock>, _: &str) -> Result<Prometheus, LabError> {
        Ok(Prometheus { answers: self.answers, asked: Mutex::default() })
    }
}

impl LabTarget for Prometheus {}

impl Target for Prometheus {
    const ENDPOINTS: &'static [&'static str] = &["query"];

    fn endpoint(&self, _: &Method, _: &str) -> &'static str {
        "query"
    }

    async fn answer(self: Arc<Self>, _: &'static str, parts: Parts, _: Bytes) -> Response<AnswerBody> {
        if parts.headers.get(AUTHORIZATION).is_none_or(|value| value != "Bearer canary-of-prometheus") {
            return answer::error(StatusCode::UNAUTHORIZED, "who are you");
        }
        let query = parts.uri.query().and_then(|query| query.strip_prefix("query=")).unwrap_or_default();
        let mut asked = self.asked.lock().unwrap();
        let n = asked.entry(query.to_owned()).or_default();
        *n += 1;
        answer::json((self.answers)(query, *n - 1))
    }
}

/// It, and the folder with its certificate and the token.
fn prometheus(answers: Answers) -> (LabHandle<Prometheus>, Folder) {
    let folder = Folder::new();
    let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let certificate = PathBuf::from(folder.write("ca.pem", &certified.cert.pem()));
    let key = PathBuf::from(folder.write("key.pem", &certified.signing_key.serialize_pem()));
    folder.write("token", "canary-of-prometheus\n");
    let serve = ServePlan { tls: Some(TlsFiles { certificate, key }), ..ServePlan::default() };
    let config = Config { serve, faults: FaultScript::default(), answers };
    (LabHandle::spawn(config).unwrap(), folder)
}

fn vector(samples: &[(&str, f64)]) -> String {
    let samples: Vec<String> = samples
        .iter()
        .map(|(pod, value)| format!(r#"{{"metric":{{"pod":"{pod}"}},"value":[1795243700.1,"{value}"]}}"#))
        .collect();
    format!(r#"{{"status":"success","data":{{"resultType":"vector","result":[{}]}}}}"#, samples.join(","))
}

#[test]
fn a_component_of_two_queries_has_each_process_counted_by_itself_and_its_token_shown_to_nobody() {
    let (server, folder) = prometheus(|query, n| match query {
        // One pod computes; the other one is started again once.
        "sum%28memory%29" => vector(&[("", 3e7)]),
        "cpu_seconds" => vector(&[("a", 500.0 + n as f64), ("b", if n < 9 { 4_000.0 } else { 0.0 })]),
        _ => panic!("{query}"),
    });
    let (token, roots) = (folder.path("token"), folder.path("ca.pem"));
    let plan = format!(
        "{PLAN}resources:\n  every: 50ms\n  idle: 1s\n  promql:\n    - {{ name: rekor, url: '{}', cpu: cpu_seconds, \
         memory: sum(memory), token: {{ file: '{token}' }}, roots: [ '{roots}' ] }}\noutput: {{ events: '{}' }}\n",
        server.url,
        folder.path("events.jsonl"),
    );
    let ended = hammer(&["run", &folder.write("plan.yaml", &plan), "--out", "-"]);
    let report = ended.report();
    let rekor = component(&report, "rekor");
    assert_eq!((rekor.source, rekor.gaps), (ComponentSource::Promql, 0), "{:?}", notes(&report));
    // A second more with every look, whatever becomes of the other pod.
    assert_eq!(rekor.cpu.unwrap().used_s, rekor.samples as f64 - 1.0, "{rekor:?}");
    assert_eq!(rekor.memory_max_bytes, Some(30_000_000));
    assert!(rekor.idle_mean_cores.unwrap() > 0.0 && rekor.completed_per_core_s.unwrap() > 0.0, "{rekor:?}");
    let events = fs::read_to_string(folder.path("events.jsonl")).unwrap();
    for told in [&ended.stdout, &ended.stderr, &events] {
        assert!(!told.contains("canary"), "{told}");
    }
    let row = ended.stderr.lines().find(|line| line.trim_start().starts_with("rekor ")).unwrap();
    assert!(!row.split_whitespace().any(|cell| cell == "-"), "{row}");
}

#[test]
fn a_prometheus_that_nobody_trusts_or_that_knows_no_such_thing_is_a_gap_and_a_note() {
    let (server, folder) = prometheus(|_, _| vector(&[]));
    let (token, roots) = (folder.path("token"), folder.path("ca.pem"));
    folder.write("wrong", "canary-of-another");
    let wrong = folder.path("wrong");
    let url = &server.url;
    let plan = format!(
        "{PLAN}resources:\n  every: 100ms\n  promql:\n\
         \x20   - {{ name: untrusted, url: '{url}', cpu: a, token: {{ file: '{token}' }} }}\n\
         \x20   - {{ name: unknown, url: '{url}', cpu: a, token: {{ file: '{wrong}' }}, roots: [ '{roots}' ] }}\n\
         \x20   - {{ name: empty, url: '{url}', cpu: a, token: {{ file: '{token}' }}, roots: [ '{roots}' ] }}\n"
    );
    let ended = hammer(&["run", &folder.write("plan.yaml", &plan), "--out", "-"]);
    let report = ended.report();
    let notes = notes(&report);
    for (name, why) in [
        ("untrusted", "certificate"),
        ("unknown", "the answer is 401 Unauthorized"),
        ("empty", "failed to find the number of `cpu`: nothing matches it"),
    ] {
        let component = component(&report, name);
        assert!(component.gaps > 0 && component.cpu.is_none(), "{component:?}");
        let starts = format!("resources of {name}: failed to ");
        let told: Vec<_> = notes.iter().filter(|note| note.starts_with(&starts)).collect();
        assert!(told.len() == 1 && told[0].contains(why), "{name}: {notes:?}");
    }
    assert!(!ended.stdout.contains("canary") && !ended.stderr.contains("canary"), "{ended:?}");
}
