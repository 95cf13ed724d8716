use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use hammer_core::observe::ObservationSink;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_measure::promise::Breach;
use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::logs::audit::{AuditBounds, EntryAudit, Finding, Receipt, Verdict, bundles};
use hammer_tlog::logs::follow::{By, Event, Follower};

use super::entries::Entries;
use super::figures::Figures;
use super::link::{self, Lane};
use super::prove::prove;
use super::readable::Readable;
use super::reader::Reader;
use super::receipts::{self, ReceiptFile};
use super::spill::Folder;
use super::stale::Stale;
use super::tiles::Tiles;
use super::trouble::Trouble;
use super::unnamed::Unnamed;
use super::{Auditor, LOG_FORKED, evidence, words};
use crate::log::LogKind;

/// An audit that goes on: looks at the log, one after another.
pub(super) struct Look {
    name: String,
    epoch_unix_ms: u64,
    folder: PathBuf,
    reader: Reader,
    follower: Follower,
    audit: Audit,
    receipts: Receiver<Receipt>,
    lanes: Vec<Lane>,
    file: Arc<ReceiptFile>,
    most_spilled: u64,
    stale: Stale,
    /// The signatures beside the log's own, as they were told last.
    cosigners: Vec<String>,
    figures: Figures,
    unnamed: Unnamed,
    /// How the log has contradicted itself up to now.
    contradicted: Vec<&'static str>,
    /// Looks in a row that showed no head which continues the tree.
    astray: u32,
    /// Whether what is pending stays so.
    is_over: bool,
    /// The cause of the last look's trouble, which is told once.
    trouble: Option<String>,
    /// Looks in a row that ended in trouble at one server.
    troubled: u32,
    readable: Readable,
    sink: ObservationSink,
    clock: Rc<dyn Clock>,
}

enum Audit {
    Tiles(Box<Tiles>),
    Entries(Box<Entries>),
}

impl Look {
    pub(super) fn new(auditor: Auditor, reader: Reader, sink: ObservationSink, clock: Rc<dyn Clock>) -> Self {
        let Auditor { name, log, epoch_unix_ms, every, folder, in_memory, receipts, lanes, file, .. } =
            auditor;
        let bounds = AuditBounds { receipts: in_memory, ..AuditBounds::default() };
        let (id, process) = (log.key.log_id(), std::process::id());
        let spilled = std::env::temp_dir().join(format!("hammer-{epoch_unix_ms}-receipts-{process}-{id}"));
        let (audit, by) = match log.kind {
            LogKind::StaticCt => {
                (Audit::Tiles(Box::new(Tiles::new(bounds, Folder::at(spilled)))), By::Leaves)
            }
            LogKind::Rfc6962 => (Audit::Entries(Box::new(Entries::new(bounds, spilled))), By::Proofs),
        };
        let (follower, figures, unnamed, trouble) =
            (Follower::new(by, bundles::<StaticCtLeaves>()), Figures::default(), Unnamed::default(), None);
        Self {
            name,
            epoch_unix_ms,
            folder,
            reader,
            follower,
            audit,
            receipts,
            lanes,
            file,
            most_spilled: 0,
            stale: Stale::default(),
            cosigners: Vec::new(),
            figures,
            unnamed,
            contradicted: Vec::new(),
            astray: 0,
            is_over: false,
            trouble,
            troubled: 0,
            readable: Readable::new(every.into()),
            sink,
            clock,
        }
    }

    /// Looks at the tree head and whatever follows from it.
    pub(super) async fn look(&mut self) {
        let begun = self.clock.now();
        let went = self.go().await;
        let now = self.clock.now();
        self.readable.looked(begun, now, &went);
        match &went {
            Ok(()) => {
                if self.trouble.take().is_some() {
                    self.sink.note(now, format!("{}: the audit goes on", self.name));
                }
            }
            Err(why) if why.breach_kind().is_some() => {
                self.breach(why.breach_kind().unwrap_or_default(), None, format!("failed to {why}"));
            }
            Err(why) => self.trouble(why),
        }
        self.pass_over(went.is_ok());
        self.tell();
        self.over(went.is_ok());
        self.cosigned(now);
        self.figures.observe(&self.reader, now, &self.sink);
    }

    /// Goes on to the log's next server where one is of no use for several looks.
    fn pass_over(&mut self, is_well: bool) {
        self.troubled = if is_well { 0 } else { self.troubled.saturating_add(1) };
        let is_due = !is_well && self.troubled.is_multiple_of(MOST_TROUBLED);
        if is_due && self.reader.pass_over() && self.troubled == MOST_TROUBLED {
            self.sink.note(self.clock.now(), format!("{}: the audit goes on at the next URL", self.name));
        }
    }

    /// Tries what the log refuses again until then, and not later.
    pub(super) fn ends(&self, until: Nanos) {
        self.reader.ends(until);
    }

    async fn go(&mut self) -> Result<(), Trouble> {
        // A head that does not come holds up no receipt of a leaf that an earlier one covers.
        let head = self.reader.head().await;
        let fetched_ns = head.as_ref().ok().map(|head| head.fetched_ns);
        let stale = self.stale.told();
        let head = head.inspect(|head| {
            if !self.follower.trusted().is_some_and(|trusted| head.precedes(trusted)) {
                self.sink.observed("tree_size", self.clock.now(), head.size as f64);
            }
            self.follower.head(head.clone());
        });
        let proved = prove(&mut self.reader, &mut self.follower).await;
        if let Ok(head) = &head {
            let continues = self.follower.trusted().is_some_and(|trusted| trusted.same_tree(head));
            self.astray = if continues { 0 } else { self.astray.saturating_add(1) };
        }
        self.events();
        let (receipts, now) = (&self.receipts, self.clock.now());
        let accepted = || receipts.try_iter().collect();
        let read = match &mut self.audit {
            Audit::Tiles(tiles) => {
                receipts.try_iter().for_each(|receipt| tiles.audit.accept(receipt));
                tiles.read(&mut self.reader, now, accepted).await
            }
            Audit::Entries(entries) => entries.read(&mut self.reader, accepted).await,
        };
        head.and(proved).and(read)?;
        if let Some(fetched_ns) = fetched_ns
            && self.follower.behind() == 0
            // A head of long ago does not say what the tree lacks now.
            && self.stale.told() == stale
        {
            self.overdue(self.epoch_unix_ms + fetched_ns / 1_000_000);
        }
        Ok(())
    }

    fn events(&mut self) {
        for event in self.follower.events() {
            match &mut self.audit {
                Audit::Tiles(tiles) => tiles.follow(&event),
                Audit::Entries(entries) => entries.follow(&event),
            }
            if let Event::Stale { head, newest } = &event {
                self.stale.tell(&self.name, head, newest, self.clock.now(), &self.sink);
            }
            let Some((kind, index, detail)) = words::event(&event) else { continue };
            match &event {
                // What a log signs once it has contradicted itself says nothing new.
                Event::Forked { .. } | Event::Shrank { .. } if self.contradicted.contains(&kind) => {}
                Event::Forked { older, newer, .. } | Event::Shrank { older, newer } => {
                    self.contradicted.push(kind);
                    let saved = evidence::save(&self.folder, self.epoch_unix_ms, [older, newer]);
                    let saved = match saved {
                        Ok([older, newer]) => {
                            format!("saved as {} and {}", older.display(), newer.display())
                        }
                        Err(why) => format!("not saved in {}: {why}", self.folder.display()),
                    };
                    self.breach(kind, index, format!("{detail}; {saved}"));
                    self.sink.observed(LOG_FORKED, self.clock.now(), 1.0);
                }
                _ => self.wrong(kind, index, detail),
            }
        }
    }

    /// Whether what is pending will ever be judged: not where a log that contradicted itself goes on to serve what does not
    /// continue its tree, and all that lies in that tree was read.
    fn over(&mut self, is_read: bool) {
        let was_over = self.is_over;
        self.is_over = match is_read {
            true => !self.contradicted.is_empty() && self.astray > 1,
            false => was_over && self.astray > 0,
        };
        if self.is_over && !was_over {
            let text = "what is pending cannot be judged any more, since no head continues the tree";
            self.sink.note(self.clock.now(), format!("{}: {text}", self.name));
        }
        self.lanes.iter().for_each(|lane| lane.over(self.is_over));
    }

    fn overdue(&mut self, observed_ms: u64) {
        match &mut self.audit {
            Audit::Tiles(tiles) => tiles.audit.overdue(observed_ms),
            Audit::Entries(entries) => {
                if let Some(audit) = &mut entries.audit {
                    audit.overdue(observed_ms);
                }
            }
        }
    }

    /// Hands out the verdicts, and tells what was found.
    fn tell(&mut self) {
        let (verdicts, findings, pending) = match &mut self.audit {
            Audit::Tiles(tiles) => (tiles.audit.verdicts(), tiles.audit.findings(), tiles.audit.pending()),
            Audit::Entries(entries) => {
                let (verdicts, findings): (Vec<Verdict>, Vec<Finding>) = entries
                    .audit
                    .as_mut()
                    .map(|audit| (audit.verdicts(), audit.findings()))
                    .unwrap_or_default();
                (verdicts, findings, entries.pending())
            }
        };
        for finding in &findings {
            match finding {
                Finding::Unspilled { receipts, error } => self.sink.note(
                    self.clock.now(),
                    format!("{}: {receipts} receipts are lost, failed to spill them: {error}", self.name),
                ),
                finding => {
                    if let Some((kind, index, detail)) = words::finding(finding) {
                        self.wrong(kind, index, detail);
                    }
                }
            }
        }
        let spilled = match &self.audit {
            Audit::Tiles(tiles) => tiles.audit.spilled(),
            Audit::Entries(entries) => entries.audit.as_ref().map_or(0, EntryAudit::spilled),
        };
        let now = self.clock.now();
        for verdict in &verdicts {
            self.figures.add(verdict, now, self.epoch_unix_ms);
            link::tell(&self.lanes, &self.file, verdict);
            if let Verdict::Broken(breach) = verdict {
                self.unnamed.named(words::kind(&breach.kind), breach.receipt.index());
            }
        }
        self.unnamed(UNNAMED);
        self.most_spilled = self.most_spilled.max(spilled);
        self.sink.observed("audit_spilled_max", self.clock.now(), self.most_spilled as f64);
        self.sink.observed("audit_pending", self.clock.now(), pending as f64);
    }

    /// What is served wrong to everyone: at once, unless a verdict may yet name it with its submission.
    fn wrong(&mut self, kind: &'static str, index: Option<u64>, detail: String) {
        match index {
            Some(index) => self.unnamed.push(self.clock.now(), kind, index, detail),
            None => self.breach(kind, index, detail),
        }
    }

    /// Tells what no verdict has named for so long.
    fn unnamed(&mut self, patience: Nanos) {
        let now = self.clock.now();
        for (kind, index, detail) in self.unnamed.older(now, patience) {
            self.breach(kind, Some(index), detail);
        }
    }

    /// Tells what was held back for a verdict, when none will come any more.
    pub(super) fn end(mut self, in_time: bool) {
        if !in_time {
            self.readable.failed("end the last look in time".to_owned());
        }
        let late: Vec<Receipt> = self.receipts.try_iter().collect();
        match &mut self.audit {
            Audit::Tiles(tiles) => late.into_iter().for_each(|receipt| tiles.audit.accept(receipt)),
            Audit::Entries(entries) => late.into_iter().for_each(|receipt| entries.accept(receipt)),
        }
        self.tell();
        self.unnamed(Nanos::ZERO);
        self.without_verdict();
        let now = self.clock.now();
        let said = [self.figures.answers(), self.file.told()];
        said.into_iter().flatten().for_each(|text| self.sink.note(now, format!("{}: {text}", self.name)));
    }

    /// Writes the receipts that have no verdict, and says which of them are unchecked: those that nobody looked for while the
    /// log could be read, and those in files, which are not told apart.
    fn without_verdict(&self) {
        let (held, all): (Vec<&Receipt>, u64) = match &self.audit {
            Audit::Tiles(tiles) => (tiles.audit.receipts().collect(), tiles.audit.pending()),
            Audit::Entries(entries) => (entries.receipts().collect(), entries.pending()),
        };
        let unheld = all.saturating_sub(held.len() as u64);
        // Of a log that contradicted itself it is known why there is no verdict.
        let Some(why) = self.readable.why_not().filter(|_| self.contradicted.is_empty()) else {
            return self.write(&held, unheld, receipts::PENDING);
        };
        let now = self.clock.now();
        let (pending, unchecked): (Vec<&Receipt>, Vec<&Receipt>) =
            held.into_iter().partition(|receipt| self.readable.covers(receipt.received_ns, now));
        let mut by_lane = vec![0; self.lanes.len()];
        for receipt in &pending {
            by_lane[link::number(receipt)] += 1;
        }
        self.lanes.iter().zip(by_lane).for_each(|(lane, pending)| lane.unchecked_but(pending));
        self.write(&pending, 0, receipts::PENDING);
        self.write(&unchecked, unheld, receipts::UNCHECKED);
        let (name, place, count) = (&self.name, self.reader.place(), unchecked.len() as u64 + unheld);
        if count > 0 {
            let text =
                format!("{name}: {count} promises are unchecked, since {place} could not be read: {why}");
            self.sink.note(now, text);
        }
    }

    /// Writes so many as are written of a reason; `unheld` are not in memory.
    fn write(&self, receipts: &[&Receipt], unheld: u64, reason: &str) {
        let most = receipts.len().min(receipts::MOST as usize);
        for receipt in &receipts[..most] {
            self.file.receipt(link::workload(&self.lanes, receipt), reason, "", receipt);
        }
        self.file.left_out(reason, unheld + (receipts.len() - most) as u64);
    }

    /// Tells who else signs the checkpoints, once and when that changes. Their keys are not known, so nothing is verified.
    fn cosigned(&mut self, now: Nanos) {
        if self.reader.cosigners == self.cosigners {
            return;
        }
        self.cosigners.clone_from(&self.reader.cosigners);
        self.sink.observed("cosignatures", now, self.cosigners.len() as f64);
        let text = match self.cosigners.as_slice() {
            [] => "checkpoints carry the log's own signature alone".to_owned(),
            cosigners => format!(
                "checkpoints carry {} more signatures, which are not verified: {}",
                cosigners.len(),
                cosigners.join(", ")
            ),
        };
        self.sink.note(now, format!("{}: {text}", self.name));
    }

    fn breach(&self, kind: &str, index: Option<u64>, detail: String) {
        let (workload, kind) = (self.name.clone(), kind.to_owned());
        let breach = Breach { workload, seq: None, kind, index, detail };
        self.sink.breach(self.clock.now(), breach);
    }

    /// Tells a trouble, but not again the same of another path.
    fn trouble(&mut self, why: &Trouble) {
        let cause = why.cause();
        if self.trouble.as_ref() != Some(&cause) {
            let text = format!("{}: the audit does not get on: failed to {why}", self.name);
            self.sink.note(self.clock.now(), text);
            self.trouble = Some(cause);
        }
    }
}

/// Looks in trouble before the next server is tried.
const MOST_TROUBLED: u32 = 3;
/// How long what is wrong with an entry waits for the receipt of its submission.
const UNNAMED: Nanos = Nanos::from_secs(10);
