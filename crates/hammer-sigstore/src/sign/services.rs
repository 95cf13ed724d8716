//! The services that a sign flow goes to.

use hammer_exchange::ServiceConfig;

/// The services that a flow goes to; none where it has no such step.
pub(super) struct SignServices {
    pub(super) fulcio: Option<ServiceConfig>,
    pub(super) rekor: Option<ServiceConfig>,
    pub(super) timestamp: Option<ServiceConfig>,
}
