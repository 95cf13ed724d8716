//! A whole log that a real server wrote, read as it would be served: by this crate, and by `tlog_tiles` beside it.

mod archive;
mod audit;
mod entries;
mod flipped;
mod tree;
