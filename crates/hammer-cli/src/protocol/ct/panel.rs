//! What the dashboard shows of logs.

use super::sections::{TREE_SIZE, read, submission};
use crate::plan::WorkloadPlan;
use crate::tui::spec::{PanelLabel, PanelSide, PanelSize, PanelSpec, PanelTimes, SideWords};

/// On which side of the panel a workload stands.
pub(super) fn side(workload: &WorkloadPlan) -> PanelSide {
    match (read(workload), submission(workload)) {
        (Some(_), _) => PanelSide::Reads,
        (None, Some(_)) => PanelSide::Writes,
        (None, None) => PanelSide::Neither,
    }
}

/// The panel of TesseraCT's hammer.
pub(crate) const PANEL: PanelSpec = PanelSpec {
    heading: "The panel, in the words of TesseraCT's hammer",
    reads: SideWords { label: "Read", plural: "reads" },
    writes: SideWords { label: "Write", plural: "writes" },
    read_series: &[],
    size: Some(PanelSize { label: "TreeSize", observation: TREE_SIZE, growth_unit: "qps" }),
    service_time: PanelLabel {
        label: "Time-in-queue",
        means: "service time of a write, sent to answered, 30 s",
    },
    times: Some(PanelTimes {
        name: PanelLabel {
            label: "Observed-time-to-integrate",
            means: "sent to the first tree with the leaf, 30 s",
        },
        observations: ["time_to_integrate_min", "time_to_integrate_avg", "time_to_integrate_max"],
        from_intended: Some([
            "time_to_integrate_from_intended_min",
            "time_to_integrate_from_intended_avg",
            "time_to_integrate_from_intended_max",
        ]),
    }),
    overdue: Some("overdue"),
};
