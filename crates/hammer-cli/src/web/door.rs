//! What stands between a run, who looks on, and who steers it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hammer_html::LivePage;
use hammer_measure::{CommandId, RunEvent};
use hammer_report::Report;
use hammer_report::report::Event;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::Serialize;
use tokio::sync::{oneshot, watch};

use super::access::Access;
use super::live_run::{LiveRun, PageDraft, RunStatus};
use super::steering::AskedCommand;

/// The door of a command's runs.
pub(super) struct Door {
    access: OnceLock<Access>,
    /// What tells it from other doors at the same address.
    instance: String,
    /// How many runs, and fills ahead of them, were shown.
    begun: AtomicU64,
    run: Mutex<Option<LiveRun>>,
    /// Who waits for the answer to a command.
    asking: Mutex<BTreeMap<CommandId, oneshot::Sender<RunEvent>>>,
    /// The page as it was made last.
    page: Mutex<MadePage>,
    news: watch::Sender<News>,
}

/// What who looks on waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// How often something changed.
    pub(super) version: u64,
    /// Whether nothing will any more.
    pub(super) is_over: bool,
}

#[derive(Default)]
struct MadePage {
    version: Option<u64>,
    page: Arc<LivePage>,
}

/// What a command is answered.
#[derive(Debug, Serialize)]
pub(super) struct CommandAnswer {
    /// The command's number in its run.
    id: u64,
    /// In words.
    words: String,
    /// Whether any workload does what was asked.
    #[serde(skip)]
    pub(super) is_done: bool,
    /// As the report has it.
    event: Event,
}

/// Why a command has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unanswered {
    /// It cannot be asked of the run.
    #[error("{0}")]
    Misfit(String),
    /// No run takes commands.
    #[error("no run is under way that could be steered: it is about to start, or has ended")]
    NoRun,
}

impl Default for Door {
    fn default() -> Self {
        Self {
            access: OnceLock::new(),
            instance: instance(),
            begun: AtomicU64::new(0),
            run: Mutex::default(),
            asking: Mutex::default(),
            page: Mutex::default(),
            news: watch::Sender::new(News::default()),
        }
    }
}

impl Door {
    /// Lets those in who may.
    pub(super) fn open(&self, access: Access) {
        let _ = self.access.set(access);
    }

    /// Who may do what; none before the door is open.
    pub(super) fn access(&self) -> Option<&Access> {
        self.access.get()
    }

    /// The run of which the page is from now on.
    pub(super) fn begin(&self, mut run: LiveRun) {
        let place = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        run.identity = format!("{}-{place}", self.instance);
        *held(&self.run) = Some(run);
        held(&self.asking).clear();
        self.tell();
    }

    /// Takes what happened in the run.
    pub(super) fn take(&self, event: &RunEvent) {
        if let Some(run) = &mut *held(&self.run) {
            run.take(event);
        }
        match event {
            RunEvent::Command { id, .. } => {
                if let Some(asking) = held(&self.asking).remove(id) {
                    // Who has gone away needs no answer.
                    let _ = asking.send(event.clone());
                }
            }
            // Whoever asked too late is told so.
            RunEvent::Finished(_) => held(&self.asking).clear(),
            _ => {}
        }
        let is_news = matches!(
            event,
            RunEvent::Phase { .. }
                | RunEvent::Interval(_)
                | RunEvent::Command { .. }
                | RunEvent::Beside { .. }
        );
        if is_news {
            self.tell();
        }
    }

    /// Has the page say what the report does.
    pub(super) fn conclude(&self, report: &Report) {
        if let Some(run) = &mut *held(&self.run) {
            run.conclude(report);
        }
        self.tell();
    }

    /// Says that nothing follows.
    pub(super) fn close(&self) {
        if let Some(run) = &mut *held(&self.run) {
            run.close();
        }
        // Whoever asks is told that no run is under way.
        held(&self.asking).clear();
        self.news.send_modify(|news| {
            news.version += 1;
            news.is_over = true;
        });
    }

    /// What who looks on waits for.
    pub(super) fn news(&self) -> watch::Receiver<News> {
        self.news.subscribe()
    }

    /// The page as it is now: made where something has changed since it was made last, and somebody asks. It takes milliseconds, and more of a
    /// long run.
    pub(super) fn page(&self) -> Arc<LivePage> {
        let mut made = held(&self.page);
        let version = self.news.borrow().version;
        if made.version != Some(version) {
            // Under the lock, which the run's loop waits for, is taken no more than what was told.
            let draft = held(&self.run).as_ref().map(LiveRun::draft);
            match draft.map(PageDraft::page) {
                Some(Ok(page)) => made.page = Arc::new(page),
                Some(Err(error)) => tracing::warn!("the live page was not made: {error}"),
                None => {
                    let none = format!("{}-0", self.instance);
                    let is_over = self.news.borrow().is_over;
                    let standing = if is_over { "no run has started" } else { "about to start" };
                    made.page = Arc::new(LivePage::unmeasured(&none, None, standing));
                }
            }
            made.version = Some(version);
        }
        Arc::clone(&made.page)
    }

    /// How the run stands; none before the first.
    pub(super) fn status(&self) -> Option<RunStatus> {
        held(&self.run).as_ref().map(LiveRun::status)
    }

    /// Asks the run for something, and waits for what it says.
    ///
    /// # Errors
    /// When it cannot be asked, or says nothing any more.
    pub(super) async fn steer(&self, asked: AskedCommand) -> Result<CommandAnswer, Unanswered> {
        let (id, answer, workloads) = {
            let run = held(&self.run);
            let run = run.as_ref().ok_or(Unanswered::NoRun)?;
            let control = run.control.as_ref().ok_or(Unanswered::NoRun)?;
            let command = asked.command(&run.workloads).map_err(Unanswered::Misfit)?;
            let (answer, answered) = oneshot::channel();
            // The answer may come before this returns.
            let id = control.next_id();
            held(&self.asking).insert(id, answer);
            control.command_as(id, command);
            (id, answered, run.workloads.iter().map(|workload| workload.name.clone()).collect::<Vec<_>>())
        };
        // The run answers at once, or ends, and then nobody holds the other end.
        let event = answer.await.map_err(|_| Unanswered::NoRun)?;
        CommandAnswer::of(id, &event, &workloads).ok_or(Unanswered::NoRun)
    }

    fn tell(&self) {
        self.news.send_modify(|news| news.version += 1);
    }
}

impl CommandAnswer {
    fn of(id: CommandId, event: &RunEvent, workloads: &[String]) -> Option<Self> {
        let event = Event::of(event)?;
        let (words, is_done) = match &event {
            Event::Command { command, refused, .. } => {
                let names = || workloads.iter().map(String::as_str);
                (command.answer(names(), refused), command.was_done(names(), refused))
            }
            other => (other.beside_words()?.1, true),
        };
        Some(Self { id: id.0, words, is_done, event })
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").finish_non_exhaustive()
    }
}

fn instance() -> String {
    let mut bytes = [0; 9];
    // Without random bytes one door at an address is not told from the next, and a page that is left open mixes them.
    let _ = SystemRandom::new().fill(&mut bytes);
    URL_SAFE_NO_PAD.encode(bytes).replace('-', "_")
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic elsewhere leaves is a run that is shown as far as it had come.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
