//! A metric on a page, looked at beside the load.

use std::collections::BTreeMap;
use std::rc::Rc;

use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_measure::Nanos;
use http::Uri;

use crate::exposition;
use crate::observed_number::ObservedNumber;
use crate::scrape::PageReader;

/// Reads one metric as often as the plan says, on the observers' thread.
#[derive(Clone, Debug)]
pub(crate) struct MetricObserver {
    /// Its name in the plan.
    pub(crate) name: String,
    /// How often it is read, and how long that may take.
    pub(crate) every: Nanos,
    /// The page.
    pub(crate) url: Uri,
    /// The metric.
    pub(crate) metric: String,
    /// Labels that a sample must have.
    pub(crate) labels: BTreeMap<String, String>,
    /// Who allowed a peer that is neither loopback nor private.
    pub(crate) authorized: Option<String>,
}

impl Observer for MetricObserver {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        mut ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        Box::pin(async move {
            let mut number = ObservedNumber::new(&self.name);
            let mut reader = match PageReader::open(&self.url, self.authorized.clone(), clock.clone()) {
                Ok(reader) => reader,
                Err(error) => return number.take(clock.now(), Err(format!("failed to {error}")), &sink),
            };
            loop {
                let started = clock.now();
                let found = self.look(&mut reader).await;
                let now = clock.now();
                number.take(now, found, &sink);
                tokio::select! {
                    () = &mut ending => return,
                    () = clock.sleep_until(started.saturating_add(self.every).max(now)) => {}
                }
            }
        })
    }
}

impl MetricObserver {
    async fn look(&self, reader: &mut PageReader) -> Result<f64, String> {
        let page = reader.read(self.every).await.map_err(|error| format!("failed to {error}"))?;
        let sum = exposition::sum(page, &self.metric, &self.labels);
        sum.ok_or_else(|| format!("the page has no number for {}", self.metric))
    }
}
