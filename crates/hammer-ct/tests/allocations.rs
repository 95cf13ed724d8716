//! What a submission allocates. Alone in its process, since the count is of all threads; so the server allocates nothing for a
//! request, and no promise is judged.

use std::alloc::System;
use std::future::Future;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use hammer_core::clock::unix_millis;
use hammer_core::dispatch::{Closed, Iterations, Load, LoadedWorkload, Stages, Think};
use hammer_core::promise::{Verdicts, Verifier};
use hammer_core::record::OperationRecord;
use hammer_core::run::{RunSpec, control, run};
use hammer_core::supply::SupplyBounds;
use hammer_core::workload::{Ended, FatalError, Preparation, SeriesSpec, ShardContext, Workload};
use hammer_ct::{CtRun, LogKind, LogTarget, SubmitOp, SubmitPlan, SubmitSession, SubmitWorkload};
use hammer_measure::{Fate, Nanos};
use hammer_net::ClientConfig;
use hammer_synth::MintScratch;
use hammer_tlog::keys::key::LogKey;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A submission whose promise nobody judges.
struct Unjudged(SubmitWorkload);

struct Indifferent;

impl Verifier for Indifferent {
    fn check(&mut self, _seq: u64, _record: &[u8], _now: Nanos, _verdicts: &mut Verdicts) {}
}

impl Workload for Unjudged {
    type Op = Box<SubmitOp>;
    type Session = SubmitSession;
    type User = ();
    type Scratch = MintScratch;

    fn series(&self) -> Vec<SeriesSpec> {
        self.0.series()
    }

    fn series_of(&self, seq: u64) -> usize {
        self.0.series_of(seq)
    }

    fn preparation(&self) -> Preparation {
        self.0.preparation()
    }

    fn scratch(&self, shards: usize) -> MintScratch {
        self.0.scratch(shards)
    }

    fn prepare(&self, scratch: &mut MintScratch, seq: u64, reuse: Option<Box<SubmitOp>>) -> Box<SubmitOp> {
        self.0.prepare(scratch, seq, reuse)
    }

    fn weight(&self, op: &Box<SubmitOp>) -> usize {
        self.0.weight(op)
    }

    fn open(&self, context: ShardContext) -> impl Future<Output = Result<SubmitSession, FatalError>> {
        self.0.open(context)
    }

    fn execute(
        &self,
        session: &SubmitSession,
        user: &(),
        op: &mut Box<SubmitOp>,
        record: &OperationRecord,
    ) -> impl Future<Output = Ended> {
        self.0.execute(session, user, op, record)
    }

    fn promise_kinds(&self) -> &[&'static str] {
        self.0.promise_kinds()
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        Some(Box::new(Indifferent))
    }
}

/// Gives every request the recorded answer of a log, until the test ends.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let sct = include_str!("../testdata/01-x509.response");
    let answer: Arc<str> = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{sct}",
        sct.len()
    )
    .into();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            thread::spawn(move || serve(stream, answer.as_bytes()));
        }
    });
    address
}

/// One request after the other; all of them fit into the buffer.
fn serve(mut stream: TcpStream, answer: &[u8]) {
    let (mut buffer, mut filled) = ([0; 1 << 16], 0);
    loop {
        let Some(end) = end_of_request(&buffer[..filled]) else {
            match stream.read(&mut buffer[filled..]) {
                Ok(0) | Err(_) => return,
                Ok(read) => filled += read,
            }
            continue;
        };
        buffer.copy_within(end..filled, 0);
        filled -= end;
        if stream.write_all(answer).is_err() {
            return;
        }
    }
}

/// Where the first request ends, if all of it is there.
fn end_of_request(bytes: &[u8]) -> Option<usize> {
    const LENGTH: &[u8] = b"content-length: ";
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let length = bytes[..head].windows(LENGTH.len()).position(|name| name.eq_ignore_ascii_case(LENGTH))?;
    let digits = bytes[length + LENGTH.len()..].iter().take_while(|byte| byte.is_ascii_digit());
    let body = digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'));
    (bytes.len() >= head + body).then_some(head + body)
}

fn workload(server: SocketAddr) -> SubmitWorkload {
    let key: LogKey = include_str!("../testdata/log-public-key.b64").parse().unwrap();
    let log = LogTarget::new(LogKind::StaticCt, format!("http://{server}/log").parse().unwrap(), key);
    let client = ClientConfig { connections: USERS, ..ClientConfig::new(log.submission[0].clone()) };
    let run = CtRun { seed: 7, epoch_unix_ms: unix_millis(), workload: 0 };
    SubmitWorkload::new(&SubmitPlan::default(), Arc::new(log), client, &run).unwrap()
}

/// Allocations of a whole run of so many submissions: minted, sent, answered, recorded.
fn submitting(server: SocketAddr, operations: u64) -> usize {
    let (stages, think) = (Stages::constant(USERS), Think::Constant(Nanos::ZERO));
    let lane = LoadedWorkload {
        name: "submit".to_owned(),
        workload: Arc::new(Unjudged(workload(server))),
        load: Load::Closed(Closed {
            stages,
            spawn_rate: None,
            think,
            iterations: Iterations::Shared(operations),
            seed: 1,
        }),
        timeout: Nanos::from_secs(20),
        // Few enough that all their buffers have grown soon.
        supply: SupplyBounds { operations: 32, ..SupplyBounds::default() },
    };
    let spec = RunSpec {
        // The promises of the whole run fit.
        verify_ring_bytes: 1 << 23,
        ..RunSpec::new(vec![Arc::new(lane)])
    };
    let (_control, inbox) = control();
    let region = Region::new(ALLOCATOR);
    let result = run(spec, inbox, &mut []).unwrap();
    let stats = region.change();
    assert_eq!(result.total.series[0][1].fate(Fate::Accepted), operations);
    stats.allocations + stats.reallocations
}

/// Allocations of one operation: what more operations cost more.
fn each(mut allocations: impl FnMut(u64) -> usize) -> f64 {
    let few = allocations(FEW);
    allocations(MANY).saturating_sub(few) as f64 / (MANY - FEW) as f64
}

#[test]
fn a_submission_allocates_once_at_most() {
    let server = server();
    let submitting = each(|operations| submitting(server, operations));
    assert!(submitting <= 1.05, "{submitting} allocations a submission");
}

const USERS: usize = 8;
const FEW: u64 = 1_000;
const MANY: u64 = 4_000;
