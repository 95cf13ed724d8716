//! What the dashboard shows of attestation.

use super::sections::{provision, verify, well_known};
use crate::plan::WorkloadPlan;
use crate::tui::spec::{
    PageNumber, PagePart, PanelLabel, PanelSide, PanelSize, PanelSpec, ProtocolPage, SideWords,
};

/// On which side of the panel a workload stands.
pub(super) fn side(workload: &WorkloadPlan) -> PanelSide {
    if provision(workload).is_some() {
        return PanelSide::Writes;
    }
    match verify(workload).is_some() || well_known(workload).is_some() {
        true => PanelSide::Reads,
        false => PanelSide::Neither,
    }
}

/// The panel.
pub(super) const PANEL: PanelSpec = PanelSpec {
    heading: "Attestation",
    reads: SideWords { label: "Verify", plural: "verify flows" },
    writes: SideWords { label: "Provision", plural: "provisionings" },
    read_series: &[],
    size: Some(PanelSize { label: "Affirmed", observation: "affirming", growth_unit: "/s" }),
    service_time: PanelLabel { label: "Provisioning", means: "service time of a provisioning, 30 s" },
    times: None,
    overdue: None,
};

/// What users of a verifier look for.
pub(super) const PAGE: ProtocolPage = ProtocolPage {
    name: "Attestation",
    parts: &[
        PagePart::Operations("Devices: provisioned, then verified"),
        PagePart::Numbers(
            "Results by what they say of the device",
            &[
                PageNumber::count("affirming", "affirming"),
                PageNumber::count("warning", "warning"),
                PageNumber::count("contraindicated", "contraindicated"),
                PageNumber::count("none", "none"),
            ],
        ),
        PagePart::Promises("Results, each held against its device"),
        PagePart::Steps("Steps of a session"),
        PagePart::Answers("How flows ended"),
    ],
};
