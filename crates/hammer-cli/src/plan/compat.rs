//! Whose way of counting a report has beside hammer's own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Another tool whose figures the report has beside hammer's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CompatPlan {
    /// The k6 scripts with a helper process that are published for Red Hat Trusted Artifact Signer.
    RhtasBenchmark,
    /// The stress test whose results were published for Rest PKI: operations by type.
    RestPki,
}

impl CompatPlan {
    /// Its name in a plan.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::RhtasBenchmark => "rhtas-benchmark",
            Self::RestPki => "rest-pki",
        }
    }
}
