//! Signatures of leaves that are verified together, since in a batch each costs a fraction of one alone.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hammer_p256::{FixedKeyVerifier, SignatureBatch};
use tokio::{
    sync::{Notify, oneshot, watch},
    task, time,
};

/// A leaf's signature that nobody has looked at.
#[derive(Debug)]
pub(crate) struct OpenSignature<'a> {
    pub(crate) issuer: Arc<FixedKeyVerifier>,
    /// SHA-256 of what was signed.
    pub(crate) digest: [u8; 32],
    /// DER.
    pub(crate) signature: &'a [u8],
}

/// Where open signatures wait for each other.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    rounds: Mutex<Vec<Round>>,
    started: Notify,
    full: Notify,
}

/// The signatures of one issuer, and who waits for their verdicts.
#[derive(Debug)]
struct Round {
    issuer: Arc<FixedKeyVerifier>,
    batch: SignatureBatch,
    waiting: Vec<oneshot::Sender<bool>>,
}

impl Checks {
    /// Whether the signature is its issuer's; none when nobody verifies any more.
    pub(crate) fn holds(&self, open: &OpenSignature<'_>) -> impl Future<Output = Option<bool>> + use<> {
        let (tell, told) = oneshot::channel();
        let (starts, is_full) = self.push(open, tell);
        if starts {
            self.started.notify_one();
        }
        if is_full {
            self.full.notify_one();
        }
        async { told.await.ok() }
    }

    /// Verifies what comes until the log is stopped: the first signature at once, and after that whatever has come
    /// within `pause`, or, without a pause, while the thread had other work.
    pub(crate) async fn work(&self, pause: Option<Duration>, mut stopped: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                () = self.started.notified() => self.settle(),
                _ = stopped.wait_for(|stop| *stop) => break,
            }
            match pause {
                None => task::yield_now().await,
                Some(pause) => tokio::select! {
                    () = self.full.notified() => {}
                    () = time::sleep(pause) => {}
                },
            }
        }
        self.settle();
    }

    /// Adds a signature; says whether it is the first, and whether there are enough of them.
    fn push(&self, open: &OpenSignature<'_>, tell: oneshot::Sender<bool>) -> (bool, bool) {
        let mut rounds = self.lock();
        let starts = rounds.iter().all(|round| round.waiting.is_empty());
        let place = rounds.iter().position(|round| Arc::ptr_eq(&round.issuer, &open.issuer));
        let place = place.unwrap_or_else(|| {
            rounds.push(Round::of(&open.issuer));
            rounds.len() - 1
        });
        let round = &mut rounds[place];
        round.batch.push(&open.digest, open.signature);
        round.waiting.push(tell);
        (starts, round.waiting.len() == ENOUGH)
    }

    fn settle(&self) {
        let mut rounds = mem::take(&mut *self.lock());
        // Of an issuer that nobody has used since the last time not even the memory is kept.
        rounds.retain(|round| !round.waiting.is_empty());
        rounds.iter_mut().for_each(Round::settle);
        let mut since = self.lock();
        if since.is_empty() {
            *since = rounds;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Round>> {
        self.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Round {
    fn of(issuer: &Arc<FixedKeyVerifier>) -> Self {
        Self { issuer: Arc::clone(issuer), batch: SignatureBatch::new(), waiting: Vec::new() }
    }

    fn settle(&mut self) {
        let verdicts = self.issuer.verify_batch(&mut self.batch);
        for (tell, holds) in self.waiting.drain(..).zip(verdicts) {
            // A client that went away does not wait for its verdict.
            let _ = tell.send(*holds);
        }
        self.batch.clear();
    }
}

/// A batch of so many is verified without waiting for more.
const ENOUGH: usize = 64;

#[cfg(test)]
mod tests {
    use hammer_p256::{NonceBlocks, NonceWalk, ThrowawayKey};
    use hammer_tlog::logs::merkle::sha256;
    use tokio::runtime::Builder;

    use super::*;

    struct Issuer {
        walk: NonceWalk,
        table: Arc<FixedKeyVerifier>,
    }

    impl Issuer {
        fn new(seed: u8) -> Self {
            let key = ThrowawayKey::derive(&[seed; 32]);
            let table = Arc::new(FixedKeyVerifier::new(key.public_key()).unwrap());
            Self { walk: key.walk(&[1; 32], 0), table }
        }

        /// A check of the signature over `leaf`, which claims to be over `claimed`.
        fn check(
            &self,
            checks: &Checks,
            leaf: u64,
            claimed: u64,
        ) -> impl Future<Output = Option<bool>> + use<> {
            let digest = |leaf: u64| sha256(&leaf.to_be_bytes()).0;
            let signature = self.walk.sign(leaf, &digest(leaf), &mut NonceBlocks::new());
            checks.holds(&OpenSignature {
                issuer: Arc::clone(&self.table),
                digest: digest(claimed),
                signature: signature.as_ref(),
            })
        }
    }

    async fn verdicts_of_two_issuers(checks: &Checks) -> Vec<bool> {
        let issuers = [Issuer::new(1), Issuer::new(2)];
        let waiting: Vec<_> = (0..200_u64)
            .map(|leaf| issuers[leaf as usize % 2].check(checks, leaf, leaf + u64::from(leaf % 5 == 0)))
            .collect();
        let mut verdicts = Vec::new();
        for verdict in waiting {
            verdicts.push(verdict.await.unwrap());
        }
        verdicts
    }

    #[test]
    fn each_signature_gets_its_own_verdict_whatever_it_waits_with() {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        for pause in [None, Some(Duration::from_secs(3600))] {
            let checks = Checks::default();
            let (stop, stopped) = watch::channel(false);
            let verdicts = runtime.block_on(async {
                let (verdicts, ()) = tokio::join!(
                    async {
                        let verdicts = verdicts_of_two_issuers(&checks).await;
                        stop.send_replace(true);
                        verdicts
                    },
                    checks.work(pause, stopped)
                );
                verdicts
            });
            assert!(verdicts.iter().enumerate().all(|(leaf, holds)| *holds == (leaf % 5 != 0)));
        }
    }

    #[test]
    fn an_issuer_that_is_no_longer_used_is_let_go() {
        let (checks, issuer) = (Checks::default(), Issuer::new(1));
        let _waiting = issuer.check(&checks, 0, 0);
        checks.settle();
        assert_eq!(Arc::strong_count(&issuer.table), 2);
        checks.settle();
        assert_eq!(Arc::strong_count(&issuer.table), 1);
    }

    #[test]
    fn a_check_that_nobody_makes_has_no_verdict() {
        let checks = Checks::default();
        let waiting = Issuer::new(1).check(&checks, 0, 0);
        drop(checks);
        let runtime = Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(waiting), None);
    }
}
