//! Where the lists of revoked certificates of made authorities are served while a run lasts.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock as RunClock, LocalFuture};
use hammer_lab::clock::Clock;
use hammer_lab::handle::{LabConfig, LabHandle, LabTarget};
use hammer_lab::serve::answer::{self, AnswerBody};
use hammer_lab::serve::{ServePlan, Target};
use hammer_lab::{FaultScript, LabError};
use hammer_pki::plan::CrlPlan;
use hammer_pki::{ListFetches, MadeAuthority, RevokedCertificates, WatchedFetches};
use http::request::Parts;
use http::{Method, Response, StatusCode};

/// The lists, on a thread of their own; they are served until this is dropped.
#[derive(Debug)]
pub(super) struct ListServer {
    /// Whose they are.
    pub(super) authorities: Arc<[MadeAuthority]>,
    /// What was asked for.
    pub(super) fetches: Arc<ListFetches>,
    server: LabHandle<ListTarget>,
}

impl ListServer {
    /// Serves the lists of those authorities. A service whose clock is off by `skew` at most finds them current.
    ///
    /// # Errors
    /// When nobody can listen there.
    pub(super) fn start(
        authorities: Vec<MadeAuthority>,
        plan: &CrlPlan,
        skew: Duration,
    ) -> Result<Self, LabError> {
        let authorities: Arc<[MadeAuthority]> = authorities.into();
        let fetches = Arc::new(ListFetches::of(authorities.len()));
        let server = LabHandle::spawn(ListConfig {
            serve: ServePlan { listen: plan.listen, ..ServePlan::default() },
            faults: FaultScript::default(),
            plan: plan.clone(),
            skew,
            authorities: Arc::clone(&authorities),
            fetches: Arc::clone(&fetches),
        })?;
        Ok(Self { authorities, fetches, server })
    }

    /// Where it listens.
    pub(super) fn url(&self) -> &str {
        &self.server.url
    }
}

/// The fetches as observations, and the lists themselves, which are served until nobody looks any more.
pub(super) struct WatchedLists(Arc<ListServer>);

impl WatchedLists {
    /// Those.
    pub(super) fn of(lists: Arc<ListServer>) -> Self {
        Self(lists)
    }
}

impl Observer for WatchedLists {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn RunClock>,
        ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        let watched = Box::new(WatchedFetches::new(Arc::clone(&self.0.fetches)));
        let watched = watched.observe(sink, clock, ending);
        Box::pin(async move {
            watched.await;
            drop(self);
        })
    }
}

/// Everything that the server needs to start.
#[derive(Debug)]
struct ListConfig {
    serve: ServePlan,
    /// Nothing goes wrong on purpose.
    faults: FaultScript,
    plan: CrlPlan,
    skew: Duration,
    authorities: Arc<[MadeAuthority]>,
    fetches: Arc<ListFetches>,
}

/// What serves the lists.
#[derive(Debug)]
struct ListTarget {
    authorities: Arc<[MadeAuthority]>,
    lists: Vec<IssuedLists>,
    fetches: Arc<ListFetches>,
    delay: Duration,
    clock: Arc<dyn Clock>,
}

/// The lists of an authority: the last that it issued, and what the next is made of.
#[derive(Debug)]
struct IssuedLists {
    revoked: RevokedCertificates,
    valid_for: u64,
    skew: u64,
    last: Mutex<IssuedList>,
}

#[derive(Debug, Default)]
struct IssuedList {
    der: Bytes,
    /// From when on another one is issued, in seconds since 1970.
    until: u64,
}

impl IssuedLists {
    /// The list that is current at that second since 1970. One that is about to end gives way to the next, so that nobody has one that is over at once.
    fn at(&self, authority: &MadeAuthority, now: u64) -> Bytes {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if now >= last.until {
            let next_update = now + self.valid_for;
            let list = self.revoked.list(authority, now.saturating_sub(self.skew), next_update);
            *last = IssuedList { der: list.into(), until: next_update - self.skew.min(self.valid_for / 2) };
        }
        last.der.clone()
    }
}

impl LabConfig for ListConfig {
    type Target = ListTarget;

    const THREAD: &'static str = "crl";

    fn serve(&self) -> &ServePlan {
        &self.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.faults
    }

    fn target(self, clock: &Arc<dyn Clock>, _: &str) -> Result<ListTarget, LabError> {
        let Self { plan, skew, authorities, fetches, .. } = self;
        let (now, skew) = (clock.unix_ms() / 1000, skew.as_secs());
        let lists = authorities.iter().map(|authority| {
            let revoked = RevokedCertificates::within(authority, plan.size.bytes());
            // A list that is current for no second would be none.
            let valid_for = plan.valid_for.duration().as_secs().max(1);
            let lists = IssuedLists { revoked, valid_for, skew, last: Mutex::default() };
            // The first is made before the run.
            lists.at(authority, now);
            lists
        });
        let (lists, clock) = (lists.collect(), Arc::clone(clock));
        Ok(ListTarget { lists, authorities, fetches, delay: plan.delay.duration(), clock })
    }
}

impl LabTarget for ListTarget {}

impl Target for ListTarget {
    const ENDPOINTS: &'static [&'static str] = &["list", "other"];

    fn endpoint(&self, _: &Method, path: &str) -> &'static str {
        if self.authority(path).is_some() { "list" } else { "other" }
    }

    async fn answer(self: Arc<Self>, _: &'static str, parts: Parts, _: Bytes) -> Response<AnswerBody> {
        let Some(authority) = self.authority(parts.uri.path()) else {
            self.fetches.asked_elsewhere();
            return answer::error(StatusCode::NOT_FOUND, "there is no such list");
        };
        let is_fetch = match parts.method {
            Method::GET => true,
            Method::HEAD => false,
            _ => {
                self.fetches.asked_elsewhere();
                return answer::error(StatusCode::METHOD_NOT_ALLOWED, "the list is there to be read");
            }
        };
        let fetch = is_fetch.then(|| PendingFetch(&self.fetches));
        if self.delay > Duration::ZERO {
            self.clock.sleep_until(self.clock.elapsed() + self.delay).await;
        }
        let now = self.clock.unix_ms() / 1000;
        let list = self.lists[authority].at(&self.authorities[authority], now);
        match fetch {
            Some(fetch) => fetch.sent(authority, list.len() as u64),
            None => self.fetches.told_of(),
        }
        answer::ok(FORMAT, list)
    }
}

impl ListTarget {
    /// Whose list stands at that path, whatever is before it: who reaches hammer by another name may come by another path as well.
    fn authority(&self, path: &str) -> Option<usize> {
        let (_, number) = path.strip_suffix(".crl")?.rsplit_once("/crl/")?;
        let number: usize = number.parse().ok()?;
        // No zero before it, nor a sign.
        path.ends_with(&self.authorities.get(number)?.list_path()).then_some(number)
    }
}

/// A fetch that waits; one that is dropped was given up by who asked.
struct PendingFetch<'a>(&'a ListFetches);

impl PendingFetch<'_> {
    fn sent(self, authority: usize, bytes: u64) {
        self.0.sent(authority, bytes);
        std::mem::forget(self);
    }
}

impl Drop for PendingFetch<'_> {
    fn drop(&mut self) {
        self.0.given_up();
    }
}

/// RFC 5280 section 4.2.1.13.
const FORMAT: &str = "application/pkix-crl";

#[cfg(test)]
mod tests {
    use hammer_lab::ManualClock;

    use super::*;

    const NOW: u64 = 1_795_737_600;

    #[test]
    fn a_list_gives_way_to_the_next_shortly_before_its_end() {
        let authority = &MadeAuthority::all(1, 1).unwrap()[0];
        let of = |valid_for, skew| IssuedLists {
            revoked: RevokedCertificates::within(authority, 1000),
            valid_for,
            skew,
            last: Mutex::default(),
        };
        let lists = of(3600, 60);
        let first = lists.at(authority, NOW);
        assert_eq!(lists.at(authority, NOW + 3539), first);
        let second = lists.at(authority, NOW + 3540);
        assert_ne!(second, first);
        assert_eq!(lists.at(authority, NOW + 3540 + 3539), second);
        // One that is shorter than the clocks are apart lives half of it.
        let lists = of(10, 60);
        let first = lists.at(authority, NOW);
        assert_eq!(lists.at(authority, NOW + 4), first);
        assert_ne!(lists.at(authority, NOW + 5), first);
    }

    #[tokio::test]
    async fn who_gives_up_is_counted_and_what_is_asked_elsewhere_too() {
        let delay = hammer_values::TimeSpan::from_secs(1);
        let clock = ManualClock::at_unix_ms(NOW * 1000);
        let config = ListConfig {
            serve: ServePlan::default(),
            faults: FaultScript::default(),
            plan: CrlPlan { delay, ..CrlPlan::default() },
            skew: Duration::from_secs(60),
            authorities: MadeAuthority::all(1, 2).unwrap().into(),
            fetches: Arc::new(ListFetches::of(2)),
        };
        let shared: Arc<dyn Clock> = Arc::new(clock.clone());
        let target = Arc::new(config.target(&shared, "").unwrap());
        let asked = |method: &str, path: &str| {
            let (parts, ()) =
                http::Request::builder().method(method).uri(path).body(()).unwrap().into_parts();
            Arc::clone(&target).answer("list", parts, Bytes::new())
        };
        for (method, path, status) in [
            ("GET", "/crl/2.crl", 404),
            ("GET", "/crl/01.crl", 404),
            ("GET", "/crl/", 404),
            ("GET", "/", 404),
            ("POST", "/crl/1.crl", 405),
        ] {
            assert_eq!(asked(method, path).await.status(), status, "{method} {path}");
        }
        let give_up = async { clock.advance(Duration::from_millis(500)) };
        tokio::select! {
            biased;
            _ = asked("GET", "/crl/0.crl") => panic!("it waits"),
            () = give_up => {}
        }
        let later = async { clock.advance(Duration::from_secs(1)) };
        let (got, of_proxy, head, ()) = tokio::join!(
            asked("GET", "/crl/0.crl"),
            asked("GET", "/lists/crl/1.crl"),
            asked("HEAD", "/crl/1.crl"),
            later
        );
        assert_eq!([got.status(), of_proxy.status(), head.status()], [200; 3]);
        assert_eq!(got.headers()["content-type"], FORMAT);
        let fetches = &target.fetches;
        assert_eq!((fetches.fetches(), fetches.unfinished(), fetches.elsewhere()), (2, 1, 5));
    }
}
