//! How a token is asked for, and what comes back (RFC 6749 sections 4.3, 4.4 and 5).

mod answer;
mod request;

pub use answer::{GrantError, GrantedToken, WantedToken};
pub use request::{CONTENT_TYPE, ClientAuthentication, Grant, GrantRequest};
