//! The thread that sends the metrics of a run, the newest ones each time, and the last ones when it is over.

use std::future::Future;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bytes::Bytes;
use hammer_core::background::make_way;
use hammer_core::clock::MonotonicClock;
use hammer_core::runtime::Clock;
use hammer_measure::connection::ConnectionLog;
use hammer_measure::{Nanos, Reporter, RunEvent, peer_bytes, peer_text};
use hammer_messages::google::Status;
use hammer_messages::otlp::{self, ExportMetricsPartialSuccess, ExportMetricsServiceResponse};
use hammer_net::{Answer, Client, ConfigError, Failure, Request};
use hammer_report::Report;
use hammer_report::metrics::{MetricFamilies, MetricsSink, RunMetrics};
use hammer_report::report::Event;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use prost::Message as _;
use tokio::sync::watch;
use tokio::task::LocalSet;

use crate::output::standard::print;
use crate::signals::Signals;

use super::collector::Collector;
use super::message::message;
use super::tally::ExportTally;

/// The exports of one run.
pub(crate) struct RunExport {
    /// Gone once there are no further metrics.
    metrics: Option<RunMetrics>,
    thread: Option<JoinHandle<()>>,
    /// What became of them, once all was sent.
    tally: mpsc::Receiver<ExportTally>,
}

/// The metrics that are to be sent next. Newer ones take their place, so that a slow collector has nothing wait.
struct NewestMetrics(watch::Sender<Option<Arc<ToldMetrics>>>);

/// Metrics, and whether none follow.
struct ToldMetrics {
    families: MetricFamilies,
    is_last: bool,
}

impl MetricsSink for NewestMetrics {
    fn take(&self, families: MetricFamilies, is_last: bool) {
        self.0.send_replace(Some(Arc::new(ToldMetrics { families, is_last })));
    }
}

impl RunExport {
    /// Starts the thread; `run` tells the runs of one command apart.
    ///
    /// # Errors
    /// When there is no thread for it.
    pub(crate) fn start(collector: &Collector, run: Option<String>) -> io::Result<Self> {
        let (newest, told) = watch::channel(None);
        let collector = collector.clone();
        let (tell, tally) = mpsc::channel();
        let send = move || {
            make_way();
            let mut tally = ExportTally::default();
            match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => LocalSet::new().block_on(&runtime, export(&collector, told, &mut tally)),
                Err(error) => tally.failed(&format!("start a runtime: {error}")),
            }
            // Whoever was to be told may have given up.
            let _ = tell.send(tally);
        };
        let thread = thread::Builder::new().name("otlp".to_owned()).spawn(send)?;
        let metrics = Some(RunMetrics::new(Arc::new(NewestMetrics(newest)), run));
        Ok(Self { metrics, thread: Some(thread), tally })
    }

    /// Sends the metrics of the report, waits until the collector has them, [`WITHIN`] is over or a signal comes, and notes in the report what was not taken.
    pub(crate) fn conclude(mut self, report: &mut Report, signals: &Signals) {
        self.metrics.iter().for_each(|metrics| metrics.conclude(report));
        self.metrics = None;
        let at_ns = report.phases.last().map_or(0, |span| span.end_ns);
        let notes = match self.told(signals) {
            Ok(tally) => tally.notes(),
            Err(RecvTimeoutError::Disconnected) => vec![ENDED.to_owned()],
            Err(RecvTimeoutError::Timeout) => {
                // It is left to itself, and ends with the process.
                self.thread = None;
                vec![CUT_OFF.to_owned()]
            }
        };
        report.events.extend(notes.into_iter().map(|text| Event::Note { at_ns, text }));
    }

    /// What became of the exports; a timeout where a signal ended the wait.
    fn told(&self, signals: &Signals) -> Result<ExportTally, RecvTimeoutError> {
        let asked = signals.count();
        let mut is_said = false;
        loop {
            match self.tally.recv_timeout(if is_said { LOOK_EVERY } else { SOON }) {
                Err(RecvTimeoutError::Timeout) if signals.count() == asked => {}
                told => return told,
            }
            if !std::mem::replace(&mut is_said, true) {
                // Nobody is left to tell when standard error is gone.
                let _ = print(io::stderr(), |out| {
                    writeln!(out, "hammer: waits for the collector of metrics (--otlp), {WITHIN} at most")
                });
            }
        }
    }

    /// Ends the thread, which sends the last metrics where it was told of them.
    fn end(&mut self) {
        self.metrics = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Reporter for RunExport {
    fn event(&mut self, event: &RunEvent) {
        self.metrics.iter_mut().for_each(|metrics| metrics.event(event));
    }
}

impl Drop for RunExport {
    fn drop(&mut self) {
        // A run that failed has no last metrics, and nowhere to say what became of the others.
        self.end();
    }
}

/// Sends what is told, until the last of it was sent or nobody is left to tell.
async fn export(
    collector: &Collector,
    mut told: watch::Receiver<Option<Arc<ToldMetrics>>>,
    tally: &mut ExportTally,
) {
    let clock: Rc<dyn Clock> = Rc::new(MonotonicClock::starting_now());
    let mut sender = match MetricsSender::open(collector, &clock) {
        Ok(sender) => sender,
        Err(error) => return tally.failed(&error.to_string()),
    };
    let mut due = Nanos::ZERO;
    while let Some(newest) = next(&mut told, clock.sleep_until(due)).await {
        due = clock.now().saturating_add(collector.every);
        let sent = if newest.is_last {
            sender.send_last(&newest.families).await
        } else {
            tokio::select! {
                sent = sender.send(&newest.families, WITHIN) => sent,
                // What is under way is older than the last ones.
                _ = last(&mut told) => continue,
            }
        };
        match sent {
            Ok(but) => tally.taken(but.as_ref()),
            Err(error) => tally.failed(&error.to_string()),
        }
        if newest.is_last {
            return;
        }
    }
}

/// The newest metrics once they are due, or the last ones as soon as they are there; none where no others come.
async fn next(
    told: &mut watch::Receiver<Option<Arc<ToldMetrics>>>,
    due: impl Future<Output = ()>,
) -> Option<Arc<ToldMetrics>> {
    // The last ones may have been seen already, as those before them were given up.
    let is_last = told.borrow().as_ref().is_some_and(|newest| newest.is_last);
    if !is_last {
        told.changed().await.ok()?;
        tokio::select! {
            () = due => {}
            there = last(told) => there?,
        }
    }
    told.borrow_and_update().clone()
}

/// Ends when the last metrics are there; with nothing where they will not be.
async fn last(told: &mut watch::Receiver<Option<Arc<ToldMetrics>>>) -> Option<()> {
    told.wait_for(|newest| newest.as_ref().is_some_and(|newest| newest.is_last)).await.ok().map(drop)
}

/// A client of the collector.
struct MetricsSender<'a> {
    client: Client,
    request: Request,
    answer: Answer,
    clock: &'a Rc<dyn Clock>,
}

/// Why metrics were not taken: a fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
enum ExportError {
    /// Nobody can be asked.
    #[error(transparent)]
    Client(#[from] ConfigError),
    /// No answer, or none that can be understood.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// No answer in time.
    #[error("have an answer within {0}")]
    TimedOut(Nanos),
    /// Whoever answers is no collector.
    #[error("have them taken: the answer is {}, and none of a collector{said}", status.as_u16())]
    NoCollector { status: StatusCode, said: String },
    /// The collector did not take them.
    #[error("have them taken: the answer is {}{said}", status.as_u16())]
    Status { status: StatusCode, said: String },
}

impl ExportError {
    /// Whether the same may be taken later (OTLP, "OTLP/HTTP Response").
    fn is_passing(&self) -> bool {
        match self {
            Self::Client(_) | Self::TimedOut(_) | Self::NoCollector { .. } => false,
            Self::Failed(_) => true,
            Self::Status { .. } => self.is_throttled(),
        }
    }

    /// Whether the collector wants them later.
    fn is_throttled(&self) -> bool {
        matches!(self, Self::Status { status, .. } if matches!(status.as_u16(), 429 | 502 | 503 | 504))
    }
}

impl<'a> MetricsSender<'a> {
    fn open(collector: &Collector, clock: &'a Rc<dyn Clock>) -> Result<Self, ExportError> {
        let client = Client::new(collector.client.clone(), clock.clone(), ConnectionLog::default())?;
        let request = Request::post(client.path(collector.path)?, Bytes::new());
        let request = Request { headers: collector.headers.clone().into(), ..request };
        Ok(Self { client, request: request.keep_header(CONTENT_TYPE), answer: Answer::new(), clock })
    }

    /// Sends them, again where that may help.
    async fn send_last(
        &mut self,
        families: &MetricFamilies,
    ) -> Result<Option<ExportMetricsPartialSuccess>, ExportError> {
        let deadline = self.clock.now().saturating_add(WITHIN);
        let (mut attempt, mut pause) = (1, PAUSE);
        loop {
            let sent = self.send(families, deadline.since(self.clock.now())).await;
            let Err(error) = &sent else { return sent };
            // Where nobody is, few attempts are enough; whoever wants them later is asked later, as long as there is time.
            let is_last = !error.is_passing() || (attempt >= ATTEMPTS && !error.is_throttled());
            let next = self.clock.now().saturating_add(pause);
            if is_last || next >= deadline {
                return sent;
            }
            self.clock.sleep_until(next).await;
            (attempt, pause) = (attempt + 1, pause.saturating_add(pause));
        }
    }

    /// Sends them once; says what the collector did not take of them, or says besides.
    async fn send(
        &mut self,
        families: &MetricFamilies,
        within: Nanos,
    ) -> Result<Option<ExportMetricsPartialSuccess>, ExportError> {
        self.request.body = Bytes::from(message(families).encode_to_vec()).into();
        let too_late = self.clock.sleep_until(self.clock.now().saturating_add(within));
        tokio::select! {
            sent = self.client.send(&self.request, &mut self.answer) => sent?,
            () = too_late => return Err(ExportError::TimedOut(within)),
        }
        let Answer { status, body, .. } = &self.answer;
        if !status.is_success() {
            return Err(ExportError::Status { status: *status, said: self.said() });
        }
        match ExportMetricsServiceResponse::decode(body.as_slice()) {
            Ok(said) => Ok(said.partial_success),
            // A page for a person is answered by any web server.
            Err(_) => Err(ExportError::NoCollector { status: *status, said: self.said() }),
        }
    }

    /// What the answer says, as the end of a sentence.
    fn said(&self) -> String {
        let Answer { headers, body, .. } = &self.answer;
        let is_message = headers.get(CONTENT_TYPE).is_some_and(|kind| kind == otlp::CONTENT_TYPE);
        let status = if is_message { Status::decode(body.as_slice()).ok() } else { None };
        let said = status.map_or_else(|| peer_bytes(body), |status| peer_text(&status.message));
        if said.is_empty() { said } else { format!(", {said}") }
    }
}

/// How long an export may take, and the last one with all of its attempts.
const WITHIN: Nanos = Nanos::from_secs(10);
const ATTEMPTS: usize = 3;
const PAUSE: Nanos = Nanos::from_millis(500);
/// A collector nearby has answered by then.
const SOON: Duration = Duration::from_secs(1);
/// How soon a signal ends the wait.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const CUT_OFF: &str =
    "a signal ended the wait for the collector of metrics (--otlp): the end of the run may be missing there";
const ENDED: &str = "the thread that exports metrics (--otlp) ended before it said what became of them";
