//! A verdict where the machine was busy elsewhere.

use hammer_report::{ExitCode, ReasonKind, Verdict};

/// The exit code of a verdict but for the generator's own lateness: a machine that is busy elsewhere makes any run late,
/// which its report says, and exit 5 with it.
pub(crate) fn exit_if_on_time(verdict: &Verdict) -> u8 {
    let reasons = verdict.reasons.iter().map(|reason| reason.reason);
    ExitCode::of(reasons.filter(|reason| *reason != ReasonKind::NotBelievable)).number()
}
