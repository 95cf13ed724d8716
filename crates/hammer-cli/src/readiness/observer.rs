//! Asks beside the load, once a second.

use std::collections::BTreeMap;
use std::rc::Rc;

use futures::future::join_all;
use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_measure::Nanos;
use hammer_measure::event::{Beside, READY};

use super::{EVERY, ProbedUrl, Prober, Seen};

/// Asks every server of the target whether it is ready, on the observers' thread; tells changes, and each look as a number.
pub(crate) struct ReadinessObserver {
    /// What is asked.
    pub(crate) probed: Vec<ProbedUrl>,
}

/// Since when servers have not been ready; nothing of one that is.
#[derive(Default)]
struct Unready(BTreeMap<String, Nanos>);

/// What is told of a look.
#[derive(Debug, PartialEq)]
enum ToldReadiness {
    Number(String, f64),
    Change(Beside),
}

impl Observer for ReadinessObserver {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        mut ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        Box::pin(async move {
            let probers: Result<Vec<Prober>, _> =
                self.probed.iter().map(|probed| Prober::open(probed, &clock)).collect();
            let probers = match probers {
                Ok(probers) => probers,
                Err(error) => {
                    let text = format!("whether the target is ready is not asked: failed to {error}");
                    return sink.note(clock.now(), text);
                }
            };
            let mut unready = Unready::default();
            loop {
                let started = clock.now();
                let looks = join_all(probers.iter().map(|prober| prober.look(EVERY)));
                let seen = tokio::select! {
                    // What the end of the run cuts off says nothing.
                    () = &mut ending => return,
                    seen = looks => seen,
                };
                let now = clock.now();
                unready.take(seen.into_iter().flatten().collect(), now, &mut |what| match what {
                    ToldReadiness::Number(name, number) => sink.observed(&name, now, number),
                    ToldReadiness::Change(change) => sink.beside(now, change),
                });
                tokio::select! {
                    () = &mut ending => return,
                    () = clock.sleep_until(started.saturating_add(EVERY).max(now)) => {}
                }
            }
        })
    }
}

impl Unready {
    /// Takes what was seen at that instant of all servers that there are; tells it.
    fn take(&mut self, seen: Vec<Seen>, now: Nanos, tell: &mut impl FnMut(ToldReadiness)) {
        // A server to which no name leads any more is asked no more: it is not known to be ready again.
        self.0.retain(|endpoint, _| seen.iter().any(|seen| seen.endpoint == *endpoint));
        for Seen { endpoint, ready } in seen {
            tell(ToldReadiness::Number(format!("{READY}{endpoint}"), f64::from(u8::from(ready.is_ok()))));
            match ready {
                Ok(()) => {
                    if let Some(since) = self.0.remove(&endpoint) {
                        tell(ToldReadiness::Change(Beside::ReadyAgain { endpoint, since }));
                    }
                }
                Err(said) if !self.0.contains_key(&endpoint) => {
                    self.0.insert(endpoint.clone(), now);
                    tell(ToldReadiness::Change(Beside::NotReady { endpoint, said }));
                }
                Err(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_look_is_a_number_and_changes_alone_are_told() {
        let mut unready = Unready::default();
        let mut looks = Vec::new();
        let said = [None, Some("the answer is 503"), Some("the answer is 500"), None, None];
        for (second, said) in said.into_iter().enumerate() {
            let ready = said.map_or(Ok(()), |said| Err(said.to_owned()));
            let seen = Seen { endpoint: "a".to_owned(), ready };
            let mut told = Vec::new();
            unready.take(vec![seen], Nanos::from_secs(second as u64), &mut |what| told.push(what));
            looks.push(told);
        }
        let number = |number| ToldReadiness::Number("ready/a".to_owned(), number);
        let endpoint = || "a".to_owned();
        let said = "the answer is 503".to_owned();
        let not_ready = Beside::NotReady { endpoint: endpoint(), said };
        let again = Beside::ReadyAgain { endpoint: endpoint(), since: Nanos::from_secs(1) };
        let expected = [
            vec![number(1.0)],
            vec![number(0.0), ToldReadiness::Change(not_ready)],
            vec![number(0.0)],
            vec![number(1.0), ToldReadiness::Change(again)],
            vec![number(1.0)],
        ];
        assert_eq!(looks, expected);
    }

    #[test]
    fn of_a_server_that_is_gone_nothing_is_told_until_it_is_not_ready_again() {
        let mut unready = Unready::default();
        let mut told = Vec::new();
        let failed = || Seen { endpoint: "a".to_owned(), ready: Err("no".to_owned()) };
        unready.take(vec![failed()], Nanos(1), &mut |_| {});
        unready.take(Vec::new(), Nanos(2), &mut |what| told.push(what));
        assert_eq!(told, []);
        unready.take(vec![failed()], Nanos(3), &mut |what| told.push(what));
        assert!(matches!(told[1], ToldReadiness::Change(Beside::NotReady { .. })), "{told:?}");
    }
}
