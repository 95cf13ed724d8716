//! Why a CoRIM was not taken.

use std::fmt;

/// Why a CoRIM was not taken, in the words of the services where they were seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CorimFault(String);

impl CorimFault {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// A value that has to be there, or has another form.
    pub(super) fn at(what: &str) -> Self {
        Self(format!("decoding CoMID: no valid {what}"))
    }
}

impl fmt::Display for CorimFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Fails of a profile whose devices are not appraised here.
pub(super) fn of_psa(profile: &str, psa: &str) -> Result<(), CorimFault> {
    let is_psa = profile == psa;
    is_psa.then_some(()).ok_or_else(|| {
        CorimFault::new(format!("the embedded target takes CoRIMs of profile {psa} alone, not of {profile}"))
    })
}
