//! Every lie of the services of Sigstore is caught, and named as the service that told it names it; its honest twin is believed.

use std::collections::BTreeSet;
use std::fs;

use hammer_lab_sigstore::{LieRecord, SigstoreLab, SigstoreLabPlan};
use hammer_report::Report;
use hammer_report::report::Breach;
use hammer_tlog::encoding::from_base64;
use serde::Serialize;
use serde_json::Value;

use crate::hammer::hammer;
use crate::on_time::exit_if_on_time;
use crate::services::Services;

/// Whom a lie was told, by what both ends know: an e-mail address, an imprint, a UUID, an index.
type Liar = fn(&SigstoreLab) -> Vec<(String, String)>;

/// A kind of lie: its plan, who told it, and what the report calls it.
struct Lie {
    service: &'static str,
    kind: &'static str,
    breach: &'static str,
    least: usize,
}

/// Runs the plan of that name on its embedded services, which live in this process.
pub(crate) fn run(name: &str) -> (Report, Services) {
    let services = Services::of(embedded(name));
    let report = services.report(&path(name), &[]);
    (report, services)
}

fn path(name: &str) -> String {
    format!("{FOLDER}/{name}.yaml")
}

fn embedded(name: &str) -> SigstoreLabPlan {
    let plan: Value = serde_saphyr::from_str(&fs::read_to_string(path(name)).unwrap()).unwrap();
    serde_json::from_value(plan["target"]["lab"]["sigstore"].clone()).unwrap()
}

/// The lies that the services own up to, as kind and whom it was told.
fn told(lab: &SigstoreLab) -> Vec<(String, String)> {
    let all: [Liar; 5] = [told_by_fulcio, told_by_the_tsa, told_by_rekor, told_by_rekor_tiles, told_by_tuf];
    let mut told: Vec<_> = all.into_iter().flat_map(|of| of(lab)).collect();
    told.sort();
    told
}

fn told_by_fulcio(lab: &SigstoreLab) -> Vec<(String, String)> {
    let (told, unlisted) = lab.fulcio.target().told_lies();
    assert_eq!(unlisted, 0);
    told.iter().map(told_to).collect()
}

fn told_by_the_tsa(lab: &SigstoreLab) -> Vec<(String, String)> {
    let (told, unlisted) = lab.timestamp_authority.target().told_lies();
    assert_eq!(unlisted, 0);
    told.iter().map(told_to).collect()
}

fn told_to<K: Serialize>(lie: &LieRecord<K>) -> (String, String) {
    (word(&lie.kind), lie.subject.clone())
}

fn told_by_rekor(lab: &SigstoreLab) -> Vec<(String, String)> {
    let (told, unlisted) = lab.rekor.target().told_lies();
    assert_eq!(unlisted, 0);
    let one = |uuid: &Option<String>, index: Option<u64>| format!("{} {index:?}", uuid.as_deref().unwrap());
    told.iter().map(|lie| (word(&lie.kind), one(&lie.uuid, lie.log_index))).collect()
}

fn told_by_rekor_tiles(lab: &SigstoreLab) -> Vec<(String, String)> {
    let (told, unlisted) = lab.rekor_tiles.target().told_lies();
    assert_eq!(unlisted, 0);
    told.iter().map(|lie| (word(&lie.kind), format!("{:?}", lie.log_index))).collect()
}

/// Nobody is named: refreshes are all alike.
fn told_by_tuf(lab: &SigstoreLab) -> Vec<(String, String)> {
    let (told, unlisted) = lab.tuf.target().told_lies();
    assert_eq!(unlisted, 0);
    told.iter().map(|lie| (word(&lie.kind), String::new())).collect()
}

fn word(kind: &impl Serialize) -> String {
    serde_json::to_value(kind).unwrap().as_str().unwrap().to_owned()
}

/// The broken promises of a service that the report names, as kind and who was lied to.
fn found(service: &str, report: &Report, services: &Services) -> Vec<(String, String)> {
    let evidence = Evidence::of(services);
    let who = |breach: &Breach| match service {
        "fulcio" => format!("flow-{}@hammer.test", breach.seq.unwrap()),
        "tsa" => evidence.imprint(breach),
        "tuf" => String::new(),
        "rekor" => format!("{} {:?}", evidence.uuid(breach), breach.index),
        _ => format!("{:?}", breach.index),
    };
    let mut found: Vec<_> = report.breaches.iter().map(|breach| (breach.kind.clone(), who(breach))).collect();
    found.sort();
    found
}

/// What the services said to those whose promise was broken, as it lies beside the report.
struct Evidence(Vec<Value>);

impl Evidence {
    fn of(services: &Services) -> Self {
        let files = fs::read_dir(services.folder.path()).unwrap().map(|file| file.unwrap().path());
        let file =
            files.filter(|path| path.to_str().unwrap().ends_with("-evidence.jsonl")).collect::<Vec<_>>();
        let text = file.iter().map(|path| fs::read_to_string(path).unwrap()).collect::<String>();
        Self(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    /// The record of a promise: what it is, instants, what was asked for, and the answer behind that.
    fn record(&self, breach: &Breach) -> Vec<u8> {
        let is_its = |line: &&Value| line["seq"].as_u64() == breach.seq && line["kind"] == breach.kind;
        let line = self.0.iter().find(is_its).unwrap_or_else(|| panic!("no evidence of {breach:?}"));
        from_base64(line["record"].as_str().unwrap()).unwrap()
    }

    /// The imprint that was sent, in hexadecimal digits.
    fn imprint(&self, breach: &Breach) -> String {
        let at = 1 + INSTANTS;
        self.record(breach)[at..at + 32].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The UUID of the entry that was answered.
    fn uuid(&self, breach: &Breach) -> String {
        let record = self.record(breach);
        let (length, rest) = record[2 + INSTANTS..].split_first_chunk().unwrap();
        let answer: Value = serde_json::from_slice(&rest[u32::from_be_bytes(*length) as usize..]).unwrap();
        answer.as_object().unwrap().keys().next().unwrap().clone()
    }
}

/// Runs the plan of a lie and its honest twin.
fn is_caught(lie: &Lie) {
    let Lie { service, kind, breach, least } = *lie;
    let name = format!("{service}-{kind}");
    let (report, services) = run(&name);
    let told = told(&services.lab);
    assert!(told.len() >= least && told.iter().all(|(told, _)| told == kind), "{told:?}");
    let expected: Vec<_> = told.into_iter().map(|(_, whom)| (breach.to_owned(), whom)).collect();
    assert_eq!(found(service, &report, &services), expected, "{:?}", report.breaches);
    assert_eq!((report.verdict.exit_code, report.promises.all.broken), (4, expected.len() as u64));
    assert_eq!(report.promises.all.unchecked, 0);
    is_believed(&format!("{name}-honest"));
}

/// What is lost is found by whoever reads it back, and as often, but for reads so soon that a replica could lag.
#[test]
fn an_entry_that_rekor_lost_is_caught_by_whoever_reads_it_back() {
    let (report, services) = run("rekor-lost-entry");
    let (told, _) = services.lab.rekor.target().told_lies();
    let told: BTreeSet<_> =
        told.iter().map(|lie| (lie.leaf_hash.unwrap().0.to_vec(), lie.log_index)).collect();
    let evidence = Evidence::of(&services);
    let leaf = |breach: &Breach| evidence.record(breach)[2 + INSTANTS..][..32].to_vec();
    // The heads that the lost entries were answered with are of no tree that goes on.
    let (of_flows, of_log): (Vec<_>, Vec<_>) =
        report.breaches.iter().partition(|breach| breach.seq.is_some());
    assert!(of_log.iter().all(|breach| breach.kind == "forked-checkpoint"), "{of_log:?}");
    let found: BTreeSet<_> = of_flows.iter().map(|breach| (leaf(breach), breach.index)).collect();
    assert_eq!((told.len(), &found), (3, &told), "{:?}", report.breaches);
    assert!(of_flows.iter().all(|breach| breach.kind == "lost-entry"), "{:?}", report.breaches);
    let missing = services.lab.rekor.stats().requests["get-entry"][&404];
    let broken = report.promises.all.broken - of_log.len() as u64;
    assert_eq!(report.verdict.exit_code, 4);
    assert!((told.len() as u64..=missing).contains(&broken), "{broken} of {missing}");
    let readers = report.series.iter().find(|series| series.path == "readers/rekor-entry").unwrap();
    assert_eq!(readers.measurement.counts.fates.refused, missing);

    let (report, _) = run("rekor-lost-entry-honest");
    let promises = &report.promises.all;
    assert!(promises.made >= 100 && promises.kept == promises.made, "{promises:?} {:?}", report.breaches);
}

/// The checkpoint of an answer is of a tree that nobody sees again: that is a fork, which ends the run. What was lost by it is named as the
/// log names it.
#[test]
fn an_answer_by_a_checkpoint_of_another_tree_is_caught_where_the_followed_tree_is_another() {
    for (name, breach) in
        [("rekor-tiles-lost-entry", "lost-leaf"), ("rekor-tiles-forked-answer", "forked-checkpoint")]
    {
        let (report, services) = run(name);
        let told: BTreeSet<_> = told(&services.lab).into_iter().map(|(_, whom)| whom).collect();
        let (to_one, to_all): (Vec<_>, Vec<_>) =
            report.breaches.iter().partition(|breach| breach.seq.is_some());
        assert!(to_one.iter().all(|found| found.kind == breach), "{:?}", report.breaches);
        let found: BTreeSet<_> = to_one.iter().map(|breach| format!("{:?}", breach.index)).collect();
        assert!(!told.is_empty() && found == told, "{found:?} {told:?}");
        assert!(
            !to_all.is_empty() && to_all.iter().all(|breach| breach.kind == "forked-checkpoint"),
            "{to_all:?}"
        );
        assert_eq!((report.verdict.exit_code, report.promises.all.unchecked), (4, 0), "{name}");
        is_believed(&format!("{name}-honest"));
    }
}

/// The first leaf of the fork is another: who reads its tile for the tree before, or its bundle for the fork, as on a slow machine, is served
/// what is not of that tree.
#[test]
fn a_fork_of_the_log_on_tiles_is_caught() {
    let (report, services) = run("rekor-tiles-forked-checkpoint");
    assert_eq!(told(&services.lab).len(), 1);
    let found = found("rekor-tiles", &report, &services);
    let of_the_fork = |(kind, whom): &&(String, String)| {
        ["tampered-tile", "altered-leaf"].contains(&kind.as_str()) && whom == "Some(0)"
    };
    let others: Vec<_> = found.iter().filter(|found| !of_the_fork(found)).collect();
    assert_eq!(others, [&("forked-checkpoint".to_owned(), "None".to_owned())], "{:?}", report.breaches);
    assert!(found.len() <= 3 && report.promises.all.unchecked == 0, "{:?}", report.breaches);
    assert_eq!((report.verdict.exit_code, report.promises.all.broken), (4, found.len() as u64));
    is_believed("rekor-tiles-forked-checkpoint-honest");
}

/// A refresh reads each root since the first, without judging any: it may be lied to more than once, and is broken once.
#[test]
fn a_root_of_tuf_by_too_few_keys_is_caught() {
    let (report, services) = run("tuf-root-by-too-few-keys");
    let told = told(&services.lab);
    let found = found("tuf", &report, &services);
    assert!((1..=told.len()).contains(&found.len()), "{told:?} {:?}", report.breaches);
    assert!(found.iter().all(|(kind, _)| kind == "metadata-signature"), "{:?}", report.breaches);
    assert_eq!((report.verdict.exit_code, report.promises.all.broken), (4, found.len() as u64));
    assert_eq!(report.promises.all.unchecked, 0);
    is_believed("tuf-root-by-too-few-keys-honest");
}

/// What nobody was told alone is found by whoever reads: a tree that contradicts one that was read before.
#[test]
fn a_log_that_forks_is_caught_by_whoever_reads_it() {
    for (name, broken) in [
        ("reads-forked-log-info", ["consistency-proof", "forked-log-info"].as_slice()),
        ("reads-forked-checkpoint", &["altered-leaf", "forked-checkpoint", "tampered-tile"]),
    ] {
        let (report, services) = run(name);
        let forks = services.lab.rekor.target().told_lies().0.len()
            + services.lab.rekor_tiles.target().told_lies().0.len();
        assert_eq!((forks, report.verdict.exit_code), (1, 4), "{name}: {:?}", report.breaches);
        // Heads that were read are held against each other beside the reads, and whichever sees it first ends the run.
        let is_of_it = |breach: &Breach| match breach.workload.as_str() {
            "reads" => broken.contains(&breach.kind.as_str()),
            _ => breach.kind == "forked-checkpoint",
        };
        assert!(!report.breaches.is_empty() && report.breaches.iter().all(is_of_it), "{:?}", report.breaches);
        is_believed(&format!("{name}-honest"));
    }
}

/// A session keeps the head, and asks for proofs from there: they are held against nothing, and the log is accused where the head is judged.
#[test]
fn a_log_info_that_was_forged_once_is_one_broken_promise_among_all_kinds_of_reads() {
    let (report, services) = run("reads-forged-log-info");
    let (told, _) = services.lab.rekor.target().told_lies();
    assert_eq!((told.len(), report.verdict.exit_code), (1, 4), "{:?}", report.breaches);
    let found: Vec<_> =
        report.breaches.iter().map(|breach| (breach.workload.as_str(), breach.kind.as_str())).collect();
    assert_eq!(found, [("reads", "checkpoint")], "{:?}", report.breaches);
    for kind in &report.promises.by_kind {
        let promises = &kind.promises;
        let broken = u64::from(kind.workload == "reads" && kind.kind == "tree-head");
        assert_eq!(promises.broken, broken, "{kind:?}");
        let unverified = if kind.kind == "consistency" { promises.unchecked } else { 0 };
        assert_eq!(promises.kept + broken + unverified, promises.made, "{kind:?}");
    }
    is_believed("reads-forged-log-info-honest");
}

/// What Rekor v2 serves wrong is found by whoever verifies entries by it, without an audit of the log.
#[test]
fn a_log_on_tiles_that_serves_what_is_not_so_is_caught_by_whoever_verifies() {
    for (name, kind) in [
        ("verifies-altered-bundle", "altered-leaf"),
        ("verifies-tile-of-another-tree", "tampered-tile"),
        ("verifies-rolled-back-checkpoint", "lost-entry"),
        ("verifies-forged-checkpoint", "checkpoint-signature"),
    ] {
        let (report, services) = run(name);
        let (told, _) = services.lab.rekor_tiles.target().told_lies();
        assert!(!told.is_empty() && report.verdict.exit_code == 4, "{name}: {:?}", report.breaches);
        assert_eq!(report.promises.all.unchecked, 0, "{name}");
        // Heads are held against each other beside the flows.
        let of_flows: Vec<_> = report.breaches.iter().filter(|breach| breach.seq.is_some()).collect();
        let is_its =
            |breach: &&Breach| (breach.workload.as_str(), breach.kind.as_str()) == ("verifies", kind);
        assert!(!of_flows.is_empty() && of_flows.iter().all(is_its), "{:?}", report.breaches);
        let of_log = ["tampered-tile", "shrinking-tree", "checkpoint-signature", "forked-checkpoint"];
        let is_of_log = |breach: &Breach| breach.seq.is_some() || of_log.contains(&breach.kind.as_str());
        assert!(report.breaches.iter().all(is_of_log), "{:?}", report.breaches);
        let altered: BTreeSet<_> = told.iter().filter_map(|lie| lie.log_index).collect();
        let found = of_flows.iter().filter_map(|breach| breach.index);
        if kind == "altered-leaf" {
            assert!(found.collect::<BTreeSet<_>>().is_subset(&altered), "{:?}", report.breaches);
        } else {
            assert_eq!(told.len(), 1, "{told:?}");
        }
        is_believed(&format!("{name}-honest"));
    }
}

/// It is signed, and nothing contradicts it: its tree may only be late. Who was shown it has nothing proved to them, up to the end; the
/// audit, where it was shown one as well, is not served its tiles.
#[test]
fn a_checkpoint_of_a_tree_that_never_was_shows_nothing_to_whoever_verifies_by_it() {
    let (report, services) = run("verifies-invented-checkpoint");
    let (told, _) = services.lab.rekor_tiles.target().told_lies();
    assert_eq!(told.len(), 5, "{told:?}");
    let is_missing = |breach: &Breach| breach.kind == "missing-tile";
    assert!(report.breaches.iter().all(is_missing), "{:?}", report.breaches);
    let promises = &report.promises.all;
    let shown =
        promises.unchecked + report.breaches.iter().filter(|breach| breach.seq.is_some()).count() as u64;
    // The audit reads four a second, and the flows sixty.
    assert!((1..=5).contains(&shown), "{promises:?}");
    assert_eq!(promises.kept + promises.broken + promises.unchecked, promises.made, "{promises:?}");
    let exit = if report.breaches.is_empty() { 5 } else { 4 };
    assert_eq!(report.verdict.exit_code, exit, "{:?}", report.verdict);
    let noted = report.events.iter().any(|event| format!("{event:?}").contains("checkpoint was not joined"));
    assert!(noted, "{:?}", report.events);
    is_believed("verifies-invented-checkpoint-honest");
}

/// What is answered to whoever asks, and not to one flow alone, is found as often as it was told.
#[test]
fn another_chain_or_trust_bundle_is_caught_by_whoever_reads_it() {
    for (name, kind, broken) in [
        ("tsa-another-chain", "another-chain", "timestamp-chain"),
        ("fulcio-another-trust-bundle", "another-trust-bundle", "trust-bundle"),
    ] {
        let (report, services) = run(name);
        let told = told(&services.lab);
        assert!(told.len() >= 3 && told.iter().all(|(told, _)| told == kind), "{told:?}");
        let found: Vec<&str> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
        assert_eq!(found, vec![broken; told.len()], "{name}");
        assert_eq!((report.verdict.exit_code, report.promises.all.broken), (4, told.len() as u64));
        is_believed(&format!("{name}-honest"));
    }
}

/// Each entry that the index lies about is named, once or more often: by whoever looks for it.
#[test]
fn an_index_that_withholds_or_invents_is_caught_by_whoever_searches() {
    for (name, broken) in
        [("rekor-withheld-from-search", "entry-unfound"), ("rekor-invented-by-search", "invented-entry")]
    {
        let (report, services) = run(name);
        let (told, _) = services.lab.rekor.target().told_lies();
        assert_eq!(told.len(), 3, "{told:?}");
        let breaches = &report.breaches;
        assert!(breaches.len() >= 3 && breaches.iter().all(|breach| breach.kind == broken), "{breaches:?}");
        assert_eq!(report.verdict.exit_code, 4);
        assert_eq!(report.promises.all.unchecked, 0, "{name}");
        if broken == "entry-unfound" {
            let told: BTreeSet<_> = told.iter().map(|lie| lie.log_index).collect();
            assert_eq!(breaches.iter().map(|breach| breach.index).collect::<BTreeSet<_>>(), told);
        } else {
            let invented = |breach: &Breach| breach.detail.split_whitespace().nth(5).map(str::to_owned);
            let found: BTreeSet<_> = breaches.iter().map(invented).collect();
            assert_eq!(found.len(), 3, "{breaches:?}");
        }
        is_believed(&format!("{name}-honest"));
    }
}

/// Each timestamp verifies alone; both together contradict each other.
#[test]
fn an_entry_that_was_integrated_at_another_time_when_it_is_read_is_caught() {
    let (report, services) = run("verifies-altered-time");
    let (told, _) = services.lab.rekor.target().told_lies();
    assert_eq!(told.len(), 3, "{told:?}");
    let breaches = &report.breaches;
    assert!(breaches.iter().all(|breach| breach.kind == "altered-entry"), "{breaches:?}");
    let told: BTreeSet<_> = told.iter().map(|lie| lie.log_index).collect();
    assert_eq!(breaches.iter().map(|breach| breach.index).collect::<BTreeSet<_>>(), told);
    assert_eq!((report.verdict.exit_code, report.promises.all.unchecked), (4, 0));
    is_believed("verifies-altered-time-honest");
}

/// Runs a plan whose services are honest.
pub(crate) fn is_believed(name: &str) {
    let (report, services) = run(name);
    assert!(told(&services.lab).is_empty() && report.breaches.is_empty(), "{:?}", report.breaches);
    let (promises, totals) = (&report.promises.all, &report.totals.all);
    assert!(promises.made >= 40 && promises.kept == promises.made, "{promises:?}");
    assert_eq!(totals.fates.accepted, totals.offered, "{:?}", report.series);
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
}

macro_rules! lies {
    ($($test:ident: $service:literal, $kind:literal => $breach:literal, $least:literal;)+) => {
        $(
            #[test]
            fn $test() {
                is_caught(&Lie { service: $service, kind: $kind, breach: $breach, least: $least });
            }
        )+

        const NAMES: &[&str] = &[
            "rekor-lost-entry",
            "rekor-false-duplicate",
            "rekor-tiles-lost-entry",
            "rekor-tiles-forked-answer",
            "rekor-tiles-forked-checkpoint",
            "tuf-root-by-too-few-keys",
            "reads-forked-log-info",
            "reads-forked-checkpoint",
            "reads-forged-log-info",
            "verifies-altered-bundle",
            "verifies-tile-of-another-tree",
            "verifies-rolled-back-checkpoint",
            "verifies-forged-checkpoint",
            "verifies-altered-time",
            "verifies-invented-checkpoint",
            "rekor-forked-log-info",
            "rekor-withheld-entry",
            "rekor-altered-entry",
            "rekor-shrinking-tree",
            "rekor-wrong-consistency-proof",
            "rekor-withheld-from-search",
            "rekor-invented-by-search",
            "tsa-another-chain",
            "fulcio-another-trust-bundle",
            $(concat!($service, "-", $kind)),+
        ];
    };
}

lies! {
    a_certificate_for_another_key_is_caught:
        "fulcio", "certificate-for-another-key" => "certificate-key", 3;
    a_certificate_for_another_identity_is_caught:
        "fulcio", "certificate-for-another-identity" => "certificate-identity", 3;
    a_certificate_of_another_issuer_is_caught:
        "fulcio", "certificate-of-another-issuer" => "certificate-issuer", 3;
    a_certificate_without_an_sct_is_caught: "fulcio", "certificate-without-sct" => "no-sct", 3;
    a_certificate_with_the_sct_of_another_log_is_caught:
        "fulcio", "sct-of-another-log" => "sct-of-another-log", 3;
    a_certificate_with_a_bad_sct_is_caught: "fulcio", "bad-sct-signature" => "bad-sct-signature", 3;
    a_detached_sct_of_another_certificate_is_caught:
        "fulcio", "sct-of-another-certificate" => "bad-sct-signature", 3;
    a_certificate_by_another_authority_is_caught:
        "fulcio", "certificate-by-another-ca" => "certificate-untrusted", 3;
    a_timestamp_over_another_imprint_is_caught:
        "tsa", "timestamp-over-another-imprint" => "timestamp-imprint", 3;
    a_timestamp_with_another_nonce_is_caught:
        "tsa", "timestamp-with-another-nonce" => "timestamp-nonce", 3;
    a_timestamp_by_an_untrusted_chain_is_caught:
        "tsa", "timestamp-by-an-untrusted-chain" => "timestamp-untrusted", 3;
    a_timestamp_with_a_bad_signature_is_caught:
        "tsa", "bad-timestamp-signature" => "bad-timestamp-signature", 3;
    a_timestamp_of_an_hour_ago_is_caught: "tsa", "timestamp-in-the-past" => "timestamp-time", 3;
    an_entry_with_a_bad_signed_timestamp_is_caught: "rekor", "bad-set" => "bad-set", 3;
    an_entry_with_a_wrong_proof_is_caught: "rekor", "wrong-inclusion-proof" => "inclusion-proof", 3;
    an_entry_with_the_body_of_another_is_caught: "rekor", "another-body" => "another-entry", 3;
    an_entry_with_the_index_of_another_is_caught: "rekor", "wrong-log-index" => "entry-index", 3;
    an_entry_with_a_wrong_proof_of_the_log_on_tiles_is_caught:
        "rekor-tiles", "wrong-inclusion-proof" => "inclusion-proof", 3;
    an_entry_that_the_log_on_tiles_says_it_had_is_caught: "rekor-tiles", "false-duplicate" => "lost-leaf", 3;
    an_entry_with_the_body_of_another_in_the_log_on_tiles_is_caught:
        "rekor-tiles", "another-body" => "another-entry", 3;
    an_altered_bundle_of_the_log_on_tiles_is_caught: "rekor-tiles", "altered-bundle" => "altered-leaf", 3;
    a_checkpoint_of_the_log_on_tiles_that_is_rolled_back_is_caught:
        "rekor-tiles", "rolled-back-checkpoint" => "shrinking-tree", 1;
    a_timestamp_of_tuf_that_is_rolled_back_is_caught: "tuf", "rolled-back-timestamp" => "metadata-rollback", 3;
    a_snapshot_of_tuf_that_is_rolled_back_is_caught: "tuf", "rolled-back-snapshot" => "metadata-rollback", 3;
    a_timestamp_of_tuf_that_expired_is_caught: "tuf", "expired-timestamp" => "metadata-expired", 3;
    a_target_of_tuf_with_another_hash_is_caught: "tuf", "target-of-another-hash" => "target-hash", 3;
}

#[test]
fn a_twin_differs_in_nothing_but_the_lies() {
    let text = |name: &str| fs::read_to_string(path(name)).unwrap();
    let body = |text: &str| -> Vec<String> {
        let is_same =
            |line: &&str| !["#", "name:", "        lies:"].iter().any(|other| line.starts_with(other));
        text.lines().filter(is_same).map(str::to_owned).collect()
    };
    let mut expected = BTreeSet::new();
    for name in NAMES {
        let twin = format!("{name}-honest");
        assert!(text(name).contains("        lies: [ { kind: "), "{name}");
        assert!(!text(&twin).contains("lies:"), "{twin}");
        assert_eq!(body(&text(name)), body(&text(&twin)), "{name}");
        for name in [name, twin.as_str()] {
            let ended = hammer(&["plan", &path(name)]);
            assert_eq!(ended.code, 0, "{}", ended.stderr);
        }
        expected.extend([format!("{name}.yaml"), format!("{twin}.yaml")]);
    }
    let files = fs::read_dir(FOLDER).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.collect::<BTreeSet<_>>(), expected);
}

/// Bytes of the three instants of a record.
const INSTANTS: usize = 24;
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/lies/sigstore");
