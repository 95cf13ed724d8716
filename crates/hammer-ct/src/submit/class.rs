//! What kind of submission a seq is: a pure draw, before anything is prepared or sent.

use hammer_core::draw::Draws;
use hammer_core::workload::SeriesSpec;
use hammer_synth::Kind;

use crate::{CtRun, SubmitPlan};

/// What is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A chain of its own.
    Fresh,
    /// A chain that this run got an SCT for.
    Duplicate,
    /// A chain of its own in place of a duplicate: the log has not answered anything yet. Found out once it is due.
    NothingToRepeat,
}

/// The draws of one workload, and the series that they lead to.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClassDraw {
    draws: Draws,
    duplicate_percent: f64,
}

impl ClassDraw {
    pub(super) fn new(plan: &SubmitPlan, run: &CtRun) -> Self {
        let stream = plan.stream.unwrap_or(run.workload);
        let draws = Draws::new(Draws::new(run.seed, CLASSES).bits(stream), CLASSES);
        Self { draws, duplicate_percent: plan.duplicate_percent }
    }

    pub(super) fn class_of(&self, seq: u64) -> Class {
        match self.draws.unit(seq) * 100.0 {
            draw if draw < self.duplicate_percent => Class::Duplicate,
            _ => Class::Fresh,
        }
    }

    pub(super) fn has_duplicates(&self) -> bool {
        self.duplicate_percent > 0.0
    }

    /// The draws of a shard's own choices.
    pub(super) fn of_shard(&self, shard: usize) -> Draws {
        Draws::new(self.draws.bits(u64::MAX), shard as u64)
    }

    pub(super) fn series(&self) -> Vec<SeriesSpec> {
        let series = |name: &str, operation| SeriesSpec { name: name.to_owned(), operation };
        let mut all = vec![series("add-chain", true), series("add-pre-chain", true)];
        if self.has_duplicates() {
            all.extend([series("duplicate", true), series("nothing-to-repeat", false)]);
        }
        all
    }

    /// The place in [`ClassDraw::series`] of an operation of that class, which for a fresh one `kind` tells.
    pub(super) fn series_of(&self, class: Class, kind: impl FnOnce() -> Kind) -> usize {
        match (class, kind) {
            (Class::Duplicate | Class::NothingToRepeat, _) => 2,
            (Class::Fresh, kind) => usize::from(kind() == Kind::Precert),
        }
    }

    /// The place of the step that an operation of that class is besides.
    pub(super) fn step_of(&self, class: Class) -> Option<usize> {
        (class == Class::NothingToRepeat).then_some(3)
    }
}

/// `classes` in ASCII.
const CLASSES: u64 = 0x63_6c61_7373_6573;
