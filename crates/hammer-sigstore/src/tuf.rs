//! The TUF repository: whole refreshes of its clients, and what of them is judged.

mod judge;
mod record;
mod seen;
mod trust;
pub(crate) mod workload;
