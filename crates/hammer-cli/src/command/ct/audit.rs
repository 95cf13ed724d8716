//! `hammer ct audit`: what a log holds, verified afterwards.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::rc::Rc;
use std::sync::Arc;

use hammer_core::clock::MonotonicClock;
use hammer_ct::{LogKind, LogSweep, LogTarget, Swept, Trouble};
use hammer_measure::Now as _;
use hammer_net::ClientConfig;
use hammer_report::text::number::{bytes, grouped};
use hammer_report::{ExitCode, ReasonKind, rfc3339};
use hammer_tlog::follow::Head;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::args::AuditArgs;
use crate::error::CliError;
use crate::output::print;

use super::{locally, receipts};

pub(super) fn audit(args: &AuditArgs) -> Result<ExitCode, CliError> {
    if let Some(file) = &args.receipts {
        return receipts::audit(args, file);
    }
    if args.to.is_some_and(|to| to <= args.from) {
        return Err(CliError::plan(format!(
            "use --to {}: it must be more than --from {}",
            args.to.unwrap_or_default(),
            args.from
        )));
    }
    let (log, client) = args.log.open()?;
    locally(verify(args, log, client))
}

async fn verify(args: &AuditArgs, log: Arc<LogTarget>, client: ClientConfig) -> Result<ExitCode, CliError> {
    let clock = MonotonicClock::starting_now();
    let kind = log.kind;
    let mut sweep = LogSweep::new(log, client, Rc::new(clock)).map_err(CliError::plan)?;
    let mut found = Found { kind, head: None, swept: None, ended: None };
    match sweep.head().await {
        Ok(head) if args.from > head.size => {
            let size = head.size;
            return Err(CliError::plan(format!("use --from {}: the tree has {size} leaves", args.from)));
        }
        Ok(head) => {
            let bar = bar(args, &head);
            let range = args.from..args.to.unwrap_or(u64::MAX);
            match sweep.leaves(&head, range, |read| bar.set_position(read)).await {
                Ok(swept) => found.swept = Some(swept),
                Err(why) => found.ended = Some(why),
            }
            bar.finish_and_clear();
            found.head = Some(head);
        }
        Err(why) => found.ended = Some(why),
    }
    let cost = Cost { seconds: clock.now().as_secs_f64(), requests: sweep.requests(), bytes: sweep.bytes() };
    match args.json {
        true => print(io::stdout(), |out| writeln!(out, "{}", found.json(&cost)))?,
        false => print(io::stdout(), |out| out.write_all(found.text(&cost).as_bytes()))?,
    }
    Ok(found.exit_code())
}

fn bar(args: &AuditArgs, head: &Head) -> ProgressBar {
    if args.json || args.quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:20} {human_pos} of {human_len} entries, {per_sec}");
    let length = args.to.unwrap_or(head.size).min(head.size).saturating_sub(args.from);
    ProgressBar::new(length).with_style(style.expect("a constant template is valid"))
}

/// What the audit took.
pub(super) struct Cost {
    pub(super) seconds: f64,
    pub(super) requests: u64,
    pub(super) bytes: u64,
}

/// What the audit has found.
struct Found {
    kind: LogKind,
    head: Option<Head>,
    swept: Option<Swept>,
    /// What ended it before it was done.
    ended: Option<Trouble>,
}

impl Found {
    fn exit_code(&self) -> ExitCode {
        let flawed = self.swept.as_ref().is_some_and(|swept| swept.flawed > 0);
        ExitCode::Because(match &self.ended {
            _ if flawed => ReasonKind::PromiseBroken,
            Some(why) if why.breach_kind().is_some() => ReasonKind::PromiseBroken,
            Some(why) if self.head.is_none() && why.is_silence() => ReasonKind::NoAnswer,
            Some(_) => ReasonKind::NotBelievable,
            None => return ExitCode::Clean,
        })
    }

    /// Kind, index and detail of what is broken.
    fn flaws(&self) -> Vec<(&str, Option<u64>, String)> {
        let ended =
            self.ended.iter().filter_map(|why| Some((why.breach_kind()?, None, format!("failed to {why}"))));
        let swept = self.swept.iter().flat_map(|swept| swept.flaws.iter().cloned());
        ended.chain(swept).collect()
    }

    fn json(&self, cost: &Cost) -> Value {
        let head = self.head.as_ref().map(|head| {
            json!({
                "size": head.size,
                "root": head.root.to_string(),
                "timestamp_ms": head.timestamp_ms,
            })
        });
        let read = self.swept.as_ref().map(|swept| {
            let entries = swept.leaves.end - swept.leaves.start;
            json!({
                "from": swept.leaves.start,
                "to": swept.leaves.end,
                "entries": entries,
                "entries_per_second": entries as f64 / cost.seconds,
                "is_proved": swept.is_proved,
                "issuers": swept.issuers,
            })
        });
        let flaw = |(kind, index, detail)| json!({ "kind": kind, "index": index, "detail": detail });
        let flaws: Vec<Value> = self.flaws().into_iter().map(flaw).collect();
        json!({
            "schema": "hammer.ct-audit/1",
            "exit_code": self.exit_code().number(),
            "head": head,
            "read": read,
            "flaws": flaws,
            "flawed": self.swept.as_ref().map_or(flaws.len() as u64, |swept| swept.flawed),
            "ended": self.ended.as_ref().map(|why| format!("failed to {why}")),
            "seconds": cost.seconds,
            "requests": cost.requests,
            "bytes": cost.bytes,
        })
    }

    fn text(&self, cost: &Cost) -> String {
        let code = self.exit_code().number();
        let verdict = if code == 0 { "PASS" } else { "FAIL" };
        let mut text = format!("{verdict}, exit {code}\n");
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<10} {value}");
        };
        if let Some(head) = &self.head {
            let (size, signed) = (grouped(head.size), rfc3339(head.timestamp_ms));
            line("head", format!("size {size}, root {}, signed {signed}", head.root));
        }
        if let Some(swept) = &self.swept {
            let entries = swept.leaves.end - swept.leaves.start;
            let (first, end) = (grouped(swept.leaves.start), grouped(swept.leaves.end));
            let leads = if swept.is_proved { "they lead" } else { "THEY DO NOT LEAD" };
            line("entries", format!("{} read, from {first} to {end}; {leads} to the root", grouped(entries)));
            if self.kind == LogKind::StaticCt {
                line("issuers", format!("{} served", grouped(swept.issuers)));
            }
            let rate = grouped((entries as f64 / cost.seconds) as u64);
            line("took", format!("{:.2}s, {rate} entries/s", cost.seconds));
        }
        line("read", format!("{} requests, {}", grouped(cost.requests), bytes(cost.bytes)));
        let flaws = self.flaws();
        for (kind, _, detail) in flaws.iter().take(SHOWN) {
            line("BROKEN", format!("{kind}: {detail}"));
        }
        let flawed = self.swept.as_ref().map_or(flaws.len() as u64, |swept| swept.flawed);
        if flawed > SHOWN as u64 {
            line("BROKEN", format!("and {} more; --json names up to 1,000", grouped(flawed - SHOWN as u64)));
        }
        if let Some(why) = self.ended.as_ref().filter(|why| why.breach_kind().is_none()) {
            line("ended", format!("failed to {why}"));
        }
        text
    }
}

const SHOWN: usize = 20;
