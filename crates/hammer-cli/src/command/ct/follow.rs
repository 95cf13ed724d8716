//! `hammer ct follow`: a log without load, head by head.

use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use hammer_audit::{Followed, LogFollower, Trouble, save_heads};
use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_core::runtime::Clock as _;
use hammer_ct::{AuditInterval, CtLog, LogTarget};
use hammer_measure::{Nanos, Now as _, shown};
use hammer_net::ClientConfig;
use hammer_report::text::number::grouped;
use hammer_report::{ExitCode, ReasonKind, rfc3339};
use hammer_tlog::logs::follow::Head;
use hammer_values::{TimeSpan, ValueError};
use serde_json::{Value, json};

use crate::args::FollowArgs;
use crate::command::http::time;
use crate::error::{CliError, OutputError, StartError, TargetError, UsageError};
use crate::output::FileFolder;
use crate::output::standard::print;
use crate::protocol::registry::Registry;
use crate::signals::EndSignals;

use super::inspection::head_json;
use super::locally::locally;
use super::mismatch;

pub(super) fn follow(args: &FollowArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let interval = args.interval.parse::<AuditInterval>();
    let interval = interval.map_err(|source| UsageError::Value { flag: "--interval", source })?;
    let duration = args.duration.as_deref().map(|text| time("-z", text)).transpose()?;
    if duration == Some(TimeSpan::ZERO) {
        return Err(UsageError::Value { flag: "-z", source: ValueError::below("1ns") }.into());
    }
    let (log, client) = args.log.open(registry)?;
    // Once two heads contradict each other it is too late to find out.
    let evidence = FileFolder::made("--evidence", &args.evidence)?.writable()?;
    let journal = Journal::new(evidence.path(), args.json, unix_millis());
    locally(attend(
        log,
        client,
        interval.duration().into(),
        duration.map(|span| span.duration().into()),
        journal,
    ))
}

async fn attend(
    log: Arc<LogTarget>,
    client: ClientConfig,
    interval: Nanos,
    duration: Option<Nanos>,
    mut journal: Journal<'_>,
) -> Result<ExitCode, CliError> {
    let mut signals = EndSignals::listen().map_err(StartError::Signals)?;
    let clock = MonotonicClock::starting_now();
    let follower = CtLog::follower(Arc::clone(&log), client.clone(), Rc::new(clock), journal.epoch_unix_ms);
    let mut follower = follower.map_err(TargetError::from)?;
    let end = clock.sleep_until(duration.map_or(Nanos::MAX, |duration| clock.now().saturating_add(duration)));
    let ended = tokio::select! {
        ended = look(&mut follower, interval, (&clock, &log, client), &mut journal) => ended,
        () = end => Ok(()),
        () = signals.arrived() => Ok(()),
    };
    ended?;
    follower.end().iter().try_for_each(|seen| journal.write(seen))?;
    Ok(journal.end()?)
}

/// Looks at the log at each interval, until nothing that follows can be believed.
async fn look(
    follower: &mut LogFollower<CtLog>,
    interval: Nanos,
    (clock, log, client): (&MonotonicClock, &LogTarget, ClientConfig),
    journal: &mut Journal<'_>,
) -> Result<(), OutputError> {
    let mut client = Some(client);
    loop {
        let started = clock.now();
        match follower.look().await {
            Ok(seen) => {
                for seen in &seen {
                    journal.write(seen)?;
                    if matches!(seen, Followed::Breach { heads: Some(_), .. }) {
                        return Ok(());
                    }
                }
                journal.answered();
            }
            Err(why) => journal.trouble(&why)?,
        }
        // Of a log whose first answer cannot be believed it is found out whether it is the one that was named.
        if journal.has_answered
            && let Some(client) = client.take().filter(|_| !journal.has_followed)
            && let Some(hint) = mismatch::hint(log, client).await
        {
            journal.line(&json!({ "event": "hint", "hint": hint }), &format!("hint  {hint}"))?;
        }
        clock.sleep_until(started.saturating_add(interval)).await;
    }
}

/// What is printed of a log, and what became of it so far.
struct Journal<'a> {
    evidence: &'a Path,
    json: bool,
    epoch_unix_ms: u64,
    is_broken: bool,
    has_answered: bool,
    /// Whether a head was seen that can be believed.
    has_followed: bool,
    /// The size of the stale head that was told last.
    stale: Option<u64>,
    /// The trouble of the last look, which is told once.
    trouble: Option<String>,
    /// What the last look found broken by no two heads, which is told once too.
    broken: Option<String>,
}

impl<'a> Journal<'a> {
    fn new(evidence: &'a Path, json: bool, epoch_unix_ms: u64) -> Self {
        let (is_broken, has_answered, has_followed, stale, trouble, broken) = Default::default();
        Self { evidence, json, epoch_unix_ms, is_broken, has_answered, has_followed, stale, trouble, broken }
    }

    /// The exit code. A log that answered and was not followed from one head is not one of which nothing was found.
    fn end(&self) -> Result<ExitCode, OutputError> {
        let why = match (self.is_broken, self.has_followed, self.has_answered) {
            (true, ..) => ReasonKind::PromiseBroken,
            (false, true, _) => return Ok(ExitCode::Clean),
            (false, false, true) => ReasonKind::NotBelievable,
            (false, false, false) => ReasonKind::NoAnswer,
        };
        if !self.is_broken {
            self.line(
                &json!({ "event": "unfollowed" }),
                "unfollowed  no head of the log was seen: nothing can be said of it",
            )?;
        }
        Ok(ExitCode::Because(why))
    }

    fn write(&mut self, seen: &Followed) -> Result<(), OutputError> {
        match seen {
            Followed::Head { head, grown, cosigners } => {
                self.has_followed = true;
                self.head(head, *grown, cosigners)
            }
            Followed::Stale { head, newest } => self.stale(head, *newest),
            Followed::Breach { kind, index, detail, heads } => {
                self.is_broken = true;
                let said = format!("{kind} {index:?} {detail}");
                // What is served wrong at one look is so at the next.
                if heads.is_none() && self.broken.replace(said.clone()) == Some(said) {
                    return Ok(());
                }
                self.breach(kind, *index, detail, heads.as_deref())
            }
        }
    }

    fn head(&self, head: &Head, grown: Option<u64>, cosigners: &[String]) -> Result<(), OutputError> {
        let seen_at = rfc3339(self.epoch_unix_ms + head.fetched_ns / 1_000_000);
        let mut json = head_json(head);
        json["event"] = json!("head");
        json["seen_at"] = json!(seen_at);
        json["grown"] = json!(grown);
        json["cosigners"] = json!(cosigners);
        let grown = grown.map_or_else(|| "first".to_owned(), |grown| format!("+{}", grouped(grown)));
        let cosigned = match cosigners {
            [] => String::new(),
            // Nobody gave their keys.
            names => format!("  and {} more signatures, not verified: {}", names.len(), names.join(", ")),
        };
        let (size, signed) = (grouped(head.size), rfc3339(head.timestamp_ms));
        self.line(&json, &format!("size {size}  {grown}  root {}  signed {signed}{cosigned}", head.root))
    }

    /// A server that lags behind says the same at every look; it is told once.
    fn stale(&mut self, head: &Head, newest: u64) -> Result<(), OutputError> {
        let (size, timestamp_ms) = (head.size, head.timestamp_ms);
        if self.stale.replace(size) == Some(size) {
            return Ok(());
        }
        let json = json!({ "event": "stale", "size": size, "newest": newest, "timestamp_ms": timestamp_ms });
        let (size, newest, signed) = (grouped(size), grouped(newest), rfc3339(timestamp_ms));
        self.line(&json, &format!("stale  size {size} after {newest}  signed {signed}"))
    }

    fn breach(
        &self,
        kind: &str,
        index: Option<u64>,
        detail: &str,
        heads: Option<&[Head; 2]>,
    ) -> Result<(), OutputError> {
        let saved = heads.map(|heads| save_heads(self.evidence, self.epoch_unix_ms, heads));
        let (saved, words) = match saved {
            None => (Value::Null, String::new()),
            Some(Ok(paths)) => {
                let named = paths.each_ref().map(|path| path.display().to_string()).join(" and ");
                (json!(paths), format!("; saved as {named}"))
            }
            Some(Err(why)) => {
                let why = format!("{}: {why}", self.evidence.display());
                (json!(why), format!("; not saved: {why}"))
            }
        };
        let json =
            json!({ "event": "broken", "kind": kind, "index": index, "detail": detail, "saved": saved });
        self.line(&json, &format!("BROKEN  {kind}: {detail}{words}"))
    }

    fn answered(&mut self) {
        self.has_answered = true;
        self.trouble = None;
    }

    fn trouble(&mut self, why: &Trouble) -> Result<(), OutputError> {
        self.has_answered |= !why.is_silence();
        let why = format!("failed to {why}");
        if self.trouble.as_ref() == Some(&why) {
            return Ok(());
        }
        self.line(&json!({ "event": "trouble", "why": why }), &format!("trouble  {why}"))?;
        self.trouble = Some(why);
        Ok(())
    }

    /// What the log wrote is in it, and it is for a terminal.
    fn line(&self, json: &Value, text: &str) -> Result<(), OutputError> {
        let line = if self.json { json.to_string() } else { text.to_owned() };
        print(io::stdout(), |out| writeln!(out, "{}", shown(&line, usize::MAX)))
    }
}
