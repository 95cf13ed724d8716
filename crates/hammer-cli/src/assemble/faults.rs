//! What is wrong with a plan and belongs to no protocol: names that are taken, times of nothing, a fill of no workload, targets of two kinds.

use hammer_values::{TimeSpan, ValueError};

use crate::plan::error::{PlanError, PlanFault};
use crate::plan::grammar::StopKey;
use crate::plan::observe;
use crate::plan::path::PlanPath;
use crate::plan::resources::ResourcesPlan;
use crate::plan::section::SectionPlace;
use crate::plan::summary;
use crate::plan::{HooksPlan, Plan, ThreadsPlan};
use crate::protocol::registry::Registry;

/// Looks for all of it.
///
/// # Errors
/// The first that is found, where it stands.
pub(super) fn check_own(registry: &Registry, plan: &Plan) -> Result<(), PlanError> {
    check_names(plan)?;
    check_times(plan)?;
    check_amounts(plan)?;
    check_fill(plan)?;
    plan.resources.as_ref().map_or(Ok(()), ResourcesPlan::check_names)?;
    summary::check(plan)?;
    observe::check(&plan.observe, plan.target.lab.is_some())?;
    check_stop(registry, plan)?;
    check_target(registry, plan)?;
    let keys = registry.grammar().listed(SectionPlace::Workload, &[]);
    for (place, workload) in plan.workloads.iter().enumerate() {
        one(workload.operations.keys().count(), &keys, || PlanPath::workload(place))?;
    }
    Ok(())
}

fn check_names(plan: &Plan) -> Result<(), PlanError> {
    for (place, workload) in plan.workloads.iter().enumerate() {
        let (name, at) = (&workload.name, PlanPath::workload(place).key("name"));
        if plan.workloads[..place].iter().any(|other| other.name == *name) {
            return Err(PlanFault::Taken(name.to_string()).at(at));
        }
    }
    Ok(())
}

/// What takes time has some.
fn check_times(plan: &Plan) -> Result<(), PlanError> {
    let some = |span: TimeSpan, at: &dyn Fn() -> PlanPath| match span {
        TimeSpan::ZERO => Err(PlanFault::Misfit(ValueError::below("1ns").to_string()).at(at())),
        _ => Ok(()),
    };
    for (place, workload) in plan.workloads.iter().enumerate() {
        some(workload.timeout, &|| PlanPath::workload(place).key("timeout"))?;
    }
    let mut measurement = plan.phases.measurement.into_iter();
    measurement.try_for_each(|span| some(span, &|| PlanPath::of("phases").key("measurement")))?;
    let mut window = plan.resources.iter().map(|resources| resources.window);
    window.try_for_each(|span| some(span, &|| PlanPath::of("resources").key("window")))?;
    let mut fill = plan.fill.iter().filter_map(|fill| fill.timeout);
    fill.try_for_each(|span| some(span, &|| PlanPath::of("fill").key("timeout")))
}

/// What is counted is some, and no more than there is use for; a command says something.
fn check_amounts(plan: &Plan) -> Result<(), PlanError> {
    for (place, workload) in plan.workloads.iter().enumerate() {
        if workload.load.operations == Some(0) {
            let at = PlanPath::workload(place).keys("load.operations");
            return Err(PlanFault::Misfit(ValueError::below("1").to_string()).at(at));
        }
    }
    let ThreadsPlan { shards, supply, verify } = plan.threads;
    for (key, threads) in [("shards", shards), ("supply", supply), ("verify", verify)] {
        if threads.is_some_and(|threads| threads.get() > MOST_THREADS) {
            let why = ValueError::above(MOST_THREADS.to_string()).to_string();
            return Err(PlanFault::Misfit(why).at(PlanPath::of("threads").key(key)));
        }
    }
    let HooksPlan { before, between, after, .. } = &plan.hooks;
    for (list, hooks) in [("before", before), ("between", between), ("after", after)] {
        if let Some(place) = hooks.iter().position(|hook| hook.run.trim().is_empty()) {
            let at = PlanPath::of("hooks").key(list).item(place).key("run");
            return Err(PlanFault::Empty.at(at));
        }
    }
    Ok(())
}

fn check_fill(plan: &Plan) -> Result<(), PlanError> {
    let Some(fill) = &plan.fill else { return Ok(()) };
    let at = |key: &str| PlanPath::of("fill").key(key);
    if plan.filling().is_none() {
        return Err(
            PlanFault::Misfit(format!("no workload is called `{}`", fill.workload)).at(at("workload"))
        );
    }
    if fill.users.get() > MOST_FILLING {
        return Err(PlanFault::Misfit(TOO_MANY_FILL.to_owned()).at(at("users")));
    }
    Ok(())
}

fn check_stop(registry: &Registry, plan: &Plan) -> Result<(), PlanError> {
    let Some(stop) = &plan.stop else { return Ok(()) };
    let (known, at) = (&registry.grammar().stop_keys, PlanPath::of("stop"));
    if stop.0.is_empty() {
        let keys: Vec<&str> = known.iter().map(|known| known.key).collect();
        return Err(PlanFault::NoRule(keys.join(" or ")).at(at));
    }
    let mut given = known.iter().filter_map(|known| Some((known, *stop.0.get(known.key)?)));
    if let Some((known, _)) = given.clone().find(|(known, number)| known.grown && *number == 0) {
        return Err(PlanFault::Misfit(ValueError::below("1").to_string()).at(at.key(known.key)));
    }
    let is_observed = |known: &StopKey| {
        registry.protocols().iter().any(|protocol| protocol.will_observe(plan, known.observation))
    };
    match given.find(|(known, _)| !is_observed(known)) {
        Some((known, _)) => Err(PlanFault::Misfit(known.needs.to_owned()).at(at)),
        None => Ok(()),
    }
}

/// Exactly one kind of target, and of each service and embedded target.
fn check_target(registry: &Registry, plan: &Plan) -> Result<(), PlanError> {
    let (target, grammar, at) = (&plan.target, registry.grammar(), PlanPath::of("target"));
    let is_of_lab = |key: &&str| {
        let is_embedded = target.lab.as_ref().is_some_and(|lab| lab.kind.keys().any(|lab| lab == *key));
        is_embedded
            && grammar.at(SectionPlace::Target).any(|section| section.key == *key && section.is_beside_lab)
    };
    let kinds = target.unnamed.keys().filter(|key| !is_of_lab(key)).count()
        + usize::from(!target.services.is_empty())
        + usize::from(target.lab.is_some());
    one(kinds, &grammar.listed(SectionPlace::Target, &["services", "lab"]), || at.clone())?;
    for (name, service) in &target.services {
        let at = at.clone().key("services").key(name.as_str());
        one(service.kind.keys().count(), &grammar.listed(SectionPlace::Service, &[]), || at)?;
    }
    if let Some(lab) = &target.lab {
        let keys = grammar.listed(SectionPlace::Lab, &[]);
        one(lab.kind.keys().count(), &keys, || at.key("lab"))?;
    }
    match target.misfit_of_connections() {
        Some((at, why)) => Err(PlanFault::Misfit(why.to_owned()).at(at)),
        None => Ok(()),
    }
}

fn one(given: usize, of: &str, at: impl FnOnce() -> PlanPath) -> Result<(), PlanError> {
    match given {
        1 => Ok(()),
        _ => Err(PlanFault::NotOne(of.to_owned()).at(at())),
    }
}

/// Far more than the cores of any machine.
const MOST_THREADS: usize = 1_024;
const MOST_FILLING: usize = 100_000;
const TOO_MANY_FILL: &str = "100,000 users at most can fill";
