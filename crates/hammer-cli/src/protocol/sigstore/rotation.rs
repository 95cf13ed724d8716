//! Who changes the key of hammer's own issuer while a run lasts.

use std::rc::Rc;
use std::sync::Arc;

use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_exchange::WallTime;
use hammer_lab_sigstore::issuer::IssuerTarget;
use hammer_measure::Nanos;
use hammer_oauth::{IssuerUrlError, RotatingIssuer, Rotation};

use super::issuer::publish;

/// An issuer whose key changes, and what serves its documents.
#[derive(Clone, Debug)]
pub(super) struct IssuerRotation {
    pub(super) issuer: Arc<RotatingIssuer>,
    pub(super) served: Arc<IssuerTarget>,
    pub(super) every: Nanos,
    pub(super) wall: WallTime,
}

impl IssuerRotation {
    /// Changes the key at `now`, off the thread that asks: a key of RSA takes a tenth of a second.
    async fn rotate(&self, now: Nanos) -> Option<Result<Rotation, IssuerUrlError>> {
        let (issuer, served) = (Arc::clone(&self.issuer), Arc::clone(&self.served));
        let now = self.wall.unix_seconds(now);
        let rotate = move || issuer.rotate(now, |documents| publish(&served, documents.clone()));
        tokio::task::spawn_blocking(rotate).await.ok()
    }
}

impl Observer for IssuerRotation {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        mut ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        Box::pin(async move {
            let mut due = clock.now().saturating_add(self.every);
            let mut told = 0;
            loop {
                tokio::select! {
                    () = &mut ending => break,
                    () = clock.sleep_until(due) => {}
                }
                let note = match self.rotate(clock.now()).await {
                    Some(Ok(rotation)) => said(&rotation),
                    Some(Err(error)) => format!("failed to {error}"),
                    // The run is over.
                    None => break,
                };
                tracing::info!("{note}");
                told += 1;
                if told <= MOST_TOLD {
                    sink.note(clock.now(), note);
                }
                due = due.saturating_add(self.every).max(clock.now());
            }
        })
    }
}

fn said(rotation: &Rotation) -> String {
    let Rotation { key_id, keys, gone, .. } = rotation;
    let gone = match gone {
        0 => String::new(),
        gone => format!(", and {gone} no more"),
    };
    let keys = if *keys == 1 { "1 key is".to_owned() } else { format!("{keys} keys are") };
    format!("{ROTATED}{key_id} from now on; {keys} published{gone}")
}

/// How the note of a change of key starts.
pub(super) const ROTATED: &str = "the issuer signs with the key ";
/// A report has room for so many sentences about one thing.
const MOST_TOLD: usize = 20;
