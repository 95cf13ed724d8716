//! `hammer ct`: the roots that a log must accept, and submissions from one line.

use std::io;
use std::path::PathBuf;

use hammer_ct::{CtTargetPlan, LogKind, OneOrMany, SubmitPlan};
use serde_json::json;

use crate::args::{CtCommand, PlanArgs, SubmitArgs};
use crate::assemble;
use crate::error::CliError;
use crate::output::print;
use crate::plan::read;

use super::run;

/// Carries it out.
pub(crate) fn command(command: &CtCommand) -> Result<u8, CliError> {
    match command {
        CtCommand::Roots(args) => roots(args),
        CtCommand::Submit(args) => submit(args),
    }
}

fn roots(args: &PlanArgs) -> Result<u8, CliError> {
    let roots = assemble::roots(&read::plan(args)?)?;
    if roots.iter().all(|roots| roots.pem.is_empty()) {
        return Err(CliError::plan("find roots: no workload of the plan mints chains"));
    }
    let mut seen: Vec<&str> = Vec::new();
    for roots in &roots {
        if !seen.contains(&roots.pem.as_str()) {
            seen.push(&roots.pem);
        }
    }
    print(io::stdout(), |out| seen.iter().try_for_each(|pem| out.write_all(pem.as_bytes())))?;
    Ok(0)
}

fn submit(args: &SubmitArgs) -> Result<u8, CliError> {
    let (public_key, public_key_file) = match args.key.strip_prefix('@') {
        Some(file) => (None, Some(PathBuf::from(file))),
        None => (Some(args.key.clone()), None),
    };
    let log = CtTargetPlan {
        kind: if args.kind == "rfc6962" { LogKind::Rfc6962 } else { LogKind::StaticCt },
        submission_url: OneOrMany::One(args.url.clone()),
        monitoring_url: OneOrMany::Many(args.monitoring_url.iter().cloned().collect()),
        origin: args.origin.clone(),
        public_key,
        public_key_file,
        ..CtTargetPlan::default()
    };
    let submit = SubmitPlan { precert_percent: args.precerts, ..SubmitPlan::default() };
    let plan = json!({
        "seed": args.seed,
        "target": { "log": log, "authorized": args.authorized },
        "workloads": [{
            "name": "submit",
            "ct_submit": submit,
            "load": { "rate": super::http::rate(&args.rate)? },
            "in_flight": args.in_flight,
            "timeout": args.timeout,
        }],
        "phases": { "measurement": args.duration },
    });
    let plan = read::typed(plan)
        .map_err(|(path, message)| CliError::plan(format!("use the arguments: {path}: {message}")))?;
    run::of_plan(&plan, &args.output)
}
