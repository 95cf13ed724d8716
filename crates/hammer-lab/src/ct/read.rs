//! What the log answers to whoever reads it: the files of static-ct-api, the reads of RFC 6962 and the log's own entry
//! of a log list, all over the same tree.

mod log_list;
mod monitor;
mod names;
mod rfc6962;
