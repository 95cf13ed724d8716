//! The tree under load.

use std::time::Duration;

use http::Uri;

use crate::error::TrillianError;
use crate::plan::TrillianTargetPlan;

/// The tree under load.
#[derive(Clone, Debug)]
pub struct TrillianTarget {
    /// The log servers, of which balancing chooses.
    pub endpoints: Vec<Uri>,
    /// The id of the tree.
    pub tree_id: i64,
    /// The longest time from the answer to a queued leaf to the tree that has it.
    pub integration_delay: Duration,
}

/// What follows from nothing but the run, and what is sent follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrillianRun {
    /// The run's seed.
    pub seed: u64,
    /// The workload's place in the plan: the stream of its leaves, unless the plan names one.
    pub workload: u64,
}

impl TrillianTarget {
    /// Where a plan says that it is.
    ///
    /// # Errors
    /// When it does not.
    pub fn of(plan: &TrillianTargetPlan) -> Result<Self, TrillianError> {
        let endpoints: Vec<Uri> = plan.url.as_slice().iter().map(|url| url.url().clone()).collect();
        if endpoints.is_empty() {
            return Err(TrillianError::NoUrl);
        }
        Ok(Self { endpoints, tree_id: plan.tree_id, integration_delay: plan.integration_delay.duration() })
    }
}
