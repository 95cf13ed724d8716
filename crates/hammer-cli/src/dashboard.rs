//! What the dashboard shows of a plan.

use hammer_values::Rate;

use crate::plan::{Plan, WorkloadPlan};
use crate::protocol::Protocol;
use crate::protocol::registry::Registry;
use crate::tui::spec::{DashboardSpec, PanelSide, ProtocolPage, WorkloadSpec};

/// What the dashboard shows of the plan's runs, with the panel of the first protocol that has one and a workload on it.
pub(crate) fn dashboard(registry: &Registry, plan: &Plan, targets: &[String]) -> DashboardSpec {
    let measured: Vec<&WorkloadPlan> = plan.measured().map(|(_, workload)| workload).collect();
    shown(registry, plan, targets, &measured)
}

/// What the dashboard shows of the fill ahead of them.
pub(crate) fn of_fill(registry: &Registry, plan: &Plan, targets: &[String]) -> DashboardSpec {
    let filling: Vec<&WorkloadPlan> = plan.filling().map(|(_, workload)| workload).into_iter().collect();
    let mut shown = shown(registry, plan, targets, &filling);
    let users = plan.fill.as_ref().map_or(1, |fill| fill.users.get());
    // Those of the plan are of the run behind it.
    shown.thresholds = 0;
    for workload in &mut shown.workloads {
        // Its own load is another.
        *workload = WorkloadSpec {
            name: workload.name.clone(),
            rate: None,
            in_flight: users,
            closed_loop: true,
            ..*workload
        };
    }
    shown
}

fn shown(registry: &Registry, plan: &Plan, targets: &[String], workloads: &[&WorkloadPlan]) -> DashboardSpec {
    let on_panel = |protocol: &&&dyn Protocol| {
        workloads.iter().any(|workload| protocol.side(workload) != PanelSide::Neither)
    };
    let protocol = registry.protocols().iter().filter(|protocol| protocol.panel().is_some()).find(on_panel);
    let side = |workload| protocol.map_or(PanelSide::Neither, |protocol| protocol.side(workload));
    let mut pages = Pages::default();
    DashboardSpec {
        title: plan.name.clone().unwrap_or_default(),
        targets: targets.to_vec(),
        workloads: workloads
            .iter()
            .map(|plan| workload(plan, side(plan), pages.place(registry, plan)))
            .collect(),
        panel: protocol.and_then(|protocol| protocol.panel()),
        pages: pages.pages,
        thresholds: plan.thresholds.len()
            + workloads.iter().map(|workload| workload.thresholds.len()).sum::<usize>(),
        interval: plan.interval.duration().into(),
        drain: Some(plan.phases.drain.duration().into()),
        run: None,
    }
}

/// The pages of those protocols that a plan loads, in the order of its workloads.
#[derive(Default)]
struct Pages {
    /// Those that have one, by their places in the registry.
    protocols: Vec<usize>,
    pages: Vec<ProtocolPage>,
}

impl Pages {
    /// The place of the page of that workload's protocol, where it has one.
    fn place(&mut self, registry: &Registry, workload: &WorkloadPlan) -> Option<usize> {
        let protocol = workload.operations.keys().next().and_then(|key| registry.of_workload(key))?;
        let known = self.protocols.iter().position(|known| *known == protocol);
        known.or_else(|| {
            self.pages.push(registry.protocols()[protocol].page()?);
            self.protocols.push(protocol);
            Some(self.pages.len() - 1)
        })
    }
}

fn workload(plan: &WorkloadPlan, side: PanelSide, page: Option<usize>) -> WorkloadSpec {
    let users = plan.load.most_users();
    WorkloadSpec {
        name: plan.name.to_string(),
        side,
        rate: plan.load.rate.map(Rate::per_second),
        in_flight: users.unwrap_or(plan.in_flight.get()),
        closed_loop: users.is_some(),
        page,
    }
}
