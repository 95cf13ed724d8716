//! The summary of several runs: rounds of one plan, or a sweep over its keys.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::exit::ExitCode;
use crate::report::Nanoseconds;
use crate::text::columns::{Side, none};
use crate::text::number::{grouped, per_second};
use crate::text::page::Page;
use crate::verdict::{Reason, ReasonKind, Standing};

mod knee;
mod limit;
mod median;
mod order;
mod run;
mod swept;
mod table;
mod table_text;
mod wording;

pub use knee::Knee;
pub use limit::{FreedRate, SweptLimit};
pub use order::RunOrder;
pub use run::{HookOutput, KeyFigures, SummaryRun};
pub use table::{Table, TableRow, TableSeries};
pub use wording::Wording;

use wording::words;

/// The version of the schema.
pub const SCHEMA: &str = "hammer.summary/1";

/// Several runs side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// `hammer.summary/1`.
    pub schema: String,
    /// That of the gravest reason of all runs; 0 when every run passed.
    pub exit_code: u8,
    /// In the order in which they ran.
    pub runs: Vec<SummaryRun>,
    /// How many the plan has.
    #[serde(default)]
    pub planned: u64,
    /// Which of rounds and combinations of swept values changed from run to run.
    #[serde(default)]
    pub order: RunOrder,
    /// What ended them between two runs; none where nothing did, or a run says it itself.
    #[serde(default)]
    pub stopped: Option<Reason>,
    /// Where a sweep of users or rates has a knee: more load brings little more than longer waits from there on.
    #[serde(default)]
    pub knees: Vec<Knee>,
    /// Where more users or a higher rate make no difference at all, as where something limits the rate.
    #[serde(default)]
    pub limits: Vec<SweptLimit>,
    /// What the tables go by: a swept key, `round`, or the name of a hook or an observation; `null` where nothing was swept and the plan
    /// does not say.
    #[serde(default)]
    pub by: Option<String>,
    /// Rates and response times by that, a table for each combination of the other swept values.
    #[serde(default)]
    pub tables: Vec<Table>,
}

impl Summary {
    /// The summary of these runs.
    pub fn of(runs: Vec<SummaryRun>) -> Self {
        let exit_code = ExitCode::of(said(&runs)).number();
        let (knees, limits, planned) = (knee::knees(&runs), limit::limits(&runs), runs.len() as u64);
        let (order, schema, by) = (RunOrder::default(), SCHEMA.to_owned(), table::axis(&runs));
        let tables = Vec::new();
        Self { schema, exit_code, runs, planned, order, stopped: None, knees, limits, by: None, tables }
            .by(by)
    }

    /// The same with tables that go by this, where it is given.
    #[must_use]
    pub fn by(self, by: Option<String>) -> Self {
        let Some(by) = by else { return self };
        Self { tables: table::tables(&self.runs, &by), by: Some(by), ..self }
    }

    /// The same of runs that came in this order.
    #[must_use]
    pub fn in_order(self, order: RunOrder) -> Self {
        Self { order, ..self }
    }

    /// The same of runs that are all of so many, or those before something ended them.
    #[must_use]
    pub fn of_planned(self, planned: usize, stopped: Option<Reason>) -> Self {
        let mut summary = Self { planned: planned as u64, stopped, ..self };
        summary.exit_code = ExitCode::of(summary.said()).number();
        summary
    }

    /// What is said against any of the runs, and against there being no more.
    pub fn said(&self) -> impl Iterator<Item = ReasonKind> {
        said(&self.runs).chain(self.stopped.iter().map(|stopped| stopped.reason))
    }

    /// A table with a line for each run and series, ending in a newline; 80 columns unless labels or paths are long.
    pub fn render(&self) -> String {
        self.page().into_string()
    }

    /// What is told of the runs, the most important first.
    pub(crate) fn page(&self) -> Page {
        let mut page = Page::default();
        let stand = |standing| self.runs.iter().filter(|run| run.verdict.standing == standing).count();
        let unexpected = match stand(Standing::NoExpectation) {
            0 => String::new(),
            runs => format!(", {runs} without an expectation"),
        };
        let passed = stand(Standing::Passed);
        let unrun = match self.planned.saturating_sub(self.runs.len() as u64) {
            0 => String::new(),
            unrun => format!(", {} of {} were not carried out", grouped(unrun), grouped(self.planned)),
        };
        let verdict = format!(
            "{passed} of {} runs passed{unexpected}{unrun}, exit {}",
            self.runs.len(),
            self.exit_code
        );
        page.heading(&verdict);
        if let Some(stopped) = &self.stopped {
            page.paragraph("", &stopped.text);
        }
        let is_swept = self.runs.iter().any(|run| run.labels.keys().any(|key| key != "round"));
        if is_swept && self.order == RunOrder::RoundsFirst {
            page.line(ROUNDS_FIRST);
        }
        page.blank();
        let wording = Wording::of(self.runs.iter().map(|run| &run.labels));
        let header =
            ["run", "series", "offered", "accepted", "failed", "p50", "p99", "verdict"].map(str::to_owned);
        let rows = self.runs.iter().flat_map(|run| rows(run, &wording));
        page.rows(std::iter::once(header).chain(rows), &SIDES);
        for knee in &self.knees {
            let at = knee.at.iter().map(|(key, value)| format!(", {key} {}", wording.value(key, value)));
            page.paragraph("knee", &format!("{}{}: {}", knee.path, at.collect::<String>(), knee.text));
        }
        for limit in &self.limits {
            let at = limit.at.iter().map(|(key, value)| format!(", {key} {}", wording.value(key, value)));
            page.paragraph(
                "limited",
                &format!("{}{}: {}", limit.workload, at.collect::<String>(), limit.text),
            );
        }
        if let Some(by) = &self.by {
            table_text::render(&mut page, (by, &self.tables), &self.runs, &wording);
        }
        let is_said = |run: &SummaryRun| !run.hooks.is_empty() || run.verdict.exit_code != 0;
        if !self.tables.is_empty() && self.runs.iter().any(is_said) {
            page.blank();
        }
        for run in &self.runs {
            let label = wording.label(&run.labels);
            for hook in &run.hooks {
                page.paragraph("", &format!("{label}: {} said {}", hook.name, words(&hook.output)));
            }
            if run.verdict.exit_code != 0 {
                page.paragraph("", &format!("{label}: {}", run.verdict));
            }
        }
        // Where the tables end, the first line has left a screen.
        page.blank();
        page.line(&verdict);
        page
    }
}

/// The rows of a run, one for each series.
fn rows(run: &SummaryRun, wording: &Wording) -> Vec<[String; 8]> {
    let rate = |rate: Option<f64>| rate.map_or_else(none, per_second);
    let figure = |figure: Option<Nanoseconds>| figure.map_or_else(none, |figure| figure.to_string());
    let row = |series: &KeyFigures| {
        [
            wording.label(&run.labels),
            series.path.clone(),
            rate(series.offered_per_s),
            rate(series.accepted_per_s),
            grouped(series.failed),
            figure(series.response_p50_ns),
            figure(series.response_p99_ns),
            mark(run),
        ]
    };
    run.series.iter().map(row).collect()
}

fn mark(run: &SummaryRun) -> String {
    const UNBELIEVABLE: ReasonKind = ReasonKind::NotBelievable;
    let is_unbelievable = run.verdict.reasons.iter().any(|reason| reason.reason == UNBELIEVABLE);
    match run.verdict.code() {
        // Its figures hold hammer's own lateness, which its plan tolerates.
        ExitCode::Clean if !run.healthy => format!("{}, late", words_of_clean(run.verdict.standing)),
        ExitCode::Clean => words_of_clean(run.verdict.standing).to_owned(),
        ExitCode::Because(kind) if is_unbelievable && kind != UNBELIEVABLE => {
            let codes = [kind, UNBELIEVABLE].map(|kind| ExitCode::Because(kind).number());
            format!("FAIL {}, {}", codes[0], codes[1])
        }
        code if run.verdict.standing == Standing::Interrupted => format!("INTERRUPTED {}", code.number()),
        code => format!("FAIL {}", code.number()),
    }
}

/// What a table says of runs against which nothing is said.
const fn words_of_clean(standing: Standing) -> &'static str {
    match standing {
        Standing::NoExpectation => "no expectation",
        Standing::Passed | Standing::Interrupted | Standing::Failed => "PASS",
    }
}

fn said(runs: &[SummaryRun]) -> impl Iterator<Item = ReasonKind> {
    runs.iter().flat_map(|run| &run.verdict.reasons).map(|reason| reason.reason)
}

static SIDES: [Side; 8] = {
    use Side::{Left, Right};
    [Left, Left, Right, Right, Right, Right, Right, Left]
};
const ROUNDS_FIRST: &str = "rounds first: all combinations, then all again";

#[cfg(test)]
mod tests;
