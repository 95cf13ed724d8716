//! The endpoints behind a client's URLs, looked up again on a timer, of which balancing chooses one for each operation.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use hammer_measure::Nanos;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use crate::balance::Balancer;
use crate::context::ClientContext;
use crate::endpoint::Endpoint;
use crate::failure::{Failure, FailureKind, closed};
use crate::resolve::Origin;

/// The endpoints behind some origins.
pub(crate) struct Cluster {
    origins: Vec<Rc<Origin>>,
    balancer: Balancer,
    /// Every endpoint that there ever was, in the order of their indices.
    known: RefCell<Vec<Rc<Endpoint>>>,
    /// Those that the last look-up named.
    active: RefCell<Vec<Rc<Endpoint>>>,
    is_listed: bool,
    first_look_up: Semaphore,
    looked_up: Cell<Nanos>,
    look_ups: Cell<u64>,
    failed_look_ups: Cell<u64>,
    refresh: RefCell<Option<AbortHandle>>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some(refresh) = self.refresh.take() {
            refresh.abort();
        }
    }
}

impl Cluster {
    /// `is_listed`: its endpoints are those of [`crate::Client::endpoints`].
    pub(crate) fn new(context: &ClientContext, origins: Vec<Rc<Origin>>, is_listed: bool) -> Self {
        Self {
            origins,
            balancer: Balancer::new(context.config.balancing, context.config.seed),
            known: RefCell::default(),
            active: RefCell::default(),
            is_listed,
            first_look_up: Semaphore::new(1),
            looked_up: Cell::new(Nanos::ZERO),
            look_ups: Cell::new(0),
            failed_look_ups: Cell::new(0),
            refresh: RefCell::new(None),
        }
    }

    /// The next operation's endpoint; `None` before the first look-up.
    pub(crate) fn pick(self: &Rc<Self>, context: &Rc<ClientContext>) -> Option<Rc<Endpoint>> {
        if context.config.resolve_every.is_some() {
            self.refresh_when_due(context);
        }
        let active = self.active.borrow();
        if active.is_empty() {
            return None;
        }
        let is_resting = |place: usize| active.len() > 1 && active[place].is_resting(context);
        let in_flight = |place| if is_resting(place) { usize::MAX } else { active[place].in_flight() };
        let mut picks = (0..active.len()).map(|_| self.balancer.pick(active.len(), in_flight));
        // Where the policy has none but those that rest, one that does not; and where all do, the policy's.
        let place = picks.find(|place| !is_resting(*place));
        let place = place.or_else(|| (0..active.len()).find(|place| !is_resting(*place)));
        let place = place.unwrap_or_else(|| self.balancer.pick(active.len(), in_flight));
        active[place].tries_again(context);
        Some(Rc::clone(&active[place]))
    }

    /// Those that are there now, which are looked up for the first time, or again where that is due: what that finds is there the next
    /// time.
    pub(crate) async fn current(
        self: &Rc<Self>,
        context: &Rc<ClientContext>,
    ) -> Result<Vec<Rc<Endpoint>>, Failure> {
        self.resolve(context).await?;
        self.refresh_when_due(context);
        Ok(self.active())
    }

    /// Looks up the endpoints for the first time.
    pub(crate) async fn resolve(&self, context: &Rc<ClientContext>) -> Result<(), Failure> {
        // One look-up for all that wait for the first; held until its endpoints are there, or it has failed and the next one tries.
        let _turn = self.first_look_up.acquire().await.map_err(|_| closed())?;
        if !self.active.borrow().is_empty() {
            return Ok(());
        }
        self.look_up(context).await
    }

    pub(crate) fn active(&self) -> Vec<Rc<Endpoint>> {
        self.active.borrow().clone()
    }

    /// The one of those that has that index, where the last look-up named it.
    pub(crate) fn at(&self, index: usize) -> Option<Rc<Endpoint>> {
        self.active.borrow().iter().find(|endpoint| endpoint.index == Some(index)).cloned()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.known.borrow().iter().map(|endpoint| endpoint.name()).collect()
    }

    /// How many look-ups found all endpoints.
    pub(crate) fn look_ups(&self) -> u64 {
        self.look_ups.get()
    }

    pub(crate) fn failed_look_ups(&self) -> u64 {
        self.failed_look_ups.get()
    }

    pub(crate) fn dial_failed(&self, context: &ClientContext, endpoint: &Rc<Endpoint>) {
        endpoint.rest(context);
        let active = self.active.borrow();
        if let Some(place) = active.iter().position(|other| Rc::ptr_eq(other, endpoint)) {
            self.balancer.dial_failed(place, active.len());
        }
    }

    /// Says whether there is another endpoint for what follows.
    pub(crate) fn pass_over(&self) -> bool {
        self.balancer.pass_over(self.active.borrow().len())
    }

    /// Starts a look-up when the last one is old; operations go on with what it said.
    fn refresh_when_due(self: &Rc<Self>, context: &Rc<ClientContext>) {
        let Some(every) = context.config.resolve_every else { return };
        let now = context.clock.now();
        if self.active.borrow().is_empty() || now.since(self.looked_up.get()) < Nanos::from(every) {
            return;
        }
        self.looked_up.set(now);
        let (cluster, context) = (Rc::downgrade(self), Rc::clone(context));
        let task = tokio::task::spawn_local(async move {
            if let Some(cluster) = cluster.upgrade()
                && let Err(failure) = cluster.look_up(&context).await
            {
                tracing::warn!("failed to {failure}; the endpoints stay as they were");
                cluster.failed_look_ups.set(cluster.failed_look_ups.get() + 1);
            }
        });
        if let Some(earlier) = self.refresh.borrow_mut().replace(task.abort_handle()) {
            earlier.abort();
        }
    }

    async fn look_up(&self, context: &Rc<ClientContext>) -> Result<(), Failure> {
        let mut active = Vec::new();
        for origin in &self.origins {
            for addresses in addresses_of(origin, context).await? {
                active.push(self.endpoint(context, origin, addresses));
            }
        }
        if active.is_empty() {
            return Err(Failure::new(FailureKind::Dns, "find any endpoint"));
        }
        self.looked_up.set(context.clock.now());
        self.look_ups.set(self.look_ups.get() + 1);
        for endpoint in self.known.borrow().iter() {
            endpoint.set_retired(!active.iter().any(|other| Rc::ptr_eq(other, endpoint)));
        }
        tracing::debug!(endpoints = active.len(), "looked up the endpoints");
        *self.active.borrow_mut() = active;
        self.balancer.looked_up();
        Ok(())
    }

    /// The endpoint of these addresses, with its connections when it is known.
    fn endpoint(
        &self,
        context: &Rc<ClientContext>,
        origin: &Rc<Origin>,
        addresses: Vec<std::net::SocketAddr>,
    ) -> Rc<Endpoint> {
        let mut known = self.known.borrow_mut();
        let is_same = |one: &&Rc<Endpoint>| Rc::ptr_eq(&one.origin, origin) && one.has_addresses(&addresses);
        if let Some(endpoint) = known.iter().find(is_same) {
            return Rc::clone(endpoint);
        }
        let index = self.is_listed.then_some(known.len());
        let endpoint = Rc::new(Endpoint::new(context, Rc::clone(origin), addresses, index));
        known.push(Rc::clone(&endpoint));
        endpoint
    }
}

/// The endpoints behind an origin, each by its addresses. A host that is an address needs no look-up, and none is told.
async fn addresses_of(
    origin: &Origin,
    context: &ClientContext,
) -> Result<Vec<Vec<std::net::SocketAddr>>, Failure> {
    let started = context.clock.now();
    let found = origin.look_up().await;
    match &found {
        _ if origin.literal().is_some() => {}
        Ok(_) => context.log.looked_up(context.clock.now().since(started)),
        Err(_) => context.log.look_up_failed(),
    }
    found
}
