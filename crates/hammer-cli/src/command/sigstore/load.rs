//! `hammer sigstore sign`, `mixed`, `fill`, `verify` and `tsa`: a plan from one line.

use std::io;
use std::path::PathBuf;

use hammer_core::clock::unix_millis;
use hammer_report::ExitCode;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::args::{FillArgs, LineArgs, MixedArgs, SignArgs, TsaArgs, VerifyArgs};
use crate::command::one_line::{BOUNDS, LinePlan, ONE_LOAD, load, plan, workload};
use crate::command::run::STAND_IN;
use crate::error::{CliError, OutputError};
use crate::output::standard::print;
use crate::protocol::registry::Registry;
use crate::resources;

use super::target::FLAGS;

pub(super) fn sign(args: &SignArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let is_stated = args.load.rate.is_some() || args.load.users.is_some();
    let load = match args.is_of_one() && !is_stated {
        true => json!({ "users": 1, "operations": 1 }),
        false => args.load.plan(),
    };
    let located = args.services.trust.located()?;
    args.check(&located)?;
    let flows = ("sigstore_sign", args.flows(&located));
    let workload = workload("sign", flows, &load, &args.load.bounds);
    let plan = plan(&args.target(), &[workload], &args.load.bounds);
    let own = [&[args.services.identity.token_flag()], ONE_LOAD.as_slice()].concat();
    carry_out(plan, &own, &args.line, registry)
}

pub(super) fn fill(args: &FillArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let located = args.services.trust.located()?;
    let plan = json!({
        "seed": args.seed,
        "target": args.target(),
        "fill": args.fill(),
        "workloads": [{ "name": FILLED, "sigstore_sign": args.sign_flows(&located), "timeout": args.timeout }],
        // What the audit asks for once all is signed takes as long as what was signed is much.
        "phases": { "drain": FILL_DRAIN },
    });
    let own = [&[args.services.identity.token_flag()], FILL.as_slice()].concat();
    let flags = [&own, FLAGS.as_slice(), &BOUNDS].concat();
    LinePlan::of_end(plan, &flags, &args.end, registry)?.carry_out(&args.end, registry)
}

pub(super) fn verify(args: &VerifyArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let located = args.trust.located()?;
    let is_printed = args.line.end.print_plan;
    // It is gone when this ends; what is printed names one that stays.
    let needs_folder = args.corpus.is_none() && !is_printed;
    let folder = needs_folder.then(TempDir::new).transpose().map_err(OutputError::Corpus)?;
    let own = folder.as_ref().map(|folder| folder.path().join("corpus.jsonl"));
    let filled = own.or_else(|| args.corpus.is_none().then(|| PathBuf::from(STAND_IN)));
    let corpus = args.corpus.as_ref().or(filled.as_ref()).cloned().unwrap_or_default();
    let flows = ("sigstore_verify", args.flows(&corpus, &located));
    let workload = workload("verify", flows, &args.load.plan(), &args.load.bounds);
    let mut plan = plan(&args.target(), &[workload], &args.load.bounds);
    // What was logged by the same seed before is no new entry, of which the log says where it is.
    let seed = args.load.bounds.seed.unwrap_or_else(unix_millis);
    if let (Some(corpus), Some(workloads)) = (&filled, plan["workloads"].as_array_mut()) {
        let (flows, timeout) = (args.filling_flows(&located), &args.load.bounds.timeout);
        workloads.push(json!({ "name": "fill", "sigstore_sign": flows, "timeout": timeout }));
        plan["fill"] = args.fill(corpus);
        plan["seed"] = json!(seed);
    }
    let read = if filled.is_some() { FILLED_FIRST } else { GIVEN };
    let flags = [read.as_slice(), &VERIFIED, &ONE_LOAD, &FLAGS, &BOUNDS].concat();
    let planned = LinePlan::read(plan, &flags, &args.line, registry)?;
    if let Some(fill) = planned.plan().fill.as_ref().filter(|_| folder.is_some()) {
        let count = fill.operations.get();
        let said =
            format!("no --corpus is given: logs {count} entries first, and reads those (--seed {seed})\n");
        print(io::stderr(), |out| out.write_all(said.as_bytes()))?;
    }
    let ended = planned.carry_out_with(filled.as_deref(), &args.line.end, registry);
    if let (Err(error), Some(folder), Some(corpus)) = (&ended, folder, filled) {
        // What a message names is there.
        if error.to_string().contains(&*corpus.to_string_lossy()) && corpus.exists() {
            let _ = folder.keep();
        }
    }
    ended
}

pub(super) fn tsa(args: &TsaArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let requests = json!({ "format": if args.json { "json" } else { "der" } });
    let requests = ("sigstore_timestamp", requests);
    let workload = workload("timestamp", requests, &args.load.plan(), &args.load.bounds);
    let plan = plan(&args.target(), &[workload], &args.load.bounds);
    let chain = if args.chain.is_some() { "--chain" } else { "--trusted-root" };
    let own = [
        ("URL", "target.sigstore.timestamp_url"),
        (chain, "target.sigstore.timestamp_chain"),
        (chain, "workloads[0].sigstore_timestamp.timestamp_chain"),
    ];
    carry_out(plan, &[own.as_slice(), &ONE_LOAD].concat(), &args.line, registry)
}

pub(super) fn mixed(args: &MixedArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let located = args.services.trust.located()?;
    let signs = load(args.sign_rate.as_deref(), args.sign_users);
    let sign = workload("sign", ("sigstore_sign", args.sign_flows(&located)), &signs, &args.bounds);
    let verifies = load(args.verify_rate.as_deref(), args.verify_users);
    let flows = ("sigstore_verify", args.verify_flows(&located));
    let verify = workload("verify", flows, &verifies, &args.bounds);
    let mut plan = plan(&args.target(), &[sign, verify], &args.bounds);
    // Nothing can be verified until something is logged.
    plan["phases"]["warm_up"] = json!(MIXED_WARM_UP);
    // A shard's verify flows read what that shard's users signed, so that none may be without one.
    let few = args.sign_users.filter(|users| *users < resources::cores());
    plan["threads"] = json!({ "shards": few.map(|users| users.max(1)) });
    let own = [&[args.services.identity.token_flag()], TWO_LOADS.as_slice()].concat();
    carry_out(plan, &own, &args.line, registry)
}

fn carry_out(
    plan: Value,
    own: &[(&'static str, &'static str)],
    line: &LineArgs,
    registry: &Registry,
) -> Result<ExitCode, CliError> {
    // The first flag of a key is the one that is named.
    let flags = [own, &FLAGS, &BOUNDS].concat();
    LinePlan::read(plan, &flags, line, registry)?.carry_out(&line.end, registry)
}

const FILL: [(&str, &str); 7] = [
    ("--flows", "fill.operations"),
    ("--users", "fill.users"),
    ("--corpus", "fill.corpus"),
    ("--anew", "fill.resume"),
    ("--most-failed", "fill.most_failed"),
    ("-z", "fill.timeout"),
    ("--seed", "seed"),
];
const GIVEN: [(&str, &str); 1] = [("--corpus", CORPUS)];
const FILLED_FIRST: [(&str, &str); 1] = [("--fill", CORPUS)];
const CORPUS: &str = "workloads[0].sigstore_verify.corpus";
const VERIFIED: [(&str, &str); 3] = [
    ("--draw", "workloads[0].sigstore_verify.draw"),
    ("--by", "workloads[0].sigstore_verify.by"),
    ("--fill", "fill.operations"),
];
const TWO_LOADS: [(&str, &str); 4] = [
    ("--sign-rate", "workloads[0].load.rate"),
    ("--sign-users", "workloads[0].load.users"),
    ("--verify-rate", "workloads[1].load.rate"),
    ("--verify-users", "workloads[1].load.users"),
];
/// The workload that is filled with, as flows of bundles and corpora are numbered by.
const FILLED: &str = "sign";
const FILL_DRAIN: &str = "5m";
const MIXED_WARM_UP: &str = "3s";
