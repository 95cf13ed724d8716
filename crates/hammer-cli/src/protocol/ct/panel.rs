//! What the dashboard shows of logs.

use super::sections::{TREE_SIZE, read, submission};
use crate::plan::WorkloadPlan;
use crate::tui::spec::{
    PageNumber, PagePart, PanelLabel, PanelSide, PanelSize, PanelSpec, PanelTimes, ProtocolPage, SideWords,
};

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

/// What users of a log look for.
pub(super) const PAGE: ProtocolPage = ProtocolPage {
    name: "CT log",
    parts: &[
        PagePart::Numbers(
            "The tree",
            &[
                PageNumber::count("tree size", TREE_SIZE),
                PageNumber::count("signed heads without a proof from the one before", "heads_unproved"),
                PageNumber::count("signed heads that no other view has joined", "heads_unjoined"),
                PageNumber::count("heads older than they may be", "stale_heads"),
                PageNumber::count("cosignatures of the last head", "cosignatures"),
            ],
        ),
        PagePart::Promises("Promises: each SCT, and its leaf in the tree"),
        PagePart::Numbers(
            "Publication: answered to in a signed tree",
            &[
                PageNumber::seconds("publication delay, median", "publication_delay_p50"),
                PageNumber::seconds("publication delay, p99", "publication_delay_p99"),
                PageNumber::seconds("publication delay, longest", "publication_delay_max"),
                PageNumber::seconds("merge delay, longest", "merge_delay_max"),
                PageNumber::seconds("sent to integrated, mean of 30 s", "time_to_integrate_avg"),
            ],
        ),
        PagePart::Numbers(
            "The audit",
            &[
                PageNumber::count("leaves looked up in the tree", "audited"),
                PageNumber::count("leaves that wait for it", "audit_pending"),
                PageNumber::count("overdue", "overdue"),
                PageNumber::count("its requests", "audit_requests"),
                PageNumber::bytes("read by it", "audit_bytes"),
            ],
        ),
        PagePart::Operations("Requests"),
    ],
};
