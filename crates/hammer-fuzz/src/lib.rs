//! What must hold of every parser for any bytes: it does not panic, what it reads is what was written, and nothing is
//! believed that the key, the root or the receipt does not bear out. Each function is the body of a fuzz target of
//! `fuzz/`; the tests call them on the seeds there, whole and altered. It never opens a file, and only `http1` a socket.
//!
//! Every target says whether it believed its input, so that a test can tell that good input comes through.

mod attest;
mod audit;
mod certificate;
mod chain;
mod grpc;
mod http1;
mod interval;
mod interval_log;
mod log;
mod message;
mod pages;
mod pki;
mod plan;
mod proof;
mod report;
mod signature;
mod signed;
mod sigstore;
mod structure;
mod timestamp;
mod token;
mod tuf;
mod values;

/// The body of a fuzz target.
pub type Target = fn(&[u8]) -> bool;

/// Every target by its name, which is that of its file in `fuzz/fuzz_targets` and of its folder in `fuzz/seeds`.
pub const TARGETS: [(&str, Target); 59] = [
    ("attest_discovery", attest::discovery),
    ("attest_provisioning", attest::provisioning),
    ("attest_result", attest::result),
    ("attest_session", attest::session),
    ("audit_bundle", audit::bundle),
    ("audit_entries", audit::entries),
    ("authorities", chain::authorities),
    ("ber", signature::ber),
    ("bundle", structure::bundle),
    ("certificate", certificate::certificate),
    ("chain", chain::chain),
    ("checkpoint", signed::checkpoint),
    ("consistency", proof::consistency),
    ("corpus", sigstore::corpus),
    ("discovery", token::discovery),
    ("entry_and_proof", proof::entry_and_proof),
    ("exposition", pages::exposition),
    ("follow", audit::follow),
    ("grant", token::grant),
    ("grpc", grpc::reply),
    ("hash_tile", structure::hash_tile),
    ("http1", http1::answer),
    ("inclusion", proof::inclusion),
    ("interval", interval::interval),
    ("interval_log", interval_log::line),
    ("jwks", token::jwks),
    ("key", structure::key),
    ("leaf", structure::leaf),
    ("log_list", structure::log_list),
    ("log_root", message::log_root),
    ("message", message::message),
    ("names", structure::names),
    ("pki_answer", pki::answer),
    ("plan", plan::plan),
    ("proc", pages::proc),
    ("promql", pages::promql),
    ("receipt", structure::receipt),
    ("record", signed::record),
    ("rekor_bundle", sigstore::bundle),
    ("rekor_entry", message::rekor_entry),
    ("rekor_log", sigstore::log),
    ("rekor_search", sigstore::search),
    ("report", report::report),
    ("sct", signed::sct),
    ("served_trust", sigstore::served_trust),
    ("signing_config", sigstore::signing_config),
    ("signature", signature::cms),
    ("signature_timestamp", signature::timestamp),
    ("signed_pdf", signature::pdf),
    ("sigstore_bundle", sigstore::signed_bundle),
    ("sigstore_record", sigstore::record),
    ("sth", signed::sth),
    ("timestamp", timestamp::response),
    ("timestamp_query", timestamp::query),
    ("token", token::token),
    ("trusted_root", sigstore::trusted_root),
    ("tuf_metadata", tuf::metadata),
    ("tuf_walk", tuf::walk),
    ("values", values::values),
];

/// Runs the target of that name; whether it believed `data`.
///
/// # Panics
/// When there is no such target, or what must hold does not.
pub fn run(name: &str, data: &[u8]) -> bool {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).expect("a target of that name");
    target(data)
}
