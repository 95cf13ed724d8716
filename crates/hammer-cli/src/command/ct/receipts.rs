//! `hammer ct audit --receipts`: what became of the promises whose receipts a run left.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use hammer_core::clock::{MonotonicClock, unix_millis};
use hammer_ct::{LogTarget, LookedUp, ReceiptLookup, Signed, Standing, WrittenReceipt};
use hammer_net::ClientConfig;
use hammer_report::text::number::{grouped, plural};
use hammer_report::{ExitCode, ReasonKind};
use serde_json::{Value, json};

use crate::args::AuditArgs;
use crate::error::{CliError, TargetError, UsageError};
use crate::protocol::registry::Registry;

use super::inspection::{Cost, Findings, Inspection, progress};
use super::locally::{locally, or_signal};
use super::mismatch;

pub(super) fn audit(args: &AuditArgs, file: &Path, registry: &Registry) -> Result<ExitCode, CliError> {
    let receipts = read(file)?;
    let (log, client) = args.log.open(registry)?;
    locally(or_signal(look_up(args, receipts, log, client)))?.print(args.json)
}

/// The receipts of a file, in order.
fn read(path: &Path) -> Result<Vec<WrittenReceipt>, UsageError> {
    let unreadable = |source| UsageError::FlaggedFile { flag: "--receipts", path: path.to_owned(), source };
    let lines = BufReader::new(File::open(path).map_err(unreadable)?).lines();
    let mut receipts = Vec::new();
    for (number, line) in (1..).zip(lines) {
        let line = line.map_err(unreadable)?;
        if !line.trim().is_empty() {
            let refused = |source| UsageError::Receipt { path: path.to_owned(), line: number, source };
            receipts.push(WrittenReceipt::parse(&line).map_err(refused)?);
        }
    }
    match receipts.is_empty() {
        true => Err(UsageError::NoReceipt(path.to_owned())),
        false => Ok(receipts),
    }
}

async fn look_up(
    args: &AuditArgs,
    receipts: Vec<WrittenReceipt>,
    log: Arc<LogTarget>,
    client: ClientConfig,
) -> Result<Inspection<LookedUpReceipts>, CliError> {
    let (clock, epoch_unix_ms) = (MonotonicClock::starting_now(), unix_millis());
    let mut lookup =
        ReceiptLookup::new(log.clone(), client.clone(), Rc::new(clock)).map_err(TargetError::from)?;
    let bar = progress(args, receipts.len() as u64, "{bar:20} {human_pos} of {human_len} receipts");
    // What it does not cover may have come since.
    let asked_unix_ms = unix_millis();
    let head = lookup.head().await;
    let hint = if head.is_err() { mismatch::hint(&log, client).await } else { None };
    let found = match &head {
        Ok(head) => Some(lookup.look_up(head, asked_unix_ms, &receipts, |done| bar.set_position(done)).await),
        Err(_) => None,
    };
    bar.finish_and_clear();
    let cost = Cost::of(&clock, lookup.requests(), lookup.bytes());
    let standing = |found| LookedUpReceipts::new(receipts, found);
    let inspection = Inspection::new(args.log.place(), (head, hint), found, standing, cost);
    Ok(inspection.dated(epoch_unix_ms, log.skew))
}

/// The receipts, and how they stand; all are unknown where they could not be looked up.
struct LookedUpReceipts {
    receipts: Vec<WrittenReceipt>,
    looked_up: LookedUp,
    was_looked_up: bool,
    counts: Counts,
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

impl LookedUpReceipts {
    fn new(receipts: Vec<WrittenReceipt>, looked_up: Option<LookedUp>) -> Self {
        // Without a head of the log nothing is known of any of them.
        let was_looked_up = looked_up.is_some();
        let looked_up = looked_up.unwrap_or_else(|| LookedUp {
            standing: receipts.iter().map(|_| Standing::Unknown(NO_HEAD.to_owned())).collect(),
            signed: receipts.iter().map(|_| Signed::Unverified).collect(),
        });
        let counts = Counts::of(&looked_up);
        Self { receipts, looked_up, was_looked_up, counts }
    }

    /// Each receipt that was not found, with how it stands and in which words.
    fn others(&self) -> impl Iterator<Item = (&WrittenReceipt, &str, &str)> {
        self.receipts.iter().zip(&self.looked_up.standing).filter_map(|(receipt, standing)| match standing {
            Standing::Found { .. } => None,
            Standing::Pending => Some((receipt, PENDING, "no tree head covers it")),
            Standing::Unknown(why) => Some((receipt, UNKNOWN, why.as_str())),
            Standing::Broken { kind, detail } => Some((receipt, *kind, detail.as_str())),
        })
    }
}

impl Counts {
    fn of(looked_up: &LookedUp) -> Self {
        let mut counts = Self::default();
        for standing in &looked_up.standing {
            match standing {
                Standing::Found { .. } => counts.found += 1,
                Standing::Pending => counts.pending += 1,
                Standing::Unknown(_) => counts.unknown += 1,
                Standing::Broken { kind, .. } => *counts.broken.entry(kind).or_default() += 1,
            }
        }
        for signed in &looked_up.signed {
            match signed {
                Signed::Verified => counts.verified += 1,
                Signed::Bad(_) => counts.bad += 1,
                Signed::Unverified => counts.unverified += 1,
            }
        }
        counts
    }

    fn broken(&self) -> u64 {
        self.broken.values().sum()
    }
}

impl Findings for LookedUpReceipts {
    const SCHEMA: &'static str = "hammer.ct-receipts/1";
    const NAMED_IN_JSON: &'static str = "all";

    fn reason(&self) -> Option<ReasonKind> {
        let broken = (self.counts.broken() > 0).then_some(ReasonKind::PromiseBroken);
        let untold = self.counts.pending + self.counts.unknown > 0;
        broken.or(untold.then_some(ReasonKind::NotBelievable))
    }

    fn lines(&self, _cost: &Cost) -> Vec<(&'static str, String)> {
        let Counts { found, pending, unknown, verified, bad, unverified, .. } = &self.counts;
        let [found, broken, pending, unknown] =
            [*found, self.counts.broken(), *pending, *unknown].map(grouped);
        let [verified, bad, unverified] = [*verified, *bad, *unverified].map(grouped);
        let all = grouped(self.receipts.len() as u64);
        vec![
            (
                "receipts",
                format!("{all}: {found} found, {broken} broken, {pending} still pending, {unknown} unknown"),
            ),
            (
                "scts",
                format!(
                    "{verified} verified with the log's key, {bad} bad, {unverified} without an entry to verify them with"
                ),
            ),
        ]
    }

    fn unsettled(&self) -> Option<String> {
        let pending = self.counts.pending;
        (pending > 0).then(|| format!("{} still pending", plural(pending, "receipt")))
    }

    fn faults(&self, most: usize) -> (Vec<(&'static str, String)>, u64) {
        let others = self.others().filter(|(_, standing, _)| *standing != PENDING);
        let fault = |(receipt, standing, detail): (&WrittenReceipt, &str, &str)| {
            let submission = format!("{} {}", receipt.workload, receipt.seq);
            match standing {
                UNKNOWN => (UNKNOWN, format!("{submission}: {detail}")),
                kind => ("BROKEN", format!("{submission}: {kind}: {detail}")),
            }
        };
        // That no head was read is said once, as what ended it.
        let most = if self.was_looked_up { most } else { 0 };
        let in_all = if self.was_looked_up { self.counts.broken() + self.counts.unknown } else { 0 };
        (others.take(most).map(fault).collect(), in_all)
    }

    fn json(&self, of_head: Vec<(&str, String)>, _cost: &Cost) -> Value {
        let Counts { found, pending, unknown, broken, verified, bad, unverified } = &self.counts;
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
            "receipts": self.receipts.len(),
            "found": found,
            "broken": broken,
            "flaws": of_head.iter().map(|(kind, detail)| json!({ "kind": kind, "detail": detail })).collect::<Vec<_>>(),
            "pending": pending,
            "unknown": unknown,
            "scts": { "verified": verified, "bad": bad, "unverified": unverified },
            "not_found": others.collect::<Vec<Value>>(),
        })
    }
}

const NO_HEAD: &str = "no tree head of the log was read";
const PENDING: &str = "pending";
const UNKNOWN: &str = "unknown";
