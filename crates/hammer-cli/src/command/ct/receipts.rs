//! `hammer ct audit --receipts`: what became of the promises whose receipts a run left.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, IsTerminal as _};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_ct::{LogTarget, LookedUp, ReceiptLookup, Signed, Standing, Trouble, WrittenReceipt};
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

use super::audit::Cost;
use super::locally;

pub(super) fn audit(args: &AuditArgs, file: &Path) -> Result<ExitCode, CliError> {
    let receipts = read(file)?;
    let (log, client) = args.log.open()?;
    locally(look_up(args, receipts, log, client))
}

/// The receipts of a file, in order.
fn read(file: &Path) -> Result<Vec<WrittenReceipt>, CliError> {
    let named = |why: &dyn std::fmt::Display| CliError::plan(format!("read {}: {why}", file.display()));
    let lines = BufReader::new(File::open(file).map_err(|why| named(&why))?).lines();
    let mut receipts = Vec::new();
    for (number, line) in (1..).zip(lines) {
        let line = line.map_err(|why| named(&why))?;
        if !line.trim().is_empty() {
            let receipt = WrittenReceipt::parse(&line);
            receipts.push(receipt.map_err(|why| named(&format!("line {number}: failed to {why}")))?);
        }
    }
    match receipts.is_empty() {
        true => Err(named(&"it holds no receipt")),
        false => Ok(receipts),
    }
}

async fn look_up(
    args: &AuditArgs,
    receipts: Vec<WrittenReceipt>,
    log: Arc<LogTarget>,
    client: ClientConfig,
) -> Result<ExitCode, CliError> {
    let clock = MonotonicClock::starting_now();
    let mut lookup = ReceiptLookup::new(log, client, Rc::new(clock)).map_err(CliError::plan)?;
    let mut found = Found { receipts, head: None, looked_up: None, ended: None };
    let bar = bar(args, found.receipts.len());
    match lookup.head().await {
        Ok(head) => {
            let done = |done| bar.set_position(done);
            match lookup.look_up(&head, unix_millis(), &found.receipts, done).await {
                Ok(looked_up) => found.looked_up = Some(looked_up),
                Err(why) => found.ended = Some(why),
            }
            found.head = Some(head);
        }
        Err(why) => found.ended = Some(why),
    }
    bar.finish_and_clear();
    let cost =
        Cost { seconds: clock.now().as_secs_f64(), requests: lookup.requests(), bytes: lookup.bytes() };
    match args.json {
        true => print(io::stdout(), |out| writeln!(out, "{}", found.json(&cost)))?,
        false => print(io::stdout(), |out| out.write_all(found.text(&cost).as_bytes()))?,
    }
    Ok(found.exit_code())
}

fn bar(args: &AuditArgs, receipts: usize) -> ProgressBar {
    if args.json || args.quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:20} {human_pos} of {human_len} receipts");
    ProgressBar::new(receipts as u64).with_style(style.expect("a constant template is valid"))
}

/// What was found.
struct Found {
    receipts: Vec<WrittenReceipt>,
    head: Option<Head>,
    looked_up: Option<LookedUp>,
    /// What ended it before it was done.
    ended: Option<Trouble>,
}

/// How many promises stand how.
#[derive(Default)]
struct Counts {
    found: u64,
    pending: u64,
    unknown: u64,
    broken: BTreeMap<&'static str, u64>,
    verified: u64,
    bad: u64,
    unverified: u64,
}

impl Found {
    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for standing in self.looked_up.iter().flat_map(|looked_up| &looked_up.standing) {
            match standing {
                Standing::Found { .. } => counts.found += 1,
                Standing::Pending => counts.pending += 1,
                Standing::Unknown(_) => counts.unknown += 1,
                Standing::Broken { kind, .. } => *counts.broken.entry(kind).or_default() += 1,
            }
        }
        for signed in self.looked_up.iter().flat_map(|looked_up| &looked_up.signed) {
            match signed {
                Signed::Verified => counts.verified += 1,
                Signed::Bad(_) => counts.bad += 1,
                Signed::Unverified => counts.unverified += 1,
            }
        }
        counts
    }

    fn exit_code(&self) -> ExitCode {
        let counts = self.counts();
        ExitCode::Because(match &self.ended {
            Some(why) if why.breach_kind().is_some() => ReasonKind::PromiseBroken,
            Some(why) if self.head.is_none() && why.is_silence() => ReasonKind::NoAnswer,
            Some(_) => ReasonKind::NotBelievable,
            None if !counts.broken.is_empty() => ReasonKind::PromiseBroken,
            None if counts.pending + counts.unknown > 0 => ReasonKind::NotBelievable,
            None => return ExitCode::Clean,
        })
    }

    /// Each receipt that was not found, with how it stands and in which words.
    fn others(&self) -> impl Iterator<Item = (&WrittenReceipt, &str, &str)> {
        let standing = self.looked_up.iter().flat_map(|looked_up| &looked_up.standing);
        self.receipts.iter().zip(standing).filter_map(|(receipt, standing)| match standing {
            Standing::Found { .. } => None,
            Standing::Pending => Some((receipt, "pending", "no tree head covers it")),
            Standing::Unknown(why) => Some((receipt, "unknown", why.as_str())),
            Standing::Broken { kind, detail } => Some((receipt, *kind, detail.as_str())),
        })
    }

    fn json(&self, cost: &Cost) -> Value {
        let counts = self.counts();
        let head = self.head.as_ref().map(|head| {
            json!({
                "size": head.size,
                "root": head.root.to_string(),
                "timestamp_ms": head.timestamp_ms,
            })
        });
        let others = self.others().map(|(receipt, standing, detail)| {
            json!({
                "workload": receipt.workload,
                "seq": receipt.seq,
                "index": receipt.index,
                "reason": receipt.reason,
                "standing": standing,
                "detail": detail,
            })
        });
        json!({
            "schema": "hammer.ct-receipts/1",
            "exit_code": self.exit_code().number(),
            "head": head,
            "receipts": self.receipts.len(),
            "found": counts.found,
            "broken": counts.broken,
            "pending": counts.pending,
            "unknown": counts.unknown,
            "scts": { "verified": counts.verified, "bad": counts.bad, "unverified": counts.unverified },
            "not_found": others.collect::<Vec<Value>>(),
            "ended": self.ended.as_ref().map(|why| format!("failed to {why}")),
            "seconds": cost.seconds,
            "requests": cost.requests,
            "bytes": cost.bytes,
        })
    }

    fn text(&self, cost: &Cost) -> String {
        let (code, counts) = (self.exit_code().number(), self.counts());
        let verdict = if code == 0 { "PASS" } else { "FAIL" };
        let mut text = format!("{verdict}, exit {code}\n");
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<10} {value}");
        };
        if let Some(head) = &self.head {
            let (size, signed) = (grouped(head.size), rfc3339(head.timestamp_ms));
            line("head", format!("size {size}, root {}, signed {signed}", head.root));
        }
        let broken = counts.broken.values().sum();
        line(
            "receipts",
            format!(
                "{}: {} found, {} broken, {} still pending, {} unknown",
                grouped(self.receipts.len() as u64),
                grouped(counts.found),
                grouped(broken),
                grouped(counts.pending),
                grouped(counts.unknown)
            ),
        );
        line(
            "scts",
            format!(
                "{} verified with the log's key, {} bad, {} without an entry to verify them with",
                grouped(counts.verified),
                grouped(counts.bad),
                grouped(counts.unverified)
            ),
        );
        line("read", format!("{} requests, {}", grouped(cost.requests), bytes(cost.bytes)));
        for (receipt, standing, detail) in
            self.others().filter(|(_, standing, _)| *standing != "pending").take(SHOWN)
        {
            let name = if standing == "unknown" { "unknown" } else { "BROKEN" };
            let kind = if standing == "unknown" { String::new() } else { format!("{standing}: ") };
            line(name, format!("{} {}: {kind}{detail}", receipt.workload, receipt.seq));
        }
        let more = (broken + counts.unknown).saturating_sub(SHOWN as u64);
        if more > 0 {
            line("", format!("and {} more; --json names all", grouped(more)));
        }
        if let Some(why) = &self.ended {
            line("ended", format!("failed to {why}"));
        }
        text
    }
}

const SHOWN: usize = 20;
