//! Rest PKI's API of version 1 (restpki-client 1.3.1 of PyPI, 2.3.5 of npm; product version 1.13.2).

mod answers;
mod requests;
mod uploads;
mod validation;

pub use answers::{Authenticated, Finished, Nonce, Started, timestamp_token};
pub use requests::{StartRequest, authentication, completion, finish, hash, policy, start};
pub use uploads::{BegunUpload, UPLOADS, upload_end};
pub use validation::{OpenRequest, open, verdict};

/// Where a nonce is asked for, and shown signed.
pub const AUTHENTICATION: &str = "Api/Authentication";
/// Where a nonce is asked for by a token.
pub const AUTHENTICATIONS: &str = "Api/Authentications";
