//! The heads of a log beside each other and beside the clock.

use std::path::PathBuf;
use std::time::Duration;

use hammer_measure::Nanos;
use hammer_tlog::logs::audit::{Kept, ReceiptClock};
use hammer_tlog::logs::follow::{Event, Head};

use super::voice::AuditVoice;
use crate::head_dates::{HeadDates, MisdatedHead};
use crate::head_files::{save_heads, save_newer};
use crate::messages::{LOG_FORKED, OLD_CHECKPOINT, SHRINKING_TREE, event_words};
use crate::source::Cosigner;
use crate::stale_heads::StaleHeads;

/// What the heads of a log have shown.
pub(super) struct HeadWatch {
    folder: PathBuf,
    dates: HeadDates,
    /// The head that was served last, to be shown for what it covers.
    latest: Option<Head>,
    stale: StaleHeads,
    /// Whose signatures stood beside the log's own, as it was told.
    cosigners: Vec<Vec<String>>,
    /// How the log has contradicted itself up to now.
    contradicted: Vec<&'static str>,
    /// Rounds in a row that showed no head which continues the tree.
    astray: u32,
    /// Whether what is pending stays so.
    is_over: bool,
    /// Since when nothing of that was judged without load, of a log that contradicted itself.
    idle_since: Option<Nanos>,
    /// Since when a smaller head is served than the one that the log had signed before.
    behind: Option<(Nanos, Head)>,
    /// Whether the log has taken entries since it is followed.
    is_live: bool,
    /// Whether a head was told to be too old.
    was_old: bool,
    /// Whether a log that contradicts itself is observed to, which ends a run.
    ends_runs: bool,
}

impl HeadWatch {
    /// Heads that contradict each other are saved in that folder.
    pub(super) fn new(folder: PathBuf, clock: ReceiptClock, ends_runs: bool) -> Self {
        let (stale, contradicted) = Default::default();
        // Of a log that signs alone there is nothing to say.
        let cosigners = vec![Vec::new()];
        let (astray, is_over, idle_since, behind) = (0, false, None, None);
        let (latest, is_live, was_old) = (None, false, false);
        Self {
            folder,
            dates: HeadDates::new(clock),
            latest,
            stale,
            cosigners,
            contradicted,
            astray,
            is_over,
            idle_since,
            behind,
            is_live,
            was_old,
            ends_runs,
        }
    }

    /// Takes a head that is served, and the newest one of its tree: tells the first that is dated in the future, and the first that is dated
    /// before a smaller one, and saves both.
    pub(super) fn dated(&mut self, head: &Head, newest: Option<&Head>, voice: &AuditVoice) {
        self.latest = Some(head.clone());
        for MisdatedHead { kind, detail, smaller } in self.dates.dated(head, newest) {
            let saved = self.saved(smaller.as_ref().or(newest), head);
            voice.breach(kind, None, format!("{detail}; {saved}"));
        }
    }

    /// Takes a promise that was found kept: tells the first head that is dated before what it covers, and saves it where it is the latest.
    pub(super) fn covers(&mut self, kept: &Kept, voice: &AuditVoice) {
        let Some(MisdatedHead { kind, detail, .. }) = self.dates.covers(kept) else { return };
        let is_it = |head: &&Head| {
            kept.published.is_some_and(|it| (it.size, it.timestamp_ms) == (head.size, head.timestamp_ms))
        };
        let saved = self.latest.as_ref().filter(is_it).map(|head| self.saved(None, head));
        let saved = saved.map(|saved| format!("; {saved}")).unwrap_or_default();
        voice.breach(kind, None, format!("{detail}{saved}"));
    }

    /// How many leaves the tree had whose head was served last.
    pub(super) fn served(&self) -> u64 {
        self.latest.as_ref().map_or(0, |latest| latest.size)
    }

    /// Takes that the log takes entries, so that it has to sign.
    pub(super) fn lives(&mut self) {
        self.is_live = true;
    }

    /// Whether a head that was asked for then, in milliseconds since 1970, is older than the log may have as its newest. The times of a log that
    /// dates its heads back, as was told, say nothing more.
    pub(super) fn is_too_old(&self, head: &Head, most: Duration, asked_ms: u64) -> bool {
        let earliest_ms = asked_ms.saturating_sub(most.as_millis() as u64);
        let is_judged = self.is_live && !self.was_old && !self.dates.was_back();
        is_judged && self.dates.is_before(head.timestamp_ms, earliest_ms)
    }

    /// Tells that the newest head that the log has anywhere is too old.
    pub(super) fn too_old(&mut self, head: &Head, asked_ms: u64, voice: &AuditVoice) {
        self.was_old = true;
        let age_s = asked_ms.saturating_sub(head.timestamp_ms) / 1000;
        let saved = self.saved(None, head);
        voice.breach(OLD_CHECKPOINT, None, format!("the newest head, of {head}, is {age_s} s old; {saved}"));
    }

    /// Where both heads are saved.
    fn saved(&self, older: Option<&Head>, newer: &Head) -> String {
        match save_newer(&self.folder, self.dates.clock().epoch_unix_ms, older, newer) {
            Ok(paths) => {
                let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
                format!("saved as {}", paths.join(" and "))
            }
            Err(why) => format!("not saved in {}: {why}", self.folder.display()),
        }
    }

    /// How many heads were of an earlier state of the tree.
    pub(super) fn stale(&self) -> u64 {
        self.stale.told()
    }

    pub(super) fn was_stale(&mut self, head: &Head, newest: &Head, voice: &AuditVoice) {
        self.stale.tell(voice.name(), head, newest, voice.now(), voice.sink());
    }

    /// Takes the head that is served, and the largest one that the log signed before: says how long the log lags behind that, and tells
    /// that its tree shrank where that is longer than `most`.
    pub(super) fn lags(&mut self, head: &Head, largest: &Head, most: Duration, voice: &AuditVoice) {
        let now = voice.now();
        let Some((since, signed)) = self.behind.take().filter(|(_, signed)| head.size < signed.size) else {
            if head.size < largest.size {
                self.behind = Some((now, largest.clone()));
            }
            return;
        };
        let lag = now.since(since);
        if lag > Nanos::from(most) {
            let detail = format!(
                "it shrank: it had {signed}, and {:.1} s later it still has {head}",
                lag.as_secs_f64()
            );
            self.contradicted(SHRINKING_TREE, None, &detail, &[signed.clone(), head.clone()], voice);
        }
        self.behind = Some((since, signed));
    }

    /// Forgets that the log lagged behind: its tree is another one.
    pub(super) fn turned(&mut self) {
        self.behind = None;
    }

    /// Whether the head of this round continues the tree.
    pub(super) fn continued(&mut self, continues: bool) {
        self.astray = if continues { 0 } else { self.astray.saturating_add(1) };
    }

    pub(super) fn has_contradicted(&self) -> bool {
        !self.contradicted.is_empty()
    }

    /// Tells what an event shows.
    pub(super) fn told(&mut self, event: &Event, voice: &mut AuditVoice) {
        let Some((kind, index, detail)) = event_words(event) else { return };
        match event {
            Event::Forked { older, newer, .. } | Event::Shrank { older, newer } => {
                self.contradicted(kind, index, &detail, &[older.clone(), newer.clone()], voice);
            }
            // No proof of such a log can hold.
            Event::BadProof { .. } if self.has_contradicted() => {}
            Event::BadProof { .. } => voice.doubted(kind, detail),
            _ => voice.wrong(kind, index, detail),
        }
    }

    /// Tells that two heads contradict each other, and saves them. What a log signs once it has contradicted itself so says
    /// nothing new.
    pub(super) fn contradicted(
        &mut self,
        kind: &'static str,
        index: Option<u64>,
        detail: &str,
        heads: &[Head; 2],
        voice: &AuditVoice,
    ) {
        if self.contradicted.contains(&kind) {
            return;
        }
        self.contradicted.push(kind);
        let saved = match save_heads(&self.folder, self.dates.clock().epoch_unix_ms, heads) {
            Ok([older, newer]) => format!("saved as {} and {}", older.display(), newer.display()),
            Err(why) => format!("not saved in {}: {why}", self.folder.display()),
        };
        voice.breach(kind, index, format!("{detail}; {saved}"));
        if self.ends_runs {
            voice.observed(LOG_FORKED, 1.0);
        }
    }

    /// Whether what is pending will never be judged.
    pub(super) fn is_over(&self, now: Nanos) -> bool {
        self.is_over || self.idle_since.is_some_and(|since| now.since(since) >= IDLE)
    }

    /// Takes whether a round without load judged anything: a log that contradicted itself may go on with either of its trees, and what is pending
    /// be of the other one.
    pub(super) fn judged(&mut self, has_judged: bool, voice: &AuditVoice) {
        let is_idle = self.has_contradicted() && voice.is_judging() && !has_judged;
        self.idle_since = is_idle.then(|| self.idle_since.unwrap_or(voice.now()));
    }

    /// Finds out whether what is pending will ever be judged: not where a log that contradicted itself goes on to serve what does
    /// not continue its tree, and all that lies in that tree was read.
    pub(super) fn over(&mut self, is_read: bool, voice: &AuditVoice) {
        let was_over = self.is_over;
        self.is_over = match is_read {
            true => self.has_contradicted() && self.astray > 1,
            false => was_over && self.astray > 0,
        };
        if self.is_over && !was_over {
            voice.note("what is pending cannot be judged any more, since no head continues the tree");
        }
    }

    /// Tells who else signs the heads, once and when that changes. Their keys are not known, so nothing is verified.
    pub(super) fn cosigned(&mut self, cosigners: &[Cosigner], voice: &AuditVoice) {
        voice.observed("cosignatures", cosigners.len() as f64);
        // A log may add a line by a key that is another one each time, so that nobody relies on there being none.
        let mut names: Vec<_> = cosigners.iter().map(|cosigner| cosigner.name.clone()).collect();
        names.sort_unstable();
        if self.cosigners.contains(&names) || self.cosigners.len() > MOST_COSIGNED {
            return;
        }
        let shown: Vec<_> =
            cosigners.iter().map(|cosigner| format!("{} ({:08x})", cosigner.name, cosigner.key_id)).collect();
        voice.note(&format!(
            "checkpoints carry {} more signatures, which are not verified: {}",
            shown.len(),
            shown.join(", ")
        ));
        self.cosigners.push(names);
    }
}

/// So long nothing has to be judged before what is pending is left.
const IDLE: Nanos = Nanos::from_secs(3);

/// Notes of who else signs.
const MOST_COSIGNED: usize = 4;
