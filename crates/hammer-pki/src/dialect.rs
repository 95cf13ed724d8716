//! The dialects that signature services speak.

/// A dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Rest PKI's API of version 1.
    RestPki,
    /// EU DSS's REST services.
    Dss,
}
