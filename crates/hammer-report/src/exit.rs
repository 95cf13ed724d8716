//! The exit code: what a process tells whoever started it.

use std::process;

use crate::verdict::ReasonKind;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCode {
    /// Nothing is said against it.
    Clean,
    /// This is said against it, and nothing that would come before it.
    Because(ReasonKind),
}

impl ExitCode {
    /// The exit code of all that is said: that of the first kind in the order of [`ReasonKind::ALL`].
    pub fn of(said: impl IntoIterator<Item = ReasonKind>) -> Self {
        said.into_iter().min().map_or(Self::Clean, Self::Because)
    }

    /// The number that a shell sees. This is the one place where it is decided.
    pub const fn number(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Because(ReasonKind::Usage) => 2,
            Self::Because(ReasonKind::NoAnswer) => 3,
            Self::Because(ReasonKind::PromiseBroken) => 4,
            Self::Because(ReasonKind::NotBelievable) => 5,
            Self::Because(ReasonKind::ThresholdFailed | ReasonKind::NothingAccepted) => 1,
            Self::Because(ReasonKind::ReportUnwritten) => 6,
            Self::Because(ReasonKind::Interrupted) => 130,
        }
    }
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_in_the_documented_order_decides() {
        assert_eq!(ReasonKind::ALL.map(|kind| ExitCode::Because(kind).number()), [2, 3, 4, 5, 1, 1, 6, 130]);
        assert!(ReasonKind::ALL.is_sorted());
        let said = [ReasonKind::Interrupted, ReasonKind::ThresholdFailed, ReasonKind::ReportUnwritten];
        assert_eq!(ExitCode::of(said).number(), 1);
    }

    #[test]
    fn nothing_said_is_zero() {
        assert_eq!((ExitCode::of([]), ExitCode::Clean.number()), (ExitCode::Clean, 0));
    }
}
