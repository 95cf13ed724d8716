//! What is sent again where a connection is lost.

use hammer_net::Resend;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is sent again where a connection is lost, or a stream refused, before any of its answer came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResendPlan {
    /// What the server provably never read.
    #[default]
    Unsent,
    /// Also GET, HEAD, PUT and DELETE whose connection had been used before, and was closed without a byte of an answer within 1 ms
    /// of the write.
    Idle,
    /// Nothing.
    Never,
}

impl From<ResendPlan> for Resend {
    fn from(plan: ResendPlan) -> Self {
        match plan {
            ResendPlan::Unsent => Self::Unsent,
            ResendPlan::Idle => Self::Idle,
            ResendPlan::Never => Self::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_of_a_plan_means_that_and_nothing_else() {
        for (word, resend) in [("unsent", Resend::Unsent), ("idle", Resend::Idle), ("never", Resend::Never)] {
            let plan: ResendPlan = serde_json::from_value(word.into()).unwrap();
            assert_eq!((Resend::from(plan), serde_json::to_value(plan).unwrap()), (resend, word.into()));
        }
        assert_eq!(Resend::from(ResendPlan::default()), Resend::default());
        assert!(serde_json::from_value::<ResendPlan>("always".into()).is_err());
    }
}
