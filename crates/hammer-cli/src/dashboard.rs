//! What the dashboard shows of a plan.

use hammer_values::Rate;

use crate::plan::{Plan, WorkloadPlan};
use crate::protocol::Protocol;
use crate::protocol::registry::Registry;
use crate::tui::spec::{DashboardSpec, PanelSide, WorkloadSpec};

/// What the dashboard shows of the plan's runs, with the panel of the first protocol that has one and a workload on it.
pub(crate) fn dashboard(registry: &Registry, plan: &Plan) -> DashboardSpec {
    let measured: Vec<&WorkloadPlan> = plan.measured().map(|(_, workload)| workload).collect();
    shown(registry, plan, &measured)
}

/// What the dashboard shows of the fill ahead of them.
pub(crate) fn of_fill(registry: &Registry, plan: &Plan) -> DashboardSpec {
    let filling: Vec<&WorkloadPlan> = plan.filling().map(|(_, workload)| workload).into_iter().collect();
    let mut shown = shown(registry, plan, &filling);
    let users = plan.fill.as_ref().map_or(1, |fill| fill.users.get());
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

fn shown(registry: &Registry, plan: &Plan, workloads: &[&WorkloadPlan]) -> DashboardSpec {
    let on_panel = |protocol: &&&dyn Protocol| {
        workloads.iter().any(|workload| protocol.side(workload) != PanelSide::Neither)
    };
    let protocol = registry.protocols().iter().filter(|protocol| protocol.panel().is_some()).find(on_panel);
    let side = |workload| protocol.map_or(PanelSide::Neither, |protocol| protocol.side(workload));
    DashboardSpec {
        title: plan.name.clone().unwrap_or_default(),
        workloads: workloads.iter().map(|plan| workload(plan, side(plan))).collect(),
        panel: protocol.and_then(|protocol| protocol.panel()),
    }
}

fn workload(plan: &WorkloadPlan, side: PanelSide) -> WorkloadSpec {
    let users = plan.load.most_users();
    WorkloadSpec {
        name: plan.name.to_string(),
        side,
        rate: plan.load.rate.map(Rate::per_second),
        in_flight: users.unwrap_or(plan.in_flight.get()),
        closed_loop: users.is_some(),
    }
}
