//! `hammer ct follow`: a log without load, head by head.

use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_core::runtime::Clock as _;
use hammer_ct::{Followed, LEAST_AUDIT_INTERVAL, LogFollower, LogTarget, Trouble, save_heads};
use hammer_measure::{Nanos, Now as _};
use hammer_net::ClientConfig;
use hammer_report::text::number::grouped;
use hammer_report::{ExitCode, ReasonKind, rfc3339};
use hammer_tlog::follow::Head;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use crate::args::FollowArgs;
use crate::command::http::time;
use crate::error::CliError;
use crate::output::print;

use super::locally;

pub(super) fn follow(args: &FollowArgs) -> Result<ExitCode, CliError> {
    let interval = time("--interval", &args.interval)?.0;
    if interval < LEAST_AUDIT_INTERVAL.into() {
        return Err(CliError::plan(format!(
            "use --interval {}: it must be {}ms at least",
            args.interval,
            LEAST_AUDIT_INTERVAL.as_millis()
        )));
    }
    let duration = args.duration.as_deref().map(|text| time("-z", text)).transpose()?;
    let (log, client) = args.log.open()?;
    let told = Told::new(&args.evidence, args.json, unix_millis());
    locally(attend(log, client, interval, duration.map(|span| span.0), told))
}

async fn attend(
    log: Arc<LogTarget>,
    client: ClientConfig,
    interval: Nanos,
    duration: Option<Nanos>,
    mut told: Told<'_>,
) -> Result<ExitCode, CliError> {
    let failed = |error| CliError::plan(format!("wait for a signal: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let clock = MonotonicClock::starting_now();
    let mut follower = LogFollower::new(log, client, Rc::new(clock)).map_err(CliError::plan)?;
    let end = clock.sleep_until(duration.map_or(Nanos::MAX, |duration| clock.now().saturating_add(duration)));
    let looking = async {
        loop {
            let begun = clock.now();
            match follower.look().await {
                Ok(seen) => {
                    for seen in &seen {
                        if told.seen(seen)? {
                            return Ok(());
                        }
                    }
                    told.answered();
                }
                Err(why) => told.trouble(&why)?,
            }
            clock.sleep_until(begun.saturating_add(interval)).await;
        }
    };
    let ended: Result<(), CliError> = tokio::select! {
        ended = looking => ended,
        () = end => Ok(()),
        _ = interrupt.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
    };
    ended.map(|()| told.exit_code())
}

/// What is printed, and what became of the log so far.
struct Told<'a> {
    evidence: &'a Path,
    json: bool,
    epoch_unix_ms: u64,
    is_broken: bool,
    has_answered: bool,
    /// The size of the stale head that was told last.
    stale: Option<u64>,
    /// The trouble of the last look, which is told once.
    trouble: Option<String>,
}

impl<'a> Told<'a> {
    fn new(evidence: &'a Path, json: bool, epoch_unix_ms: u64) -> Self {
        let (is_broken, has_answered, stale, trouble) = Default::default();
        Self { evidence, json, epoch_unix_ms, is_broken, has_answered, stale, trouble }
    }

    fn exit_code(&self) -> ExitCode {
        match (self.is_broken, self.has_answered) {
            (true, _) => ExitCode::Because(ReasonKind::PromiseBroken),
            (false, true) => ExitCode::Clean,
            (false, false) => ExitCode::Because(ReasonKind::NoAnswer),
        }
    }

    /// Tells it; whether nothing that follows can be believed.
    fn seen(&mut self, seen: &Followed) -> Result<bool, CliError> {
        match seen {
            Followed::Head { head, grown, cosigners } => {
                let signed = rfc3339(head.timestamp_ms);
                let seen_at = rfc3339(self.epoch_unix_ms + head.fetched_ns / 1_000_000);
                let json = json!({
                    "event": "head",
                    "seen_at": seen_at,
                    "size": head.size,
                    "root": head.root.to_string(),
                    "timestamp_ms": head.timestamp_ms,
                    "grown": grown,
                    "cosigners": cosigners,
                });
                let grown = grown.map_or_else(|| "first".to_owned(), |grown| format!("+{}", grouped(grown)));
                let cosigned = match cosigners.as_slice() {
                    [] => String::new(),
                    names => format!("  cosigned by {}", names.join(", ")),
                };
                let size = grouped(head.size);
                self.line(
                    &json,
                    &format!("size {size}  {grown}  root {}  signed {signed}{cosigned}", head.root),
                )?;
                Ok(false)
            }
            Followed::Stale { head, newest } => {
                // A server that lags behind says the same at every look.
                let (size, signed) = (head.size, rfc3339(head.timestamp_ms));
                if self.stale.replace(size) != Some(size) {
                    let json = json!({ "event": "stale", "size": size, "newest": newest, "timestamp_ms": head.timestamp_ms });
                    let (size, newest) = (grouped(size), grouped(*newest));
                    self.line(&json, &format!("stale  size {size} after {newest}  signed {signed}"))?;
                }
                Ok(false)
            }
            Followed::Breach { kind, index, detail, heads } => {
                self.is_broken = true;
                let saved = heads.as_ref().map(|heads| self.save(heads));
                let json = json!({ "event": "broken", "kind": kind, "index": index, "detail": detail, "saved": saved });
                let saved = saved.as_ref().map_or(String::new(), |saved| match saved {
                    Value::Array(paths) => {
                        let paths: Vec<&str> = paths.iter().filter_map(Value::as_str).collect();
                        format!("; saved as {}", paths.join(" and "))
                    }
                    why => format!("; not saved: {}", why.as_str().unwrap_or_default()),
                });
                self.line(&json, &format!("BROKEN  {kind}: {detail}{saved}"))?;
                Ok(heads.is_some())
            }
        }
    }

    /// The paths of the saved heads, or why there are none.
    fn save(&self, heads: &[Head; 2]) -> Value {
        match save_heads(self.evidence, self.epoch_unix_ms, heads) {
            Ok(paths) => json!(paths),
            Err(why) => json!(format!("{}: {why}", self.evidence.display())),
        }
    }

    fn answered(&mut self) {
        self.has_answered = true;
        self.trouble = None;
    }

    fn trouble(&mut self, why: &Trouble) -> Result<(), CliError> {
        self.has_answered |= !why.is_silence();
        let why = format!("failed to {why}");
        if self.trouble.as_ref() == Some(&why) {
            return Ok(());
        }
        self.line(&json!({ "event": "trouble", "why": why }), &format!("trouble  {why}"))?;
        self.trouble = Some(why);
        Ok(())
    }

    fn line(&self, json: &Value, text: &str) -> Result<(), CliError> {
        match self.json {
            true => print(io::stdout(), |out| writeln!(out, "{json}")),
            false => print(io::stdout(), |out| writeln!(out, "{text}")),
        }
    }
}
