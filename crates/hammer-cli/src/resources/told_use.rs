//! What somebody tells of a component's use when asked: the component itself on its page of metrics, or a Prometheus by its answers.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_pages::exposition::{self, CPU, HELD_BACK, MEMORY, UP};
use hammer_pages::promql::{self, NoNumber, QuerySample};

use super::counter::CpuCounter;
use crate::scrape::{PageReader, PageSource, ScrapeError};

/// Who is asked.
#[derive(Clone, Debug)]
pub(crate) enum ToldBy {
    /// A page of metrics: the samples with these labels.
    Page { page: PageSource, labels: BTreeMap<String, String> },
    /// A Prometheus: CPU seconds so far, and bytes of memory.
    Queries { cpu: PageSource, memory: Option<PageSource> },
}

/// What was told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Told {
    /// What it used.
    Use(ToldUse),
    /// That it is not there.
    Absent,
}

/// What it used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ToldUse {
    /// CPU seconds since it was asked first.
    pub(super) cpu: f64,
    /// Resident memory now, bytes.
    pub(super) memory: Option<u64>,
    /// Seconds since it was asked first for which a limit of CPU held it back.
    pub(super) held_back: Option<f64>,
}

/// Why nothing was: a fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
pub(super) enum UntoldUse {
    #[error(transparent)]
    Scrape(#[from] ScrapeError),
    #[error("find {0} on the page")]
    NoMetric(String),
    #[error("find the number of `{query}`: {why}")]
    NoNumber { query: &'static str, why: NoNumber },
}

/// Who asks.
pub(super) trait UseTeller: 'static {
    /// What is told now, within so long.
    async fn ask(&mut self, within: Nanos) -> Result<Told, UntoldUse>;
}

/// Asks whoever the plan names.
pub(super) struct RemoteTeller {
    by: ToldBy,
    clock: Rc<dyn Clock>,
    readers: [Option<PageReader>; 2],
    page: PageUse,
    queried: QueriedUse,
}

/// What the pages of a component come to.
#[derive(Debug, Default)]
pub(super) struct PageUse {
    cpu: CpuCounter,
    held_back: CpuCounter,
}

/// What the answers of a Prometheus come to: each series is the counter of a process of its own.
#[derive(Debug, Default)]
struct QueriedUse(HashMap<String, CpuCounter>);

impl RemoteTeller {
    /// Nobody has been asked yet.
    pub(super) fn new(by: ToldBy, clock: Rc<dyn Clock>) -> Self {
        let (page, queried) = (PageUse::default(), QueriedUse::default());
        Self { by, clock, readers: [None, None], page, queried }
    }
}

impl UseTeller for RemoteTeller {
    async fn ask(&mut self, within: Nanos) -> Result<Told, UntoldUse> {
        let Self { by, clock, readers: [first, second], page: pages, queried } = self;
        match by {
            ToldBy::Page { page, labels } => {
                let text = opened(first, page, clock)?.read(within).await?;
                pages.read(text, labels)
            }
            ToldBy::Queries { cpu, memory } => {
                let memory = match memory {
                    Some(memory) => Some(answer(opened(second, memory, clock)?, within, "memory").await?),
                    None => None,
                };
                // Last, so that the instant after it is that of the CPU seconds.
                let cpu = answer(opened(first, cpu, clock)?, within, "cpu").await?;
                let memory = memory.map(|samples| samples.iter().map(|sample| sample.value).sum::<f64>());
                let memory = memory.map(|bytes| bytes as u64);
                Ok(Told::Use(ToldUse { cpu: queried.look(cpu), memory, held_back: None }))
            }
        }
    }
}

fn opened<'a>(
    reader: &'a mut Option<PageReader>,
    source: &PageSource,
    clock: &Rc<dyn Clock>,
) -> Result<&'a mut PageReader, ScrapeError> {
    match reader {
        Some(reader) => Ok(reader),
        None => Ok(reader.insert(PageReader::open(source, clock.clone())?)),
    }
}

async fn answer(
    reader: &mut PageReader,
    within: Nanos,
    query: &'static str,
) -> Result<Vec<QuerySample>, UntoldUse> {
    let (status, body) = reader.ask(within).await?;
    promql::samples(body).map_err(|why| match why {
        // Whoever answers in another way than Prometheus says by its status what is wrong.
        NoNumber::Unreadable if status != http::StatusCode::OK => ScrapeError::Status(status).into(),
        why => UntoldUse::NoNumber { query, why },
    })
}

impl PageUse {
    /// Reads a page, which is the next one of the same component.
    pub(super) fn read(&mut self, page: &str, labels: &BTreeMap<String, String>) -> Result<Told, UntoldUse> {
        let number = |metric| exposition::sum(page, metric, labels);
        if number(UP) == Some(0.0) {
            return Ok(Told::Absent);
        }
        let cpu = number(CPU).ok_or_else(|| UntoldUse::NoMetric(labelled(CPU, labels)))?;
        let memory = number(MEMORY).map(|bytes| bytes as u64);
        let held_back = number(HELD_BACK).map(|seconds| self.held_back.look(seconds));
        Ok(Told::Use(ToldUse { cpu: self.cpu.look(cpu), memory, held_back }))
    }
}

impl QueriedUse {
    /// CPU seconds since the first answer. What a series has when it is met for the first time was used before.
    fn look(&mut self, samples: Vec<QuerySample>) -> f64 {
        for QuerySample { series, value } in samples {
            if self.0.len() < MOST_SERIES || self.0.contains_key(&series) {
                self.0.entry(series).or_default().look(value);
            }
        }
        self.0.values().map(CpuCounter::used).sum()
    }
}

/// A metric with its labels, as a page has them.
fn labelled(metric: &str, labels: &BTreeMap<String, String>) -> String {
    let labels: Vec<String> = labels.iter().map(|(name, text)| format!("{name}={text:?}")).collect();
    if labels.is_empty() { metric.to_owned() } else { format!("{metric}{{{}}}", labels.join(",")) }
}

/// Of a query, whose series come and go with processes.
const MOST_SERIES: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(all: &[(&str, f64)]) -> Vec<QuerySample> {
        all.iter()
            .map(|(series, value)| QuerySample { series: (*series).to_owned(), value: *value })
            .collect()
    }

    #[test]
    fn a_process_that_starts_again_among_others_costs_what_it_used_and_not_what_they_did() {
        let mut used = QueriedUse::default();
        assert_eq!(used.look(samples(&[("a", 1_000.0), ("b", 2_000.0)])), 0.0);
        assert_eq!(used.look(samples(&[("a", 1_001.0), ("b", 2_000.5)])), 1.5);
        // One started again.
        assert_eq!(used.look(samples(&[("a", 0.5), ("b", 2_001.0)])), 2.5);
        // One has gone, another one is met.
        assert_eq!(used.look(samples(&[("b", 2_002.0), ("c", 700.0)])), 3.5);
        assert_eq!(used.look(samples(&[("c", 700.25)])), 3.75);
    }

    #[test]
    fn a_page_of_several_components_is_read_by_their_labels() {
        let labels = |name: &str| BTreeMap::from([("name".to_owned(), name.to_owned())]);
        let page = |cpu: u32| {
            format!(
                "{CPU}{{name=\"a\"}} {cpu}\n{CPU}{{name=\"b\"}} 900\n{MEMORY}{{name=\"a\"}} 7e3\n{HELD_BACK}{{name=\"a\"}} {cpu}\n"
            )
        };
        let mut used = PageUse::default();
        used.read(&page(10), &labels("a")).unwrap();
        let told = used.read(&page(12), &labels("a")).unwrap();
        assert_eq!(told, Told::Use(ToldUse { cpu: 2.0, memory: Some(7_000), held_back: Some(2.0) }));
        let absent =
            format!("{UP}{{name=\"a\"}} 0\n{UP}{{name=\"b\"}} 1\n{}", page(12).replace("\"a\"", "\"z\""));
        assert_eq!(used.read(&absent, &labels("a")).unwrap(), Told::Absent);
        // It goes on where it was.
        let Told::Use(told) = used.read(&page(13), &labels("a")).unwrap() else { panic!() };
        assert_eq!(told.cpu, 3.0);
        let error = PageUse::default().read(&page(1), &labels("c")).unwrap_err().to_string();
        assert_eq!(error, "find process_cpu_seconds_total{name=\"c\"} on the page");
    }
}
