//! Another machine, by its page in the names of Prometheus's node exporter.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use hammer_core::observe::ObservationSink;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_pages::node::MachineLook;

use super::gauge::Gauge;
use super::machine_gauge::ToldMachine;
use super::meter::{MachineMeter, Stage};
use super::trouble::ToldTrouble;
use crate::scrape::{PageReader, PageSource, ScrapeError};

/// A machine that has such a page.
#[derive(Clone, Debug)]
pub(super) struct RemoteMachine {
    pub(super) name: String,
    pub(super) page: PageSource,
    pub(super) meter: Arc<Mutex<MachineMeter>>,
}

/// Reads the page.
pub(super) struct RemoteMachineGauge {
    machine: RemoteMachine,
    clock: Rc<dyn Clock>,
    /// How long an answer may take.
    within: Nanos,
    reader: Option<PageReader>,
    told: ToldMachine,
    trouble: ToldTrouble,
}

/// Why a look failed: a fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
enum UnseenMachine {
    #[error(transparent)]
    Scrape(#[from] ScrapeError),
    #[error("find node_cpu_seconds_total on the page")]
    NoMachine,
}

impl RemoteMachineGauge {
    pub(super) fn new(machine: RemoteMachine, within: Nanos, clock: Rc<dyn Clock>) -> Self {
        let told = ToldMachine::new(&machine.name);
        Self { machine, clock, within, reader: None, told, trouble: ToldTrouble::default() }
    }

    async fn read(&mut self) -> Result<MachineLook, UnseenMachine> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            None => self.reader.insert(PageReader::open(&self.machine.page, self.clock.clone())?),
        };
        MachineLook::of_page(reader.read(self.within).await?).ok_or(UnseenMachine::NoMachine)
    }
}

impl Gauge for RemoteMachineGauge {
    async fn look(&mut self, stage: Stage, sink: Option<&ObservationSink>) {
        let read = self.read().await;
        let now = self.clock.now();
        let mut meter = self.machine.meter.lock().unwrap_or_else(PoisonError::into_inner);
        let trouble = match &read {
            Ok(look) => {
                meter.sample(stage, now, look);
                self.told.look(now, look, sink);
                None
            }
            Err(error) => {
                meter.gap();
                Some(error.to_string())
            }
        };
        drop(meter);
        self.trouble.tell(&self.machine.name, now, trouble, sink);
    }
}
