use std::sync::{Arc, Mutex};

use hammer_measure::{Fate, Nanos, SampleCandidate, Subject, Timing};
use serde_json::{Value, json};

use super::*;
use crate::fixture::quickstart;
use crate::fixture::schema::Schema;

const SIZES: SampleSizes = SampleSizes { slowest: 1, uniform: 2 };

/// Bytes that the test can read while the writer owns them, and a disk that is full behind some of them.
#[derive(Clone)]
struct Disk {
    bytes: Arc<Mutex<Vec<u8>>>,
    room: usize,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = self.bytes.lock().unwrap();
        if kept.len() + bytes.len() > self.room {
            return Err(io::Error::other("no room"));
        }
        kept.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn refused(sample: &mut OperationSample) {
    sample.restart(7, (Phase::Measurement, Nanos(10)), (Fate::Refused, Detail::Status(403)));
    sample.subject = Some(Subject { kind: "device", number: 41 });
    let timing = Timing::new(Nanos(10), Nanos(12)).started(Nanos(15));
    sample.timing = Some(timing.finished(Nanos(20), Nanos(50)));
    sample.ended = Nanos(50);
    sample.answer.push_str("who are you?");
    sample.wire = SampledWire { sent: Some(Nanos(20)), bytes_out: 3, ..SampledWire::default() };
    sample.wire.peer = Some(([127, 0, 0, 1], 80).into());
    let wire = sample.wire;
    let (started, done) = (Nanos(15), Nanos(50));
    sample.steps.push(StepSample {
        series: 0,
        started,
        done,
        wire,
        fate: Fate::Refused,
        detail: Detail::Status(403),
    });
}

/// What is kept of two operations, the first of which was shed.
fn kept() -> SeriesSamples {
    let mut samples = SeriesSamples::new(SIZES);
    samples.offer(SampleCandidate { seq: 6, draw: 1, response_time: None }, |sample| {
        sample.restart(6, (Phase::Measurement, Nanos(9)), (Fate::Shed, Detail::None));
        sample.ended = Nanos(11);
    });
    samples.offer(SampleCandidate { seq: 7, draw: 2, response_time: Some(Nanos(40)) }, refused);
    samples
}

/// A run of which the first interval has those operations of its first series.
fn sampled_run() -> Vec<RunEvent> {
    let mut events = quickstart();
    let found = events.iter_mut().find_map(|event| match event {
        RunEvent::Interval(snapshot) => Some(snapshot),
        _ => None,
    });
    let snapshot = found.unwrap();
    *snapshot =
        Arc::new(Snapshot { samples: vec![[SeriesSamples::default(), kept()]], ..Snapshot::clone(snapshot) });
    events
}

fn written(room: usize) -> (Vec<Value>, io::Result<()>) {
    let disk = Disk { bytes: Arc::default(), room };
    let mut writer = SamplesWriter::new(Box::new(disk.clone()), SIZES);
    sampled_run().iter().for_each(|event| writer.event(event));
    let finished = writer.finish();
    let bytes = disk.bytes.lock().unwrap();
    let lines = serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>();
    (lines.map_while(Result::ok).collect(), finished)
}

#[test]
fn a_line_says_all_that_is_known_of_an_operation_and_is_as_the_schema_says() {
    let (lines, finished) = written(usize::MAX);
    finished.unwrap();
    let schema = Schema::of::<SamplesLine>();
    for line in &lines {
        schema.hold(line).unwrap();
        let back: SamplesLine = serde_json::from_value(line.clone()).unwrap();
        assert_eq!(&serde_json::to_value(&back).unwrap(), line);
    }
    assert_eq!(lines.len(), 4);
    assert_eq!((&lines[0]["line"], &lines[0]["schema"]), (&json!("started"), &json!(SCHEMA)));
    let [shed, refused] = [&lines[1], &lines[2]];
    assert_eq!(
        (&shed["slowest"], &shed["weight"], &shed["response_time_ns"]),
        (&json!(true), &json!(1), &json!(null))
    );
    assert_eq!(
        (&shed["fate"], &shed["started_ns"], &shed["done_ns"]),
        (&json!("shed"), &json!(null), &json!(11))
    );
    let expected = json!({
        "line": "operation", "series": refused["series"], "interval": 0, "phase": "measurement",
        "slowest": false, "weight": 1, "population": 2, "seq": 7, "of": "device", "index": 41,
        "fate": "refused", "cause": "HTTP 403", "answer": "who are you?",
        "intended_ns": 10, "released_ns": 12, "started_ns": 15, "connected_ns": null, "sent_ns": 20,
        "first_byte_ns": null, "read_ns": null, "done_ns": 50, "response_time_ns": 40,
        "dispatch_lag_ns": 2, "backlog_wait_ns": 3, "connection_wait_ns": 5, "service_time_ns": 30,
        "client_time_ns": null, "read_lag_ns": null, "bytes_out": 3, "bytes_in": 0, "resent": false,
        "redialled": false, "peer": "127.0.0.1:80", "steps": refused["steps"],
    });
    assert_eq!(refused, &expected);
    assert_eq!(
        (&refused["steps"][0]["started_ns"], &refused["steps"][0]["cause"]),
        (&json!(15), &json!("HTTP 403"))
    );
    assert_eq!(lines[3]["line"], "finished");
}

#[test]
fn nothing_is_written_behind_a_line_that_could_not_be_and_its_error_is_told() {
    let (all, _) = written(usize::MAX);
    let head = all[0].to_string().len() + 20;
    let (lines, finished) = written(head);
    assert_eq!(lines, all[..1]);
    assert_eq!(finished.unwrap_err().to_string(), "no room");
}
