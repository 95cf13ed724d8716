//! The signatures that are asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of signature is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SignatureKind {
    /// CAdES with the document in it.
    Cades,
    /// The same with a timestamp.
    CadesT,
    /// PAdES.
    Pades,
    /// The same with a timestamp.
    PadesT,
}

impl SignatureKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Cades, Self::CadesT, Self::Pades, Self::PadesT];

    /// Their names, in the order of the variants.
    pub const NAMES: [&'static str; 4] = ["cades", "cades-t", "pades", "pades-t"];

    /// Its name, as series and promises have it.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Whether it is of a PDF.
    pub const fn is_pdf(self) -> bool {
        matches!(self, Self::Pades | Self::PadesT)
    }

    /// Whether a timestamp is asked for.
    pub const fn has_timestamp(self) -> bool {
        matches!(self, Self::CadesT | Self::PadesT)
    }
}
