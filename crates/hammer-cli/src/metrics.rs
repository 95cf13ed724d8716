//! `--metrics`: the page of a run's metrics, served while it lasts, and after its end until it was read.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hammer_core::clock::MonotonicClock;
use hammer_lab::serve::ServePlan;
use hammer_measure::{Nanos, Now as _};
use hammer_net::guard;
use hammer_report::metrics::{MetricFamilies, MetricsSink, RunMetrics};
use hammer_values::TimeSpan;

use crate::args::OutputArgs;
use crate::error::{CliError, UsageError};
use crate::output::standard::print;
use crate::page_server::{PageConfig, PageServer, ServedPage};
use crate::signals::Signals;

/// The page of metrics of a command's runs, where it is asked for.
pub(crate) struct MetricsPage {
    page: Arc<RunPage>,
    linger: Option<TimeSpan>,
    _server: PageServer<Arc<RunPage>>,
}

/// The page as the run has made it.
#[derive(Debug, Default)]
pub(crate) struct RunPage {
    state: Mutex<PageState>,
    read: Condvar,
}

#[derive(Debug, Default)]
struct PageState {
    text: String,
    /// It is that of a run that has ended.
    is_last: bool,
    /// And somebody was given it.
    was_read: bool,
}

impl RunPage {
    fn state(&self) -> MutexGuard<'_, PageState> {
        // A page is replaced whole, so that a panic elsewhere leaves none halfway.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MetricsSink for RunPage {
    fn take(&self, families: MetricFamilies, is_last: bool) {
        *self.state() = PageState { text: families.text(), is_last, was_read: false };
    }
}

impl ServedPage for Arc<RunPage> {
    const THREAD: &'static str = "metrics";
    const LOOK_EVERY: Option<Duration> = None;

    fn text(&self, is_asked: bool) -> String {
        let mut state = self.state();
        if is_asked && state.is_last {
            state.was_read = true;
            self.read.notify_all();
        }
        state.text.clone()
    }
}

impl MetricsPage {
    /// Serves the page where the command line says so, and says where.
    ///
    /// # Errors
    /// An address that cannot be listened on, or that anybody could reach.
    pub(crate) fn serve(output: &OutputArgs) -> Result<Option<Self>, CliError> {
        let Some(listen) = output.metrics else { return Ok(None) };
        if guard::check("", listen, None).is_err() {
            return Err(UsageError::PublicMetrics(listen).into());
        }
        let page = Arc::new(RunPage::default());
        let serve = ServePlan { listen, ..ServePlan::default() };
        let server = PageServer::spawn(PageConfig::new(serve, Arc::clone(&page)))?;
        // What is on standard output is read by programs.
        print(io::stderr(), |out| writeln!(out, "hammer: metrics at {}", server.url))?;
        Ok(Some(Self { page, linger: output.metrics_linger, _server: server }))
    }

    /// Who tells the page of a run, which has that place among so many.
    pub(crate) fn reporter(&self, place: usize, runs: usize) -> RunMetrics {
        let run = (runs > 1).then(|| (place + 1).to_string());
        RunMetrics::new(Arc::clone(&self.page) as Arc<dyn MetricsSink + Send + Sync>, run)
    }

    /// Waits until the last page was read, as long as the command line says, or until a signal comes.
    pub(crate) fn linger(&self, signals: &Signals) {
        let Some(linger) = self.linger else { return };
        let clock = MonotonicClock::starting_now();
        let until = Nanos::from(linger.duration());
        let mut state = self.page.state();
        while !state.was_read && clock.now() < until && !signals.asked() {
            let waited = self.page.read.wait_timeout(state, LOOK_EVERY);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// How soon a signal ends the wait.
const LOOK_EVERY: Duration = Duration::from_millis(50);
