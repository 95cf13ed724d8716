//! The log of Rekor v1, as whoever follows it has to know it, and what verifiers hand to whoever does.

pub(crate) mod audit;
pub(crate) mod follow_link;
pub(crate) mod log_info;
