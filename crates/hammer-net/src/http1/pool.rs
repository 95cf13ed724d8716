//! The connections of an endpoint that wait for work, and the slots that bound those at work.

use std::cell::RefCell;
use std::collections::VecDeque;

use hammer_measure::Nanos;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::connection::Http1Connection;
use crate::context::ClientContext;
use crate::failure::{Failure, closed};

/// The connections of an endpoint that wait for work, and the slots that bound those at work.
pub(crate) struct Http1Pool {
    connections: usize,
    slots: Semaphore,
    // Boxed, since each exchange takes one and puts it back.
    idle: RefCell<VecDeque<Box<Http1Connection>>>,
}

impl Http1Pool {
    pub(crate) fn new(connections: usize) -> Self {
        Self { connections, slots: Semaphore::new(connections), idle: RefCell::default() }
    }

    /// A slot for one connection, held while an exchange has one; who came first gets it first. Idle connections hold none: who has a
    /// slot takes one of them before it opens another, so that no more are open than there are slots.
    pub(crate) async fn slot(&self) -> Result<SemaphorePermit<'_>, Failure> {
        if let Ok(slot) = self.slots.try_acquire() {
            return Ok(slot);
        }
        self.slots.acquire().await.map_err(|_| closed())
    }

    pub(crate) fn put(&self, connection: Box<Http1Connection>) {
        self.idle.borrow_mut().push_back(connection);
    }

    /// The connection that was used last, when it is neither idle nor old for too long, and how many were passed over that the
    /// peer had closed meanwhile.
    pub(crate) fn take(&self, context: &ClientContext) -> (Option<Box<Http1Connection>>, usize) {
        let mut idle = self.idle.borrow_mut();
        if idle.is_empty() {
            return (None, 0);
        }
        let now = context.clock.now();
        drop_expired(&mut idle, context, now);
        let mut passed_over = 0;
        while let Some(mut last_used) = idle.pop_back() {
            // A close that the kernel knows of must be known here, too, before anything is written. Whatever else a peer says
            // unasked, such as a 408 before a close, it serves no other request.
            if last_used.stream.is_quiet(now) {
                return (Some(last_used), passed_over);
            }
            context.log.closed_idle();
            passed_over += 1;
        }
        (None, passed_over)
    }

    /// Connections that are established or being so.
    pub(crate) fn count(&self) -> usize {
        self.idle.borrow().len() + self.connections - self.slots.available_permits()
    }

    pub(crate) fn clear(&self) {
        self.idle.borrow_mut().clear();
    }
}

fn drop_expired(idle: &mut VecDeque<Box<Http1Connection>>, context: &ClientContext, now: Nanos) {
    if !context.expires() {
        return;
    }
    let is_expired = |one: &Http1Connection| context.is_expired(now, one.opened, one.idle_since);
    while idle.front().is_some_and(|first| is_expired(first)) {
        idle.pop_front();
    }
    while idle.back().is_some_and(|last| is_expired(last)) {
        idle.pop_back();
    }
}
