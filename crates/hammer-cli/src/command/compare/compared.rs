//! What is compared: variants of one thing each, or sweeps point by point.

use hammer_compare::{
    Bound, BoundError, Comparison, ComparisonConfig, FoundBound, Hops, MeasuredRun, SweepComparison, Variant,
};
use hammer_html::DrawError;
use hammer_report::{ExitCode, ReasonKind};

use crate::args::{CompareArgs, ComparisonForm, FailIf};
use crate::error::UsageError;

/// A comparison with the bounds that do not hold.
pub(super) struct Compared {
    what: What,
    found: Vec<FoundBound>,
}

enum What {
    Variants(Box<Comparison>),
    Sweeps(SweepComparison),
}

impl Compared {
    /// Compares the variants; as sweeps where they are.
    pub(super) fn of(args: &CompareArgs, variants: Vec<Variant>) -> Result<Self, UsageError> {
        let config = ComparisonConfig {
            confidence: args.confidence,
            metric: args.metric,
            series: args.series.clone(),
            sla: args.sla.clone(),
            sla_decides: args.fail_if.iter().any(|bound| matches!(bound, FailIf::Sla)),
            hops: args.hops.then(|| Hops { total: args.total.clone() }),
        };
        let swept = || variants.iter().flat_map(|variant| &variant.runs).map(MeasuredRun::is_swept);
        let bounds = args.fail_if.iter().filter_map(|bound| match bound {
            FailIf::Beyond(bound) => Some(bound.clone()),
            FailIf::Sla => None,
        });
        let bounds: Vec<Bound> = bounds.collect();
        // Points of a chain are variants already.
        if args.hops || !swept().any(|is_swept| is_swept) {
            let comparison = Comparison::of(variants, config)?;
            let found = bounds.iter().map(|bound| bound.found(&comparison));
            let found = found.collect::<Result<Vec<_>, BoundError>>()?.concat();
            return Ok(Self { what: What::Variants(Box::new(comparison)), found });
        }
        if !swept().all(|is_swept| is_swept) {
            // Runs that are given are all of one kind: the other is what was kept.
            let kept = args.baseline.iter().filter(|_| variants[0].runs.iter().all(MeasuredRun::is_swept));
            let swept = kept.chain(&args.first).next().cloned().unwrap_or_default();
            return Err(UsageError::ComparedSweep(swept));
        }
        if let Some(file) = args.components.first() {
            return Err(UsageError::ComponentsOfSweep(file.label.clone()));
        }
        let sweeps = SweepComparison::of(&variants, &config)?;
        let found = sweeps.found(&bounds)?;
        Ok(Self { what: What::Sweeps(sweeps), found })
    }

    /// The variants, unless they were swept.
    pub(super) fn variants(&self) -> Option<&[Variant]> {
        match &self.what {
            What::Variants(comparison) => Some(&comparison.variants),
            What::Sweeps(_) => None,
        }
    }

    /// What is printed of it.
    pub(super) fn text(&self, form: ComparisonForm) -> String {
        let page = || match &self.what {
            What::Variants(comparison) => comparison.page(&self.found),
            What::Sweeps(sweeps) => sweeps.page(&self.found),
        };
        match (form, &self.what) {
            (ComparisonForm::Text, _) => page().text(),
            (ComparisonForm::Markdown, _) => page().markdown(),
            (ComparisonForm::Json, What::Variants(comparison)) => comparison.json(&self.found),
            (ComparisonForm::Json, What::Sweeps(sweeps)) => sweeps.json(&self.found),
        }
    }

    /// Its page of HTML.
    pub(super) fn html(&self) -> Result<String, DrawError> {
        match &self.what {
            What::Variants(comparison) => hammer_html::comparison_document(comparison, &self.found),
            What::Sweeps(sweeps) => hammer_html::sweep_comparison_document(sweeps, &self.found),
        }
    }

    /// 1 where a bound does not hold, or a service level is not met that had to be.
    pub(super) fn code(&self) -> ExitCode {
        let fails = match &self.what {
            What::Variants(comparison) => comparison.fails(&self.found),
            What::Sweeps(sweeps) => sweeps.fails(&self.found),
        };
        if fails { ExitCode::Because(ReasonKind::ThresholdFailed) } else { ExitCode::Clean }
    }
}
