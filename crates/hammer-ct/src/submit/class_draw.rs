//! What kind of submission a seq is: a pure draw, before anything is prepared or sent.

use hammer_core::draw::Draws;
use hammer_core::workload::SeriesSpec;
use hammer_synth::Kind;

use super::chains::Chains;
use super::class::Class;
use super::invalid::InvalidChains;
use crate::error::CtError;
use crate::plan::{Policy, SubmitPlan};
use crate::run::CtRun;
use crate::window::Window;

/// The draws of one workload, and the series that they lead to.
#[derive(Debug)]
pub(super) struct ClassDraw {
    draws: Draws,
    duplicate_percent: f64,
    invalid_percent: f64,
    pub(super) invalid: Option<InvalidChains>,
    series: Vec<SubmitSeries>,
}

/// What a series is of, in the order of the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SubmitSeries {
    AddChain,
    AddPreChain,
    Duplicate,
    Invalid,
    Observed,
    NothingToRepeat,
}

impl ClassDraw {
    pub(super) fn new(
        plan: &SubmitPlan,
        run: &CtRun,
        chains: &Chains,
        window: Window,
    ) -> Result<Self, CtError> {
        let stream = plan.stream.unwrap_or(run.workload);
        let draws = Draws::new(Draws::new(run.seed, CLASSES).bits(stream), CLASSES);
        let policy = Policy { stated: &plan.policy, window };
        let invalid = InvalidChains::new(plan, run, chains, &policy)?;
        let (always, observed) = invalid.as_ref().map_or((false, false), InvalidChains::classes);
        let duplicates = plan.duplicate_percent.is_any();
        let wanted = [
            (SubmitSeries::AddChain, true),
            (SubmitSeries::AddPreChain, true),
            (SubmitSeries::Duplicate, duplicates),
            (SubmitSeries::Invalid, always),
            (SubmitSeries::Observed, observed),
            (SubmitSeries::NothingToRepeat, duplicates),
        ];
        let series = wanted.into_iter().filter(|(_, wanted)| *wanted).map(|(series, _)| series).collect();
        let (duplicate_percent, invalid_percent) =
            (plan.duplicate_percent.of_100(), plan.invalid_percent.of_100());
        Ok(Self { draws, duplicate_percent, invalid_percent, invalid, series })
    }

    pub(super) fn class_of(&self, seq: u64) -> Class {
        let draw = self.draws.unit(seq) * 100.0;
        match &self.invalid {
            _ if draw < self.duplicate_percent => Class::Duplicate,
            Some(invalid) if draw < self.duplicate_percent + self.invalid_percent => {
                Class::Invalid(invalid.draw(self.draws.bits(!seq)))
            }
            _ => Class::Fresh,
        }
    }

    pub(super) fn has_duplicates(&self) -> bool {
        self.duplicate_percent > 0.0
    }

    /// What oversized chains add to the memory of an operation, on average.
    pub(super) fn oversized_bytes(&self) -> usize {
        let of_invalid = self.invalid.as_ref().map_or(0.0, InvalidChains::oversized_bytes);
        (of_invalid * self.invalid_percent / 100.0) as usize
    }

    /// The draws of a shard's own choices.
    pub(super) fn of_shard(&self, shard: usize) -> Draws {
        Draws::new(self.draws.bits(u64::MAX), shard as u64)
    }

    pub(super) fn series(&self) -> Vec<SeriesSpec> {
        let spec = |series: &SubmitSeries| {
            let spec = SeriesSpec::new(series.name(), !series.is_step());
            if series.is_wrong_on_purpose() { spec.with_refusals_meant() } else { spec }
        };
        self.series.iter().map(spec).collect()
    }

    /// The place in [`ClassDraw::series`] of an operation of that class, which for a fresh one `kind` tells.
    pub(super) fn series_of(&self, class: Class, kind: impl FnOnce() -> Kind) -> usize {
        let series = match class {
            Class::Duplicate | Class::NothingToRepeat => SubmitSeries::Duplicate,
            Class::Invalid(invalid) if invalid.kind.is_always() => SubmitSeries::Invalid,
            Class::Invalid(_) => SubmitSeries::Observed,
            Class::Fresh => match kind() {
                Kind::X509 => SubmitSeries::AddChain,
                Kind::Precert => SubmitSeries::AddPreChain,
            },
        };
        self.place_of(series).unwrap_or_default()
    }

    /// The place of the step that an operation of that class is besides.
    pub(super) fn step_of(&self, class: Class) -> Option<usize> {
        self.place_of(SubmitSeries::NothingToRepeat).filter(|_| class == Class::NothingToRepeat)
    }

    fn place_of(&self, series: SubmitSeries) -> Option<usize> {
        self.series.iter().position(|other| *other == series)
    }
}

impl SubmitSeries {
    const fn name(self) -> &'static str {
        match self {
            Self::AddChain => "add-chain",
            Self::AddPreChain => "add-pre-chain",
            Self::Duplicate => "duplicate",
            Self::Invalid => "invalid",
            Self::Observed => "observed",
            Self::NothingToRepeat => "nothing-to-repeat",
        }
    }

    const fn is_step(self) -> bool {
        matches!(self, Self::NothingToRepeat)
    }

    /// Whether a log may refuse all of it and be right.
    const fn is_wrong_on_purpose(self) -> bool {
        matches!(self, Self::Invalid | Self::Observed)
    }
}

/// `classes` in ASCII.
const CLASSES: u64 = 0x63_6c61_7373_6573;
