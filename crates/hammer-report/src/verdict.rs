//! The verdict: why a run ends with the exit code that it has.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::exit::ExitCode;

/// What can be said against a run, in the order in which it takes the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKind {
    /// The arguments or the plan cannot be run: 2.
    Usage,
    /// No operation ever got an answer, or none was offered: 3.
    NoAnswer,
    /// A promise was broken: 4.
    PromiseBroken,
    /// The generator could not keep the plan (health), or left promises unchecked: 5.
    NotBelievable,
    /// A threshold failed: 1.
    ThresholdFailed,
    /// Nothing of a workload, or of a series of its operations, was accepted in measurement, and neither the series nor the plan means
    /// that; or all of the load ended in warm-up, so that nothing was measured: 1.
    NothingAccepted,
    /// A report could not be written: 6.
    ReportUnwritten,
    /// A signal ended the run; the report is complete: 130.
    Interrupted,
}

/// One thing said against a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// Which kind.
    pub reason: ReasonKind,
    /// The exit code that it has alone.
    pub exit_code: u8,
    /// What happened, with its figures.
    pub text: String,
}

/// How a run stands, as its first line says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Something was expected of it, and nothing is said against it.
    Passed,
    /// Nothing is said against it, and nothing was expected of it: there was no threshold, no promise was kept, and no operation held
    /// what it was answered against what it should be.
    #[default]
    NoExpectation,
    /// A signal ended it, and nothing else is said against it.
    Interrupted,
    /// Something is said against it.
    Failed,
}

/// Everything said against a run, and the exit code that follows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The code of the first reason; 0 when there is none.
    pub exit_code: u8,
    /// What the first line says.
    #[serde(default)]
    pub standing: Standing,
    /// All reasons that hold, the one that takes the exit code first.
    pub reasons: Vec<Reason>,
}

impl ReasonKind {
    /// All kinds, the first that holds taking the exit code.
    pub const ALL: [Self; 8] = [
        Self::Usage,
        Self::NoAnswer,
        Self::PromiseBroken,
        Self::NotBelievable,
        Self::ThresholdFailed,
        Self::NothingAccepted,
        Self::ReportUnwritten,
        Self::Interrupted,
    ];
}

impl Reason {
    /// A reason of that kind; `text` says what happened, as a sentence without its full stop.
    pub fn new(kind: ReasonKind, text: impl Into<String>) -> Self {
        Self { reason: kind, exit_code: ExitCode::Because(kind).number(), text: text.into() }
    }
}

impl Verdict {
    /// The verdict of these reasons on a run of which nothing was expected.
    pub fn of(reasons: Vec<Reason>) -> Self {
        let mut verdict = Self { exit_code: 0, standing: Standing::NoExpectation, reasons };
        verdict.settle();
        verdict
    }

    /// Says that something was expected of the run, and that only the reasons speak against it.
    pub fn expect(&mut self) {
        if self.standing == Standing::NoExpectation {
            self.standing = Standing::Passed;
        }
    }

    /// Adds what came to light later: that a report could not be written, say.
    pub fn add(&mut self, reason: Reason) {
        self.reasons.push(reason);
        self.settle();
    }

    /// The exit code that follows from the reasons.
    pub fn code(&self) -> ExitCode {
        ExitCode::of(self.reasons.iter().map(|reason| reason.reason))
    }

    fn settle(&mut self) {
        self.reasons.sort_by_key(|reason| reason.reason);
        self.exit_code = self.code().number();
        self.standing = match self.code() {
            ExitCode::Clean => self.standing,
            ExitCode::Because(ReasonKind::Interrupted) => Standing::Interrupted,
            ExitCode::Because(_) => Standing::Failed,
        };
    }
}

/// `PASS, exit 0`; `no expectation, exit 0: ` and what was missing; or `FAIL, exit 4: `, `INTERRUPTED, exit 130: ` and all reasons.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.exit_code;
        match self.standing {
            Standing::Passed => return write!(f, "PASS, exit {code}"),
            Standing::NoExpectation => return write!(f, "no expectation, exit {code}: {UNEXPECTING}"),
            Standing::Interrupted => write!(f, "INTERRUPTED, exit {code}")?,
            Standing::Failed => write!(f, "FAIL, exit {code}")?,
        }
        for (index, reason) in self.reasons.iter().enumerate() {
            let separator = if index == 0 { ": " } else { "; " };
            write!(f, "{separator}{}", reason.text)?;
        }
        Ok(())
    }
}

const UNEXPECTING: &str = "the plan has no threshold, and no answer was verified";

#[cfg(test)]
mod tests;
