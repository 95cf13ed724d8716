//! Timestamps (RFC 3161): the query, the response, how both go over HTTP, and what is verified of them.

mod fault;
mod gen_time;
mod imprint;
mod query;
mod reply;
mod response;
mod signer;
mod status;
mod tst_info;
mod verifier;

pub use self::fault::TimestampFault;
pub use self::gen_time::GenTime;
pub use self::imprint::{ExpectedImprint, MessageImprint};
pub use self::query::{TimestampQuery, TimestampQueryError};
pub use self::reply::{QUERY_MEDIA_TYPE, REPLY_MEDIA_TYPE, ReplyFault, check_reply};
pub use self::response::TimestampResponse;
pub use self::status::{PkiFailures, PkiStatus, StatusInfo};
pub use self::tst_info::{Accuracy, TstInfo};
pub use self::verifier::{ExpectedTimestamp, TimestampVerifier, VerifiedTimestamp};
