//! What a leaf may deviate in from one that every log accepts.

/// A deviation; by default none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Whether the extended key usage has serverAuth beside clientAuth (RFC 5280 section 4.2.1.12).
    pub server_auth: bool,
    /// Whether a precertificate's poison is critical, as RFC 6962 section 3.1 demands.
    pub critical_poison: bool,
    /// Bytes of an extension that means nothing; none where it is 0. Below 2^23.
    pub padding: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Self { server_auth: true, critical_poison: true, padding: 0 }
    }
}
