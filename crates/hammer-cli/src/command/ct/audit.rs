//! `hammer ct audit`: what a log holds, verified afterwards.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_ct::{LogKind, LogSweep, LogTarget, Swept};
use hammer_net::ClientConfig;
use hammer_report::text::number::grouped;
use hammer_report::{ExitCode, ReasonKind};
use serde_json::{Value, json};

use crate::args::AuditArgs;
use crate::error::{CliError, TargetError, UsageError};
use crate::protocol::registry::Registry;

use super::inspection::{Cost, Findings, Inspection, progress};
use super::locally::{locally, or_signal};
use super::mismatch;
use super::receipts;

pub(super) fn audit(args: &AuditArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    if let Some(file) = &args.receipts {
        return receipts::audit(args, file, registry);
    }
    if let Some(to) = args.to.filter(|to| *to <= args.from) {
        return Err(UsageError::Range { from: args.from, to }.into());
    }
    let (log, client) = args.log.open(registry)?;
    locally(or_signal(verify(args, log, client)))?.print(args.json)
}

async fn verify(
    args: &AuditArgs,
    log: Arc<LogTarget>,
    client: ClientConfig,
) -> Result<Inspection<SweptEntries>, CliError> {
    let (clock, epoch_unix_ms) = (MonotonicClock::starting_now(), unix_millis());
    let kind = log.kind;
    let mut sweep = LogSweep::new(log.clone(), client.clone(), Rc::new(clock)).map_err(TargetError::from)?;
    let head = sweep.head().await;
    let hint = if head.is_err() { mismatch::hint(&log, client).await } else { None };
    let swept = match &head {
        Ok(head) if args.from > head.size => {
            return Err(UsageError::BeyondTree { from: args.from, size: head.size }.into());
        }
        Ok(head) => {
            let length = args.to.unwrap_or(head.size).min(head.size).saturating_sub(args.from);
            let bar = progress(args, length, "{bar:20} {human_pos} of {human_len} entries, {per_sec}");
            let range = args.from..args.to.unwrap_or(u64::MAX);
            let swept = sweep.leaves(head, range, |read| bar.set_position(read)).await;
            bar.finish_and_clear();
            Some(swept)
        }
        Err(_) => None,
    };
    let cost = Cost::of(&clock, sweep.requests(), sweep.bytes());
    let entries = |swept| SweptEntries { kind, to: args.to, swept };
    Ok(Inspection::new(args.log.place(), (head, hint), swept, entries, cost).dated(epoch_unix_ms, log.skew))
}

/// What the entries of the log are; nothing where not all could be read.
struct SweptEntries {
    kind: LogKind,
    /// The entry before which it was asked to stop.
    to: Option<u64>,
    swept: Option<Swept>,
}

impl Findings for SweptEntries {
    const SCHEMA: &'static str = "hammer.ct-audit/1";
    const NAMED_IN_JSON: &'static str = "up to 1,000";

    fn reason(&self) -> Option<ReasonKind> {
        let swept = self.swept.as_ref()?;
        (swept.flawed > 0).then_some(ReasonKind::PromiseBroken)
    }

    fn lines(&self, cost: &Cost) -> Vec<(&'static str, String)> {
        let Some(swept) = &self.swept else { return Vec::new() };
        let (entries, rate) = rate(&swept.leaves, cost);
        let (first, end) = (grouped(swept.leaves.start), grouped(swept.leaves.end));
        let cut = self.to.filter(|to| *to > swept.leaves.end);
        let cut =
            cut.map(|to| ("note", format!("the tree ends at {end}, before the {} of --to", grouped(to))));
        let read = match (swept.is_proved, swept.flawed) {
            (true, 0) => format!("{} read, from {first} to {end}; they lead to the root", grouped(entries)),
            // The tree's hashes can lead there where entries cannot.
            (true, _) => format!("from {first} to {end}, but for what is broken; the tree leads to the root"),
            (false, _) => format!("from {first} to {end}; THEY DO NOT LEAD to the root"),
        };
        let took = format!("{:.2}s, {} entries/s", cost.seconds, grouped(rate as u64));
        let issuers = || ("issuers", format!("{} served", grouped(swept.issuers)));
        let issuers = (self.kind == LogKind::StaticCt).then(issuers);
        let mut chains = format!("{} issued from certificate to certificate", grouped(swept.chains));
        for (why, unverified) in &swept.unverified_chains {
            let _ = write!(chains, "; {} not verified, since {why}", grouped(*unverified));
        }
        let chains = [("chains", chains), ("took", took)];
        [("entries", read)].into_iter().chain(issuers).chain(chains).chain(cut).collect()
    }

    fn faults(&self, most: usize) -> (Vec<(&'static str, String)>, u64) {
        let Some(swept) = &self.swept else { return (Vec::new(), 0) };
        let fault = |(kind, _, detail): &(&str, _, String)| ("BROKEN", format!("{kind}: {detail}"));
        (swept.flaws.iter().take(most).map(fault).collect(), swept.flawed)
    }

    fn json(&self, broken: Vec<(&str, String)>, cost: &Cost) -> Value {
        let read = self.swept.as_ref().map(|swept| {
            let (entries, rate) = rate(&swept.leaves, cost);
            json!({
                "from": swept.leaves.start,
                "to": swept.leaves.end,
                "entries": entries,
                "entries_per_second": rate,
                "is_proved": swept.is_proved,
                "issuers": swept.issuers,
                "chains": {
                    "verified": swept.chains,
                    "unverified": swept.unverified_chains.iter().copied().collect::<BTreeMap<_, _>>(),
                },
            })
        });
        let of_head = broken.len() as u64;
        let swept = self.swept.iter().flat_map(|swept| swept.flaws.iter().cloned());
        let broken = broken.into_iter().map(|(kind, detail)| (kind, None, detail));
        let flaw = |(kind, index, detail): (&str, Option<u64>, String)| json!({ "kind": kind, "index": index, "detail": detail });
        let flaws: Vec<Value> = broken.chain(swept).map(flaw).collect();
        let flawed = of_head + self.swept.as_ref().map_or(0, |swept| swept.flawed);
        json!({ "read": read, "flaws": flaws, "flawed": flawed })
    }
}

/// How many entries there are, and how many that is in a second.
fn rate(leaves: &Range<u64>, cost: &Cost) -> (u64, f64) {
    let entries = leaves.end - leaves.start;
    (entries, entries as f64 / cost.seconds)
}
