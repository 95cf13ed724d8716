//! The keys that Certificate Transparency adds to plans.

use std::collections::BTreeMap;

use hammer_ct::{CtTargetPlan, ReadPlan, SubmitPlan};
use hammer_lab::CtLabPlan;
use hammer_values::{Agreed, RenamedKey, Word};
use serde_json::{Map, Value};

use crate::plan::WorkloadPlan;
use crate::plan::document::LabSettings;
use crate::plan::section::{Section, SectionPlace};

/// The section of a log: of the target, and of a service.
pub(crate) const LOG: &str = "log";
/// The section of several logs.
pub(super) const LOGS: &str = "logs";
/// The section of an embedded log.
pub(crate) const LAB_LOG: &str = "ct";
/// The section of several embedded logs.
pub(super) const LAB_LOGS: &str = "logs";
/// The section of a workload that submits.
pub(crate) const SUBMIT: &str = "ct_submit";
/// The section of a workload that reads.
pub(crate) const READ: &str = "ct_read";
/// What observers call the size of a log's tree.
pub(super) const TREE_SIZE: &str = "tree_size";

impl LabSettings for CtLabPlan {
    const RENAMED: &[RenamedKey] = Self::RENAMED;
}

/// All of them.
pub(super) fn all() -> Vec<Section> {
    use SectionPlace::{Lab, Service, Target, Workload};
    type Settings = Map<String, Value>;
    let of_log: &[_] = &[("", CtTargetPlan::RENAMED)];
    vec![
        Section::of::<CtTargetPlan>(Target, LOG, "A Certificate Transparency log.").renamed(of_log),
        Section::of::<CtTargetPlan>(Service, LOG, "A Certificate Transparency log.").renamed(of_log),
        Section::of::<Vec<CtTargetPlan>>(Target, LOGS, LOGS_ARE).renamed(&[("*", CtTargetPlan::RENAMED)]),
        Section::shown_as::<CtLabPlan, Settings>(Lab, LAB_LOG, LAB_LOG_IS)
            .renamed(&[("", CtLabPlan::RENAMED)]),
        Section::shown_as::<BTreeMap<Word, CtLabPlan>, BTreeMap<String, Settings>>(
            Lab,
            LAB_LOGS,
            LAB_LOGS_ARE,
        )
        .renamed(&[("*", CtLabPlan::RENAMED)]),
        Section::of::<Agreed<SubmitPlan>>(Workload, SUBMIT, "Chains submitted to a log.")
            .renamed(&[("", SubmitPlan::RENAMED)]),
        Section::of::<ReadPlan>(Workload, READ, "Reads of a log."),
    ]
}

/// What a workload submits, where it does.
pub(super) fn submission(workload: &WorkloadPlan) -> Option<&SubmitPlan> {
    workload.operations.get::<Agreed<SubmitPlan>>(SUBMIT).map(|submit| &**submit)
}

/// What a workload reads, where it does.
pub(super) fn read(workload: &WorkloadPlan) -> Option<&ReadPlan> {
    workload.operations.get(READ)
}

const LOGS_ARE: &str = "Several of them, each with a name. A chain goes to a log whose window (`not_after_start`, \
                        `not_after_limit`) holds its NotAfter, in turn where several do.";
const LAB_LOG_IS: &str = "A log; it accepts the roots of the plan's chains.";
const LAB_LOGS_ARE: &str = "Several logs by their names, each with a key of its own; as with `target.logs`, chains go where \
                            their NotAfter is taken.";
