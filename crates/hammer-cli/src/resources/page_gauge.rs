//! A server that tells of its own use on a page of metrics.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use hammer_core::observe::ObservationSink;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use http::Uri;

use super::gauge::Gauge;
use super::machine_gauge::tell;
use super::meter::{Stage, UsageMeter};
use crate::exposition;
use crate::scrape::{PageReader, ScrapeError};

/// A component with a page of metrics.
#[derive(Clone, Debug)]
pub(super) struct PageComponent {
    pub(super) name: String,
    pub(super) url: Uri,
    pub(super) authorized: Option<String>,
    pub(super) meter: Arc<Mutex<UsageMeter>>,
}

/// Reads the page.
pub(super) struct PageGauge {
    component: PageComponent,
    clock: Rc<dyn Clock>,
    /// How long an answer may take.
    within: Nanos,
    reader: Option<PageReader>,
    counter: CpuCounter,
    last: Option<(Nanos, f64)>,
    /// Why the last look failed, which is told once and not at every look.
    trouble: Option<String>,
}

/// CPU seconds that start from zero again with each new process.
#[derive(Debug, Default)]
struct CpuCounter {
    last: Option<f64>,
    used: f64,
}

/// Why a look failed: a fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
enum LookError {
    #[error(transparent)]
    Scrape(#[from] ScrapeError),
    #[error("find {0} on the page")]
    NoMetric(&'static str),
}

impl PageGauge {
    pub(super) fn new(component: PageComponent, within: Nanos, clock: Rc<dyn Clock>) -> Self {
        let counter = CpuCounter::default();
        Self { component, clock, within, reader: None, counter, last: None, trouble: None }
    }

    /// CPU seconds of the process, and its resident memory where the page has it.
    async fn read(&mut self) -> Result<(f64, Option<u64>), LookError> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            None => {
                let PageComponent { url, authorized, .. } = &self.component;
                let opened = PageReader::open(url, authorized.clone(), self.clock.clone())?;
                self.reader.insert(opened)
            }
        };
        let page = reader.read(self.within).await?;
        let number = |metric| exposition::sum(page, metric, &BTreeMap::new());
        let cpu = number(CPU).ok_or(LookError::NoMetric(CPU))?;
        Ok((cpu, number(MEMORY).map(|bytes| bytes as u64)))
    }

    fn tell_trouble(&mut self, trouble: Option<String>, sink: Option<&ObservationSink>) {
        if let Some(sink) = sink {
            let (name, now) = (&self.component.name, self.clock.now());
            match (&self.trouble, &trouble) {
                (None, Some(why)) => sink.note(now, format!("resources of {name}: failed to {why}")),
                (Some(_), None) => sink.note(now, format!("resources of {name}: its page is read again")),
                _ => {}
            }
        }
        self.trouble = trouble;
    }
}

impl Gauge for PageGauge {
    async fn look(&mut self, stage: Stage, sink: Option<&ObservationSink>) {
        let read = self.read().await;
        let now = self.clock.now();
        let (cpu, memory) = match read {
            Ok((cpu, memory)) => (self.counter.look(cpu), memory),
            Err(error) => {
                self.component.meter.lock().unwrap_or_else(PoisonError::into_inner).gap();
                return self.tell_trouble(Some(error.to_string()), sink);
            }
        };
        self.component.meter.lock().unwrap_or_else(PoisonError::into_inner).sample(stage, now, cpu, memory);
        let last = self.last.replace((now, cpu));
        if let Some(sink) = sink {
            tell(&self.component.name, last, (now, cpu), memory, sink);
        }
        self.tell_trouble(None, sink);
    }
}

impl CpuCounter {
    /// CPU seconds since the first look. A counter that fell is that of a new process, which used all of it since.
    fn look(&mut self, now: f64) -> f64 {
        self.used += match self.last.replace(now) {
            None => 0.0,
            Some(before) if now >= before => now - before,
            Some(_) => now,
        };
        self.used
    }
}

/// Of the process of a server that uses Prometheus's client.
const CPU: &str = "process_cpu_seconds_total";
const MEMORY: &str = "process_resident_memory_bytes";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_starts_again_goes_on() {
        let mut counter = CpuCounter::default();
        assert_eq!([10.0, 12.5, 0.5, 1.0].map(|now| counter.look(now)), [0.0, 2.5, 3.0, 3.5]);
    }
}
