//! `hammer lab`: embedded targets as processes of their own. What another process needs of them is printed as JSON: of a
//! log, what stands under `target.log` of a plan; of a verifier, what stands under `target.attest`; of a signature service, what stands under `target.pki`.

use std::path::{Path, PathBuf};

use hammer_lab::{CtLabHandle, CtLabPlan, HttpLabHandle, HttpLabPlan, LogConfig};
use hammer_report::ExitCode;
use serde_json::json;

use crate::args::{ChangeArgs, LabCommand, LabCtArgs, LabHttpArgs, PlanArgs};
use crate::error::CliError;
use crate::output::standard::{say_all, say_notes};
use crate::plan::error::PlanFault;
use crate::plan::path::PlanPath;
use crate::plan::read::{self, SourcedPlan};
use crate::protocol::ct::opened::served;
use crate::protocol::ct::roots::roots;
use crate::protocol::ct::sections::LAB_LOG;
use crate::protocol::ct::written::log_of;
use crate::protocol::lab::unstarted;
use crate::protocol::registry::Registry;
use crate::resources;

use super::foreground::until_signal;

mod attest;
mod gateway;
mod pki;
mod process;
mod sigstore;

use process::{config, told, unserved};

/// Serves until a signal.
pub(crate) fn serve(command: &LabCommand, registry: &Registry) -> Result<ExitCode, CliError> {
    resources::lift_descriptor_limit();
    match command {
        LabCommand::Ct(args) => ct(args, registry),
        LabCommand::Http(args) => http(args, registry),
        LabCommand::Gateway(args) => gateway::serve(args, registry),
        LabCommand::Sigstore(args) => sigstore::serve(args, registry),
        LabCommand::Attest(args) => attest::serve(args, registry),
        LabCommand::Pki(args) => pki::serve(args, registry),
    }
}

fn ct(args: &LabCtArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let (settings, at) = match &args.plan {
        Some(path) => (of_plan(path, &args.set, registry)?, PlanPath::of(LOG_OF_PLAN)),
        None => (config::<CtLabPlan>(args.config.as_deref(), &args.set, registry)?, PlanPath::default()),
    };
    let SourcedPlan { mut plan, source } = settings;
    say_notes(&source)?;
    plan.serve.listen = args.listen.unwrap_or(plan.serve.listen);
    let log = log_of(&plan);
    let refused = |error| unstarted(error, &at).placed(&source);
    let mut config = LogConfig::from_plan(plan).map_err(refused)?;
    args.roots.iter().try_for_each(|path| config.add_roots_file(path))?;
    if let Some(path) = args.plan.as_ref().or(args.roots_of.as_ref()) {
        for root in roots_of(path, registry)? {
            config.add_root_der(root);
        }
    }
    let is_rootless = config.roots.is_empty();
    let lab = CtLabHandle::spawn(config).map_err(|error| unserved(error, args.listen, &at, &source))?;
    let log = served(log, &lab).map_err(|error| unserved(error, args.listen, &at, &source))?;
    if is_rootless {
        say_all(&[ROOTLESS.to_owned()])?;
    }
    until_signal(&json!(log))?;
    told(&lab.stop())
}

/// The embedded log of a plan, with changes to its settings.
fn of_plan(path: &Path, set: &[String], registry: &Registry) -> Result<SourcedPlan<CtLabPlan>, CliError> {
    let set = set.iter().map(|change| format!("{LOG_OF_PLAN}.{change}")).collect();
    let changes = ChangeArgs { set, ..ChangeArgs::default() };
    let SourcedPlan { plan, source } =
        read::plan(&PlanArgs { plan: path.to_owned(), changes }, registry.grammar())?;
    match plan.target.lab.as_ref().and_then(|lab| lab.kind.get::<CtLabPlan>(LAB_LOG)).cloned() {
        Some(plan) => Ok(SourcedPlan { plan, source }),
        None => Err(PlanFault::Missing.at(PlanPath::of(LOG_OF_PLAN)).placed(&source).into()),
    }
}

fn http(args: &LabHttpArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let SourcedPlan { mut plan, source } =
        config::<HttpLabPlan>(args.config.as_deref(), &args.set, registry)?;
    say_notes(&source)?;
    plan.serve.listen = args.listen.unwrap_or(plan.serve.listen);
    let lab = HttpLabHandle::spawn(plan)
        .map_err(|error| unserved(error, args.listen, &PlanPath::default(), &source))?;
    until_signal(&json!({ "url": lab.url }))?;
    told(&lab.stop())
}

fn roots_of(path: &Path, registry: &Registry) -> Result<Vec<Vec<u8>>, CliError> {
    let args = PlanArgs { plan: PathBuf::from(path), changes: ChangeArgs::default() };
    let SourcedPlan { plan, source } = read::plan(&args, registry.grammar())?;
    let roots = roots(&plan).map_err(|error| error.placed(&source))?;
    Ok(roots.into_iter().flat_map(|roots| roots.certificates).collect())
}

const ROOTLESS: &str = "the log accepts no root, and so no chain: `hammer ct roots >roots.pem` prints those of hammer's chains, and `--roots roots.pem` adds them";
/// Where a plan has the settings of its embedded log.
const LOG_OF_PLAN: &str = "target.lab.ct";
