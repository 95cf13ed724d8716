//! `hammer ct submit` and `hammer ct read`: a plan from one line.

use hammer_ct::SubmitPlan;
use hammer_report::ExitCode;
use serde_json::{Value, json};

use crate::args::{LogArgs, OutputArgs, RateArgs, ReadArgs, SubmitArgs};
use crate::command::{http, run};
use crate::error::CliError;
use crate::plan::read::typed;

pub(super) fn submit(args: &SubmitArgs) -> Result<ExitCode, CliError> {
    if args.log.url.starts_with("file:") {
        return Err(CliError::plan(format!("use {}: chains are sent to a server", args.log.url)));
    }
    let submit = SubmitPlan {
        precert_percent: args.precerts,
        duplicate_percent: args.duplicates,
        invalid_percent: args.invalid,
        audit: !args.no_audit,
        ..SubmitPlan::default()
    };
    carry_out("submit", json!({ "ct_submit": submit }), &args.log, &args.load, &args.output)
}

pub(super) fn read(args: &ReadArgs) -> Result<ExitCode, CliError> {
    let mut mix = serde_json::Map::new();
    for kind in &args.mix {
        let refused = || CliError::plan(format!("use --mix {kind}: expected KIND=WEIGHT"));
        let (kind, weight) = kind.split_once('=').ok_or_else(refused)?;
        let weight = weight.parse::<u16>().map_err(|_| refused())?;
        if mix.insert(kind.to_owned(), json!(weight)).is_some() {
            return Err(CliError::plan(format!("use --mix {kind}={weight}: it has a weight already")));
        }
    }
    let read = json!({ "ct_read": { "mix": mix, "pattern": args.pattern } });
    carry_out("read", read, &args.log, &args.load, &args.output)
}

fn carry_out(
    name: &str,
    mut workload: Value,
    log: &LogArgs,
    load: &RateArgs,
    output: &OutputArgs,
) -> Result<ExitCode, CliError> {
    workload["name"] = json!(name);
    workload["load"] = json!({ "rate": http::rate(&load.rate)? });
    workload["in_flight"] = json!(load.in_flight);
    workload["timeout"] = json!(load.timeout);
    let plan = json!({
        "seed": load.seed,
        "target": log.target()?,
        "workloads": [workload],
        "phases": { "measurement": load.duration },
    });
    let plan = typed(plan)
        .map_err(|(path, message)| CliError::plan(format!("use the arguments: {path}: {message}")))?;
    run::of_plan(&plan, output)
}
