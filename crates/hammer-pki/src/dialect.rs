//! The dialects that signature services speak.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A dialect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Rest PKI's API of version 1.
    #[default]
    RestPki,
    /// EU DSS's REST services.
    Dss,
}
