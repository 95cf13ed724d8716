/// A promise that is not kept: what kind, and what was found.
pub(super) type Broken = (&'static str, String);
