//! What is sent is a pure function of seed and plan: a target that keeps every byte is sent the same by any number of
//! threads. (That the instants are the same as well is held by the engine's own tests, on a simulated clock.)

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use hammer_lab::RecordingLabHandle;
use hammer_lab::ct::recording::RecordingLabPlan;
use hammer_tlog::encoding::base64;

use folder::Folder;
use hammer::hammer;

const OPERATIONS: u64 = 400;

/// Dates are absolute, since relative ones depend on when the run starts.
const SUBMIT: &str = "\
workloads:
  - name: submit
    ct_submit:
      precert_percent: 30
      precert_signing_percent: 20
      profiles: { dv-p256-chain2: 6, dv-rsa2048-chain3: 2, san100-p256-chain3: 1 }
      not_before: 2026-01-01
      not_after: 2026-03-31T23:59:59Z
      audit: false # the target has no tree
    load: { rate: 400/s, arrivals: poisson, operations: 400 }
    in_flight: 100
";

const POST: &str = "\
workloads:
  - name: post
    http: { method: POST, path: /x, body: the same bytes }
    load: { rate: 400/s, operations: 100 }
";

/// The digest over what [`SUBMIT`] sends with seed 7. Where a change of it is meant, the changelog says so: whoever repeats an
/// earlier run gets other bytes.
const PINNED: &str = "Hl4/5IYFfue/+i+v1GkLhm2sc7UOvyPDHMl4AHQ5ZpM=";

struct Sent {
    digest: [u8; 32],
    bodies: u64,
}

/// What a recording target is sent by so many shards, supply threads and verifiers.
fn sent(workloads: &str, seed: &str, threads: [usize; 3]) -> Sent {
    let lab = RecordingLabHandle::spawn(RecordingLabPlan::default()).unwrap();
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", &format!("{}{workloads}", target(&lab, workloads)));
    let [shards, supply, verify] = threads;
    let threads = format!("threads={{shards: {shards}, supply: {supply}, verify: {verify}}}");
    // What it answers is no log's, but for the SCTs.
    let report =
        hammer(&["run", &plan, "--seed", seed, "--set", &threads, "--no-preflight", "--out", "-"]).report();
    let fates = report.totals.all.fates;
    assert_eq!(fates.accepted, report.totals.all.offered, "{fates:?}");
    assert_eq!(report.promises.all.kept, report.promises.all.made, "{:?}", report.breaches);
    assert_eq!(report.run.shards, shards as u64);
    Sent { digest: lab.digest().unwrap(), bodies: fates.accepted }
}

fn target(lab: &RecordingLabHandle, workloads: &str) -> String {
    if !workloads.contains("ct_submit") {
        return format!("target: {{ url: \"{}\" }}\n", lab.url);
    }
    let key = base64(lab.log_key_spki());
    format!(
        "target: {{ log: {{ kind: rfc6962, submission_url: \"{}\", public_key: \"{key}\" }} }}\n",
        lab.url
    )
}

#[test]
fn the_same_seed_sends_the_same_bytes_with_any_number_of_threads() {
    let one = sent(SUBMIT, "7", [1, 1, 1]);
    assert_eq!(one.bodies, OPERATIONS);
    assert_eq!(base64(&one.digest), PINNED, "what this plan and seed send changed");
    for threads in [[2, 1, 2], [7, 3, 1]] {
        let several = sent(SUBMIT, "7", threads);
        assert_eq!(several.bodies, OPERATIONS);
        assert_eq!(several.digest, one.digest, "{threads:?}");
    }
    assert_ne!(sent(SUBMIT, "8", [1, 1, 1]).digest, one.digest);
}

#[test]
fn a_request_is_the_same_with_any_number_of_shards() {
    let one = sent(POST, "1", [1, 1, 1]);
    assert_eq!((one.bodies, sent(POST, "1", [7, 1, 1]).digest), (100, one.digest));
}
