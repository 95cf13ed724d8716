//! Numbers out of the texts in which servers and their machine tell of themselves: pages of metrics, answers of Prometheus, files of
//! `/proc` and of cgroups; and such a page out of numbers. It never reads a file, asks anybody, or knows what time it is.

pub mod cgroup;
pub mod exposition;
pub mod node;
pub mod proc;
pub mod promql;
