//! What every connection of a client needs.

use std::rc::Rc;
use std::time::Duration;

use hammer_measure::{Nanos, Now};
use http::HeaderValue;

use crate::config::{ClientConfig, ConfigError};
use crate::secret::Secret;

/// What every connection of a client needs.
pub(crate) struct ClientContext {
    pub(crate) config: ClientConfig,
    pub(crate) clock: Rc<dyn Now>,
    /// For the configuration's own endpoints, and no other origin.
    pub(crate) bearer: Option<HeaderValue>,
}

impl ClientContext {
    pub(crate) fn new(config: ClientConfig, clock: Rc<dyn Now>) -> Result<Self, ConfigError> {
        config.validate()?;
        let bearer = config.bearer.as_ref().map(Secret::bearer).transpose()?;
        Ok(Self { config, clock, bearer })
    }

    /// Whether connections are ever too idle or too old.
    pub(crate) fn expires(&self) -> bool {
        self.config.max_idle.is_some() || self.config.max_age.is_some()
    }

    pub(crate) fn is_expired(&self, now: Nanos, opened: Nanos, idle_since: Nanos) -> bool {
        let is_over =
            |limit: Option<Duration>, from| limit.is_some_and(|limit| now.since(from) > Nanos::from(limit));
        is_over(self.config.max_idle, idle_since) || is_over(self.config.max_age, opened)
    }
}
