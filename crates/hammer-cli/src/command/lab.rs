//! `hammer lab`: embedded targets as processes of their own. What another process needs of them is printed as JSON: of a
//! log, what stands under `target.log` of a plan.

use std::io;
use std::path::{Path, PathBuf};

use hammer_lab::{CtLab, CtLabPlan, HttpLab, HttpLabPlan, LabStats, LogConfig};
use hammer_report::ExitCode;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::args::{ChangeArgs, LabCommand, LabCtArgs, LabHttpArgs, PlanArgs};
use crate::assemble;
use crate::error::CliError;
use crate::output::print;
use crate::plan::read;
use crate::resources;
use crate::signals::EndSignals;

/// Serves until a signal.
pub(crate) fn serve(command: &LabCommand) -> Result<ExitCode, CliError> {
    resources::lift_descriptor_limit();
    match command {
        LabCommand::Ct(args) => ct(args),
        LabCommand::Http(args) => http(args),
    }
}

fn ct(args: &LabCtArgs) -> Result<ExitCode, CliError> {
    let mut plan = match &args.plan {
        Some(path) => of_plan(path, &args.set)?,
        None => config(args.config.as_deref(), &args.set)?,
    };
    plan.serve.listen = args.listen;
    let log = assemble::log_of(&plan);
    let mut config = LogConfig::from_plan(plan).map_err(CliError::plan)?;
    for path in &args.roots {
        let text = std::fs::read_to_string(path).map_err(|source| CliError::File {
            action: "read",
            path: path.clone(),
            source,
        })?;
        let added = config.add_roots_pem(&text);
        added.map_err(|error| CliError::plan(format!("use {}: failed to {error}", path.display())))?;
    }
    if let Some(path) = args.plan.as_ref().or(args.roots_of.as_ref()) {
        for root in roots_of(path)? {
            config.add_root_der(root);
        }
    }
    let lab = CtLab::spawn_thread(config).map_err(CliError::plan)?;
    until_signal(&json!(assemble::served(log, &lab)))?;
    told(&lab.stop())
}

/// The embedded log of a plan, with changes to its settings.
fn of_plan(path: &Path, set: &[String]) -> Result<CtLabPlan, CliError> {
    let set = set.iter().map(|change| format!("target.lab.ct.{change}")).collect();
    let changes = ChangeArgs { set, ..ChangeArgs::default() };
    let plan = read::plan(&PlanArgs { plan: path.to_owned(), changes })?;
    let none = || CliError::plan(format!("use the plan {}: target.lab.ct: it is not given", path.display()));
    plan.target.lab.and_then(|lab| lab.ct).ok_or_else(none)
}

fn http(args: &LabHttpArgs) -> Result<ExitCode, CliError> {
    let mut plan: HttpLabPlan = config(args.config.as_deref(), &args.set)?;
    plan.serve.listen = args.listen;
    let lab = HttpLab::spawn_thread(&plan).map_err(CliError::plan)?;
    until_signal(&json!({ "url": lab.url }))?;
    told(&lab.stop())
}

fn roots_of(path: &Path) -> Result<Vec<Vec<u8>>, CliError> {
    let plan = read::plan(&PlanArgs { plan: PathBuf::from(path), changes: ChangeArgs::default() })?;
    Ok(assemble::roots(&plan)?.into_iter().flat_map(|roots| roots.certificates).collect())
}

fn config<T: DeserializeOwned>(path: Option<&Path>, set: &[String]) -> Result<T, CliError> {
    if let Some(path) = path {
        return read::file(path, set);
    }
    let mut value = Value::Object(serde_json::Map::new());
    for change in set {
        read::apply_text(&mut value, change)?;
    }
    read::typed(value).map_err(|(path, message)| CliError::plan(format!("use --set: {path}: {message}")))
}

/// Says where the target is, and waits for a signal, which is listened to before anyone can know of the target.
fn until_signal(value: &Value) -> Result<(), CliError> {
    let failed = |error| CliError::plan(format!("wait for a signal: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async {
        let mut signals = EndSignals::listen().map_err(failed)?;
        print(io::stdout(), |out| writeln!(out, "{value}"))?;
        signals.arrived().await;
        Ok(())
    })
}

fn told(stats: &LabStats) -> Result<ExitCode, CliError> {
    print(io::stdout(), |out| writeln!(out, "{}", serde_json::to_string(stats).map_err(io::Error::other)?))?;
    Ok(ExitCode::Clean)
}
