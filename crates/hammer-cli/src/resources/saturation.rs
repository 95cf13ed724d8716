//! Whether the server that a plan names was saturated, and what is said of it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hammer_core::run::StopRule;
use hammer_report::Report;
use hammer_report::report::saturation::{SaturatedSpan, Saturation};
use hammer_report::report::servers::ServerResources;

use super::granted_cores::GrantedCores;
use super::meter::UsageMeter;
use super::saturation_meter::SaturationMeter;
use super::usage::saturated;
use super::watch::{cgroup, selector};
use crate::plan::Plan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::resources::ResourcesPlan;
use crate::plan::saturation::SaturationPlan;

/// The server of which a plan asks whether it is saturated.
#[derive(Clone, Debug)]
pub(super) struct SaturationWatch {
    pub(super) component: String,
    plan: SaturationPlan,
    cores: f64,
    /// `None` where nobody knows.
    shares_cores: Option<bool>,
}

impl SaturationWatch {
    /// The one of a plan, where it asks.
    ///
    /// # Errors
    /// Where it is not there, so that nobody knows how many cores it may use, and the plan does not say.
    pub(super) fn of(resources: &ResourcesPlan) -> Result<Option<Self>, PlanError> {
        let Some(plan) = &resources.saturation else { return Ok(None) };
        let component = plan.component(resources)?;
        let processes = resources.processes.iter().find(|process| process.name == *component);
        let group = resources.cgroups.iter().find(|group| group.name == *component);
        let granted = match (processes.map(|plan| selector(plan)), group.map(|plan| cgroup(plan))) {
            (Some(of), _) => GrantedCores::of_processes(&of),
            (None, Some(of)) => GrantedCores::of_cgroup(&of),
            (None, None) => None,
        };
        let cores = plan.cores.map(|cores| cores.get() as f64).or(granted.map(|granted| granted.cores));
        let Some(cores) = cores else {
            let at = PlanPath::of("resources").key("saturation").key("cores");
            let why = format!(
                "`{component}` is not there yet, so that nobody knows how many cores it may use: give them, or start it first"
            );
            return Err(PlanFault::Misfit(why).at(at));
        };
        let shares_cores = granted.map(|granted| granted.are_shared);
        Ok(Some(Self { component: component.to_string(), plan: plan.clone(), cores, shares_cores }))
    }

    fn above(&self) -> f64 {
        self.plan.above.of_100() / 100.0
    }

    /// What looks at it are told to.
    pub(super) fn meter(&self) -> SaturationMeter {
        SaturationMeter::new(self.above() * self.cores, self.plan.length.duration().into())
    }

    /// What ends the arrivals once it is, where the plan says so.
    pub(super) fn stop(&self) -> Option<StopRule> {
        let Self { component, plan, cores, .. } = self;
        let reason = format!(
            "the CPU of {component} was above {} % of its {cores} cores for {}",
            plan.above.of_100(),
            plan.length
        );
        let rule = StopRule::at_least(saturated(component), 1.0).because(reason);
        plan.ends_arrivals.then_some(rule)
    }

    /// What is said of it, by its looks and by the report of the run.
    pub(super) fn figures(
        &self,
        meter: &Mutex<UsageMeter>,
        plan: &Plan,
        (servers, report): (&ServerResources, &Report),
    ) -> Saturation {
        let meter = meter.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = meter.saturation();
        let start = report.phases.first().map_or(0, |span| span.begin_ns);
        let reached = seen.and_then(SaturationMeter::reached).map(|span| {
            let (from, to) = (span.from.at.0, span.to.at.0);
            let users = users_at(plan, Duration::from_nanos(from.saturating_sub(start)));
            SaturatedSpan::new((from, to), span.cpu(), users, (&report.intervals, &report.series))
        });
        let end = report.phases.last().map_or(0, |span| span.end_ns);
        let used = report.resources.cpu_user_s + report.resources.cpu_system_s;
        let component = servers.components.iter().find(|component| component.name == self.component);
        Saturation {
            component: self.component.clone(),
            cores: self.cores,
            above: self.above(),
            for_ns: u64::try_from(self.plan.length.duration().as_nanos()).unwrap_or(u64::MAX),
            most_share: seen.and_then(SaturationMeter::most).map(|most| most / self.cores),
            shares_cores: self.shares_cores,
            hammer_cores: used / (end.max(1) as f64 / 1e9),
            reached,
            per_minute_wanted: self.plan.per_minute.map(|wanted| wanted.get() as u64),
            cores_needed: None,
        }
        .sized(component.and_then(|component| component.cpu_ns_per_completed))
    }
}

/// Users of all closed loops that are measured, so long after the start; none where there is no closed loop.
fn users_at(plan: &Plan, since: Duration) -> Option<u64> {
    let users = plan.measured().filter_map(|(_, workload)| workload.load.users_at(since));
    users.map(|users| users as u64).reduce(|all, users| all + users)
}
