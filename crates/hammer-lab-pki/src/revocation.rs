//! Lists of revoked certificates: fetched where certificates say that they are, or waited for as if they were.

mod fetched_list;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hammer_lab::clock::Clock;
use hammer_lab::http_get::{GetError, get, nearby};
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::chain::TrustedAuthorities;
use tokio::sync::OnceCell;

use crate::caller::Caller;
use crate::plan::RevocationPlan;

use fetched_list::{FetchedList, ListFault};

/// The lists that the service has, or waits for.
#[derive(Debug)]
pub(crate) struct RevocationLists {
    plan: Option<RevocationPlan>,
    lists: Mutex<HashMap<ListName, Arc<OnceCell<KeptList>>>>,
    fetched: AtomicU64,
}

/// The issuer's `Name`, and where its certificate says that the list is.
type ListName = (Vec<u8>, Option<String>);

/// A list that is there, or could not be had.
#[derive(Debug)]
struct KeptList {
    /// Until when it is kept.
    until: Duration,
    /// The list, where it was fetched.
    list: Result<Option<FetchedList>, ListUnavailable>,
}

/// What is held against a certificate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RevocationFault {
    /// Its issuer revoked it.
    #[error("The certificate was revoked")]
    Revoked,
    /// Nobody can say.
    #[error("The revocation status of the certificate could not be determined: {0}")]
    Unknown(ListUnavailable),
}

/// Why there is no list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ListUnavailable {
    #[error("it names no list at an address of loopback or a private network, over http")]
    NoPlace,
    #[error("its issuer is not known")]
    NoIssuer,
    #[error("failed to {0}")]
    Unfetched(String),
    #[error("{0}")]
    Fault(#[from] ListFault),
    #[error("the list is not current")]
    NotCurrent,
}

impl From<GetError> for ListUnavailable {
    fn from(error: GetError) -> Self {
        Self::Unfetched(error.to_string())
    }
}

impl RevocationFault {
    /// Rest PKI's type of it (restpki-client 1.3.1, `ValidationItemTypes`).
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Revoked => "CertificateRevoked",
            Self::Unknown(_) => "CertificateRevocationStatusUnknown",
        }
    }

    /// Whether nobody can say.
    pub(crate) const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }
}

impl RevocationLists {
    pub(crate) fn new(plan: Option<RevocationPlan>) -> Self {
        Self { plan, lists: Mutex::default(), fetched: AtomicU64::new(0) }
    }

    /// How many lists were fetched.
    pub(crate) fn fetched(&self) -> u64 {
        self.fetched.load(Ordering::Relaxed)
    }

    /// Holds a certificate against the list of its issuer, once that is there. Who needs the same one meanwhile waits for the same fetch, and shares its
    /// failure; who comes behind a failure tries again.
    pub(crate) async fn check(
        &self,
        caller: &Caller,
        trusted: Option<&TrustedAuthorities>,
        clock: &dyn Clock,
    ) -> Result<(), RevocationFault> {
        let Some(plan) = self.plan else { return Ok(()) };
        let list = self.list(caller, clock.elapsed());
        let kept = list.get_or_init(|| self.load(plan, caller, trusted, clock)).await;
        match &kept.list {
            Ok(Some(list)) if list.has(caller.serial()) => Err(RevocationFault::Revoked),
            Ok(_) => Ok(()),
            Err(why) => Err(RevocationFault::Unknown(why.clone())),
        }
    }

    /// The list of a certificate that is there or under way at `now`, or else another one.
    fn list(&self, caller: &Caller, now: Duration) -> Arc<OnceCell<KeptList>> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (caller.issuer().to_vec(), caller.list_url().map(str::to_owned));
        let list = lists.entry(name).or_default();
        if list.get().is_some_and(|kept| now >= kept.until) {
            *list = Arc::default();
        }
        Arc::clone(list)
    }

    async fn load(
        &self,
        plan: RevocationPlan,
        caller: &Caller,
        trusted: Option<&TrustedAuthorities>,
        clock: &dyn Clock,
    ) -> KeptList {
        let start = clock.elapsed();
        if plan.delay.duration() > Duration::ZERO {
            clock.sleep_until(start + plan.delay.duration()).await;
        }
        let list = match plan.fetch {
            true => self.fetch(caller, trusted, clock).await.map(Some),
            false => Ok(None),
        };
        let (now, unix_seconds) = (clock.elapsed(), unix_seconds(clock));
        let lasts = match &list {
            Ok(Some(list)) => list.lasts_from(unix_seconds).min(plan.kept.duration()),
            Ok(None) => plan.kept.duration(),
            Err(_) => Duration::ZERO,
        };
        KeptList { until: now + lasts, list }
    }

    async fn fetch(
        &self,
        caller: &Caller,
        trusted: Option<&TrustedAuthorities>,
        clock: &dyn Clock,
    ) -> Result<FetchedList, ListUnavailable> {
        let url = caller.list_url().and_then(nearby).ok_or(ListUnavailable::NoPlace)?;
        let certificate = Certificate::parse(caller.certificate().der()).map_err(ListFault::from)?;
        let issuer = trusted.and_then(|trusted| trusted.issuer_of(&certificate));
        let issuer = issuer.ok_or(ListUnavailable::NoIssuer)?;
        let list = get(&url, LONGEST, clock).await?;
        self.fetched.fetch_add(1, Ordering::Relaxed);
        let list = FetchedList::read(&list, issuer)?;
        if !list.is_current(unix_seconds(clock)) {
            return Err(ListUnavailable::NotCurrent);
        }
        Ok(list)
    }

    /// Forgets all of them.
    pub(crate) fn clear(&self) {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn unix_seconds(clock: &dyn Clock) -> i64 {
    i64::try_from(clock.unix_ms() / 1000).unwrap_or(i64::MAX)
}

/// Bytes of a list.
const LONGEST: usize = 64 << 20;

#[cfg(test)]
mod tests;
