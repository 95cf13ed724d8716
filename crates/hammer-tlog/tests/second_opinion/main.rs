//! Trees, tiles and notes held against those of others: `tlog_tiles` and `signed_note`, which serve Cloudflare's logs and
//! go back to Go's `sumdb`. Where both read the same bytes they must say the same of them.

mod altered;
mod merkle;
mod notes;
mod tiles;
mod twin;
