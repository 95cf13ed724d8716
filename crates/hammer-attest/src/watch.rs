//! Who looks at verification beside the load: its discovery documents, once a result is signed by a key that none of them showed; and how
//! often each word was said of devices.

use std::rc::Rc;
use std::sync::Arc;

use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_measure::Nanos;
use hammer_net::ClientConfig;

use crate::discovery::DiscoveryClient;
use crate::flow_waits::FlowWaits;
use crate::keys::VerificationKeys;
use crate::plan::DiscoveryKind;
use crate::provisioned::ProvisionedPools;
use crate::results::ResultCounts;
use crate::target::AttestTarget;

/// Looks at verification until the run ends.
pub struct VerificationWatch {
    client: ClientConfig,
    keys: Arc<VerificationKeys>,
    results: Arc<ResultCounts>,
    waits: Arc<FlowWaits>,
    provisioned: ProvisionedPools,
    /// A quarter of the time that devices take to settle.
    ages_every: Nanos,
    /// The wall clock at the run's epoch: readings of two runs are told apart.
    epoch_unix_ms: u64,
}

/// What was told until now.
#[derive(Default)]
struct Told {
    trouble: Option<String>,
    /// Until when documents are not read again.
    read_next: Nanos,
    started_at: Nanos,
    shown: Vec<u64>,
    shown_at: Nanos,
    aged_at: Nanos,
}

/// What became of the key of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum KeyChange {
    /// Whoever asks for the document is shown the new one.
    Shown,
    /// A request that no cache knows is shown it, and a plain one is not: a cache keeps the old document, or two keys are shown on purpose.
    Unshown,
}

impl KeyChange {
    const fn said(self) -> &'static str {
        match self {
            Self::Shown => KEY_CHANGED,
            Self::Unshown => KEY_UNSHOWN,
        }
    }
}

impl VerificationWatch {
    /// Of that target, by a client of its verification.
    pub fn new(target: &AttestTarget, client: ClientConfig, epoch_unix_ms: u64) -> Self {
        let (keys, results, waits, provisioned) =
            (target.keys.clone(), target.results.clone(), target.waits.clone(), target.provisioned.clone());
        let ages_every = (target.provisioning_delay / 4).into();
        Self { client, keys, results, waits, provisioned, ages_every, epoch_unix_ms }
    }

    /// Reads the documents of all frontends: those that answer show their keys, though another does not. Says what changed; and how old a
    /// document may be, or why not all of them could be read.
    async fn read(&self, clock: &Rc<dyn Clock>, now: Nanos) -> (Option<KeyChange>, Result<Nanos, String>) {
        // By connections of its own each time: behind a balancer each may lead to another one.
        let client = DiscoveryClient::new(DiscoveryKind::Verification, self.client.clone(), clock);
        let client = match client {
            Ok(client) => client,
            Err(why) => return (None, Err(format!("failed to {why}"))),
        };
        let frontends = match client.frontends().await {
            Ok(frontends) => frontends,
            Err(why) => return (None, Err(why)),
        };
        let (mut change, mut oldest) = (None, Ok(Nanos::ZERO));
        for frontend in frontends {
            match self.read_from(&client, frontend, now).await {
                Ok((of_frontend, age)) => {
                    change = change.max(of_frontend);
                    oldest = oldest.map(|oldest: Nanos| oldest.max(age));
                }
                Err(why) => oldest = oldest.and(Err(why)),
            }
        }
        (change, oldest)
    }

    /// Reads the document of one; says whether its key is new and who is shown it, and how old it may be.
    async fn read_from(
        &self,
        client: &DiscoveryClient,
        frontend: usize,
        now: Nanos,
    ) -> Result<(Option<KeyChange>, Nanos), String> {
        let number = self.epoch_unix_ms.saturating_mul(1_000_000).saturating_add(now.0);
        let (document, age) = client.ask_anew((frontend, number), TIMEOUT).await?;
        let is_new = document.key.as_ref().map(|key| self.keys.add(key)).transpose();
        if !is_new.map_err(|why| why.to_string())?.unwrap_or(false) {
            return Ok((None, age));
        }
        let plain = client.ask(frontend, TIMEOUT).await;
        let is_shown = plain.is_ok_and(|(plain, _)| plain.key == document.key);
        Ok((Some(if is_shown { KeyChange::Shown } else { KeyChange::Unshown }), age))
    }

    async fn look(&self, clock: &Rc<dyn Clock>, (sink, told): (&ObservationSink, &mut Told), now: Nanos) {
        if now < told.read_next || !self.keys.take_request() {
            return;
        }
        let (change, oldest) = self.read(clock, now).await;
        change.iter().for_each(|change| sink.note(now, change.said().to_owned()));
        match oldest {
            Ok(age) => {
                self.keys.read_at(now.since(age));
                // What a cache keeps is not asked for as often as what is made for each request.
                let every = if age > Nanos::ZERO { READ_EVERY } else { READ_ANEW_EVERY };
                told.read_next = now.saturating_add(every);
                told.trouble = None;
            }
            Err(why) => {
                // Asked for again, and no load to a service that is in trouble: what waits for it is judged once it was read.
                self.keys.ask();
                told.read_next = now.saturating_add(READ_EVERY);
                if told.trouble.as_ref() != Some(&why) {
                    let text = format!("results wait for the discovery document of verification: {why}");
                    sink.note(now, text);
                    told.trouble = Some(why);
                }
            }
        }
    }

    /// Has devices settle that were provisioned long enough ago.
    fn grow_older(&self, told: &mut Told, now: Nanos) {
        if now.since(told.aged_at) >= self.ages_every {
            told.aged_at = now;
            self.provisioned.grow_older();
        }
    }

    /// Tells what changed, once a second.
    fn show(&self, sink: &ObservationSink, told: &mut Told, now: Nanos) {
        if now.since(told.shown_at) < SHOWN_EVERY && told.shown_at > Nanos::ZERO {
            return;
        }
        told.shown_at = now;
        let counts: Vec<u64> = self.results.all().map(|(_, count)| count).collect();
        if counts == told.shown {
            return;
        }
        for (place, (tier, count)) in self.results.all().enumerate().filter(|(_, (_, count))| *count > 0) {
            // What is counted grew from nothing.
            if told.shown.get(place).is_none_or(|before| *before == 0) {
                sink.observed(tier.name(), told.started_at, 0.0);
            }
            sink.observed(tier.name(), now, count as f64);
        }
        told.shown = counts;
    }
}

impl Observer for VerificationWatch {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        Box::pin(async move {
            let mut told = Told { started_at: clock.now(), ..Told::default() };
            let mut ending = ending;
            loop {
                let next = clock.sleep_until(clock.now().saturating_add(LOOK_EVERY));
                let is_ending = tokio::select! {
                    () = &mut ending => true,
                    () = next => false,
                };
                let now = clock.now();
                self.grow_older(&mut told, now);
                self.look(&clock, (&sink, &mut told), now).await;
                if is_ending {
                    told.shown_at = Nanos::ZERO;
                    self.waits.note().into_iter().for_each(|note| sink.note(now, note));
                    return self.show(&sink, &mut told, clock.now());
                }
                self.show(&sink, &mut told, now);
            }
        })
    }
}

const LOOK_EVERY: Nanos = Nanos::from_millis(50);
const READ_EVERY: Nanos = Nanos::from_secs(1);
/// What is made for each request is asked for a dozen times before anybody is accused.
const READ_ANEW_EVERY: Nanos = Nanos::from_millis(250);
const SHOWN_EVERY: Nanos = Nanos::from_secs(1);
const TIMEOUT: Nanos = Nanos::from_secs(5);
const KEY_CHANGED: &str =
    "verification changed the key of its results: its discovery document shows another one than before";
const KEY_UNSHOWN: &str = "verification changed the key of its results, and its discovery document shows the new one only to a request that no cache knows (`?read=NUMBER`): whoever asks plainly is shown another key, and believes none of these results";
