//! What every connection of a client needs.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use hammer_measure::connection::ConnectionLog;
use hammer_measure::{Nanos, Now};
use http::HeaderValue;

use crate::config::{ClientConfig, ConfigError};
use crate::patience::DialPatience;
use crate::reactor::Reactor;
use crate::request::Answer;
use crate::secret::Secret;

/// What every connection of a client needs.
pub(crate) struct ClientContext {
    pub(crate) config: ClientConfig,
    pub(crate) clock: Rc<dyn Now>,
    /// For the configuration's own endpoints, and no other origin.
    pub(crate) bearer: Option<HeaderValue>,
    pub(crate) log: ConnectionLog,
    pub(crate) reactor: Rc<Reactor>,
    pub(crate) patience: Rc<DialPatience>,
    /// Lent to whoever reads, for as long as that takes.
    pub(crate) buffer: RefCell<Box<[u8]>>,
    /// Lent to whoever writes a request's head.
    pub(crate) head: RefCell<Vec<u8>>,
    /// Lent to whoever sends a part of a body that is made as it is sent.
    pub(crate) made: RefCell<Vec<u8>>,
    /// Some answers were larger than what a server can send before anybody reads.
    pub(crate) has_large_answers: Cell<bool>,
    /// The kernel said when the last answer arrived. Where it does not, what lies in a socket arrives late.
    pub(crate) has_stamps: Cell<bool>,
}

impl ClientContext {
    pub(crate) fn new(
        config: ClientConfig,
        clock: Rc<dyn Now>,
        log: ConnectionLog,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            bearer: config.bearer.as_ref().map(Secret::bearer).transpose()?,
            reactor: Reactor::new(Rc::clone(&clock)).map_err(ConfigError::Epoll)?,
            patience: DialPatience::new(config.dial_timeout),
            config,
            clock,
            log,
            buffer: RefCell::new(vec![0; BUFFER].into()),
            head: RefCell::default(),
            made: RefCell::default(),
            has_large_answers: Cell::new(false),
            has_stamps: Cell::new(true),
        })
    }

    /// The exchange of `answer` goes over to another connection, before anything of it has left.
    pub(crate) fn note_redialled(&self, answer: &mut Answer) {
        if !std::mem::replace(&mut answer.redialled, true) {
            self.log.redialled();
        }
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

/// What one read takes at most, in bytes.
const BUFFER: usize = 64 << 10;
