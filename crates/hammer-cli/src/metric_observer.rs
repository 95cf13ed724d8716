//! A number on a page, or that a query gives, looked at beside the load.

use std::collections::BTreeMap;
use std::rc::Rc;

use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_measure::Nanos;
use hammer_pages::exposition;
use hammer_pages::promql::{self, NoNumber};

use crate::observed_number::ObservedNumber;
use crate::scrape::{PageReader, PageSource, ScrapeError};

/// Reads one number as often as the plan says, on the observers' thread.
#[derive(Clone, Debug)]
pub(crate) struct MetricObserver {
    /// Its name in the plan.
    pub(crate) name: String,
    /// How often it is read, and how long that may take.
    pub(crate) every: Nanos,
    /// The page.
    pub(crate) source: PageSource,
    /// Where on it the number is.
    pub(crate) place: NumberPlace,
}

/// Where on a page a number is.
#[derive(Clone, Debug)]
pub(crate) enum NumberPlace {
    /// A metric in Prometheus's text format: the sum of the samples with these labels.
    Metric { metric: String, labels: BTreeMap<String, String> },
    /// The page is the answer to a query.
    Answer,
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
            let mut reader = match PageReader::open(&self.source, clock.clone()) {
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
        let failed = |error: ScrapeError| format!("failed to {error}");
        match &self.place {
            NumberPlace::Metric { metric, labels } => {
                let page = reader.read(self.every).await.map_err(failed)?;
                let sum = exposition::sum(page, metric, labels);
                sum.ok_or_else(|| format!("the page has no number for {metric}"))
            }
            NumberPlace::Answer => {
                let (status, body) = reader.ask(self.every).await.map_err(failed)?;
                promql::number(body).map_err(|why| match why {
                    NoNumber::Unreadable => format!("the answer is {status}, and none of Prometheus's API"),
                    why => format!("the query has no number: {why}"),
                })
            }
        }
    }
}
