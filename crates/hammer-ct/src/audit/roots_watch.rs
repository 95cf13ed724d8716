//! Roots of a log that says it takes none.

use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::{Either, select};
use hammer_audit::{LogClient, LogPlace, LogRequest};
use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_measure::Nanos;
use hammer_measure::promise::Breach;
use hammer_net::Answer;
use hammer_tlog::ct::rfc6962::GetRoots;
use http::StatusCode;

use crate::log::GET_ROOTS;

/// Looks at the roots of a log that said before the run that it takes none, once it is over: where it still says so, and has accepted
/// chains, that is a breach (RFC 6962 section 4.7).
pub struct RootsWatch {
    name: String,
    place: LogPlace,
    accepted: Accepted,
}

/// Whether a log has accepted anything, as its verifiers see it.
#[derive(Clone, Debug, Default)]
pub struct Accepted(Arc<AtomicBool>);

impl Accepted {
    /// Takes that it has.
    pub(crate) fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_any(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl RootsWatch {
    /// A watch of the log that takes chains at `place`; `name` is the target's, as it stands in what is found broken.
    pub fn new(name: impl Into<String>, place: LogPlace, accepted: Accepted) -> Self {
        Self { name: name.into(), place, accepted }
    }

    async fn look(self, sink: ObservationSink, clock: Rc<dyn Clock>, ending: LocalFuture<()>) {
        ending.await;
        let deadline = clock.now().saturating_add(PATIENCE);
        let Ok(client) = LogClient::open(self.place, clock.clone()) else { return };
        let mut answer = Answer::new();
        let asked = LogRequest { path: GET_ROOTS, compressed: false, bound: None };
        let is_answered = {
            let asked = pin!(client.get_from(None, asked, &mut answer));
            matches!(select(asked, clock.sleep_until(deadline)).await, Either::Left((Ok(()), _)))
        };
        let is_whole = is_answered && answer.status == StatusCode::OK;
        let roots = serde_json::from_slice::<GetRoots>(&answer.body).ok().filter(|_| is_whole);
        if roots.is_none_or(|roots| !roots.certificates.is_empty()) {
            return;
        }
        if !self.accepted.is_any() {
            let name = self.name;
            let said = "get-roots is empty: the log says that it takes no root, and it accepted no chain";
            return sink.note(clock.now(), format!("{name}: {said}"));
        }
        let detail = "get-roots is empty, before the run and at its end, and chains were accepted".to_owned();
        let (workload, kind) = (self.name, EMPTY_ROOTS.to_owned());
        sink.breach(clock.now(), Breach { workload, seq: None, kind, index: None, detail });
    }
}

impl Observer for RootsWatch {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        Box::pin(self.look(sink, clock, ending))
    }
}

const EMPTY_ROOTS: &str = "empty-roots";
/// An observer has two seconds to end.
const PATIENCE: Nanos = Nanos::from_secs(1);
