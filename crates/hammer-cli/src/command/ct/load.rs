//! `hammer ct submit` and `hammer ct read`: a plan from one line.

use hammer_report::ExitCode;
use serde_json::{Value, json};

use crate::args::{LineArgs, LogArgs, RateArgs, ReadArgs, SubmitArgs};
use crate::command::one_line::{LinePlan, plan, rate, workload};
use crate::error::{CliError, UsageError};
use crate::protocol::ct::sections::{READ, SUBMIT};
use crate::protocol::registry::Registry;

pub(super) fn submit(args: &SubmitArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    if args.log.url.starts_with("file:") {
        return Err(UsageError::NoServer(args.log.url.clone()).into());
    }
    let submit = json!({
        "precert_percent": args.precerts,
        "duplicate_percent": args.duplicates,
        "invalid_percent": args.invalid,
        "audit": !args.no_audit,
    });
    carry_out("submit", (SUBMIT, submit), &args.log, &args.load, &args.line, registry)
}

pub(super) fn read(args: &ReadArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let mut mix = serde_json::Map::new();
    for kind in &args.mix {
        let refused = || UsageError::Mix(kind.clone());
        let (kind, weight) = kind.split_once('=').ok_or_else(refused)?;
        let weight = weight.parse::<u16>().map_err(|_| refused())?;
        if mix.insert(kind.to_owned(), json!(weight)).is_some() {
            return Err(UsageError::MixTwice { kind: kind.to_owned(), weight }.into());
        }
    }
    let read = json!({ "mix": mix, "pattern": args.pattern });
    carry_out("read", (READ, read), &args.log, &args.load, &args.line, registry)
}

fn carry_out(
    name: &str,
    operations: (&str, Value),
    log: &LogArgs,
    load: &RateArgs,
    line: &LineArgs,
    registry: &Registry,
) -> Result<ExitCode, CliError> {
    let arrivals = json!({ "rate": rate(&load.rate) });
    let workload = workload(name, operations, &arrivals, &load.bounds);
    let mut target = log.target()?;
    if load.no_preflight {
        target["preflight"] = json!(false);
    }
    let plan = plan(&target, &[workload], &load.bounds);
    let flags = [log.flags().as_slice(), &FLAGS].concat();
    LinePlan::read(plan, &flags, line, registry)?.carry_out(&line.end, registry)
}

/// Which key each argument stands for, beside those of the log.
const FLAGS: [(&str, &str); 9] = [
    ("--rate", "workloads[0].load.rate"),
    ("-z", "phases.measurement"),
    ("-c", "workloads[0].in_flight"),
    ("-t", "workloads[0].timeout"),
    ("--precerts", "workloads[0].ct_submit.precert_percent"),
    ("--duplicates", "workloads[0].ct_submit.duplicate_percent"),
    ("--invalid", "workloads[0].ct_submit.invalid_percent"),
    ("--mix", "workloads[0].ct_read.mix"),
    ("--pattern", "workloads[0].ct_read.pattern"),
];
