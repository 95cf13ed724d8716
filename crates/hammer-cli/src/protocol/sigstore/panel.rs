//! What the dashboard shows of Sigstore.

use super::sections::{mixed, read, sign, timestamp, tuf, verify};
use crate::plan::WorkloadPlan;
use crate::tui::spec::{
    PageNumber, PagePart, PanelLabel, PanelSide, PanelSize, PanelSpec, ProtocolPage, SideWords,
};

/// On which side of the panel a workload stands.
pub(super) fn side(workload: &WorkloadPlan) -> PanelSide {
    if sign(workload).is_some() || mixed(workload).is_some() || timestamp(workload).is_some() {
        return PanelSide::Writes;
    }
    match verify(workload).is_some() || read(workload).is_some() || tuf(workload).is_some() {
        true => PanelSide::Reads,
        false => PanelSide::Neither,
    }
}

/// The panel.
pub(super) const PANEL: PanelSpec = PanelSpec {
    heading: "Sigstore",
    reads: SideWords { label: "Verify", plural: "verify flows" },
    writes: SideWords { label: "Sign", plural: "sign flows" },
    read_series: &["verify"],
    size: Some(PanelSize { label: "Log size", observation: "tree_size", growth_unit: "/s" }),
    service_time: PanelLabel { label: "Sign flow", means: "service time of a sign flow, 30 s" },
    times: None,
    overdue: Some("overdue"),
};

/// What users of Sigstore look for.
pub(super) const PAGE: ProtocolPage = ProtocolPage {
    name: "Sigstore",
    parts: &[
        PagePart::Operations("Flows"),
        PagePart::Steps("Steps: certificates, entries, timestamps, reads"),
        PagePart::Promises("Promises: certificates, entries and timestamps, verified"),
        PagePart::Numbers(
            "The transparency log",
            &[
                PageNumber::count("entries in the log", "tree_size"),
                PageNumber::count("entries looked up in the log", "audited"),
                PageNumber::count("entries that wait for it", "audit_pending"),
                PageNumber::count("entries read back", "entries_read_back"),
                PageNumber::count("overdue", "overdue"),
                PageNumber::count("shards that take no entries", "inactive_shards"),
            ],
        ),
        PagePart::Answers("How flows ended"),
    ],
};
