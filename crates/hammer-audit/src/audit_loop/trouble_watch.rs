//! What keeps an audit from its log.

use std::collections::BTreeSet;

use hammer_measure::Nanos;

use super::voice::AuditVoice;
use crate::readability::Readability;
use crate::reader::AuditReader;
use crate::source::LogSource;
use crate::trouble::Trouble;

const NEXT_URL: &str = "the audit goes on at the next URL";

/// How the last rounds went.
pub(super) struct TroubleWatch {
    readability: Readability,
    /// The cause of the last round's trouble, which is told once.
    told: Option<String>,
    /// The promise that is broken by what the last rounds were answered, which is told once.
    broken: Option<&'static str>,
    /// The promises that were broken so by then.
    known: BTreeSet<&'static str>,
    /// Those of them that one of several servers broke, which are not told again.
    foreign: BTreeSet<&'static str>,
    /// Rounds in a row that ended in trouble at one server.
    in_a_row: u32,
    /// Since when no round has gone well nor brought a verdict, in the time without load.
    stuck_since: Option<Nanos>,
    /// Since when each round was refused, or answered with what is of no use.
    useless_since: Option<Nanos>,
    /// Whether a round went well.
    was_well: bool,
    /// Whether it was told that the next server was gone on to.
    was_elsewhere: bool,
}

impl TroubleWatch {
    /// Of a log that is read so often.
    pub(super) fn new(every: Nanos) -> Self {
        Self {
            readability: Readability::new(every),
            told: None,
            broken: None,
            known: BTreeSet::new(),
            foreign: BTreeSet::new(),
            in_a_row: 0,
            stuck_since: None,
            useless_since: None,
            was_well: false,
            was_elsewhere: false,
        }
    }

    /// Takes how a round went that read the log at `place`, and tells what is new.
    pub(super) fn ended(
        &mut self,
        started: Nanos,
        went: &Result<(), Trouble>,
        place: &str,
        voice: &mut AuditVoice,
    ) {
        self.readability.looked(started, voice.now(), went);
        let is_stuck = voice.is_judging() && went.as_ref().is_err_and(|why| why.breach_kind().is_none());
        self.stuck_since = is_stuck.then(|| self.stuck_since.unwrap_or(voice.now()));
        let is_useless = went.as_ref().is_err_and(Trouble::is_useless);
        self.useless_since = is_useless.then(|| self.useless_since.unwrap_or(started));
        self.was_well |= went.is_ok();
        match went {
            Ok(()) => {
                self.broken = None;
                if self.told.take().is_some() {
                    voice.note("the audit goes on");
                }
            }
            Err(why) => match why.breach_kind() {
                Some(kind) if self.broken == Some(kind) => {}
                Some(kind) => {
                    self.broken = Some(kind);
                    if self.known.insert(kind) || !self.foreign.contains(kind) {
                        voice.breach(kind, None, format!("failed to {why}"));
                    }
                }
                None => self.tell(why, place, voice),
            },
        }
    }

    /// Takes that a server among several served what is not the log's head; tells that once, however often it is asked. What the rounds met
    /// there is told already.
    pub(super) fn foreign(&mut self, server: &str, why: &Trouble, voice: &AuditVoice) {
        let Some(kind) = why.breach_kind() else { return };
        self.foreign.insert(kind);
        if self.known.insert(kind) {
            voice.breach(kind, None, format!("{server}: failed to {why}"));
        }
    }

    /// Goes on to the log's next server where one is of no use for several rounds; tells that, and the first time that reads went on by themselves.
    pub(super) fn pass_over<L: LogSource>(
        &mut self,
        is_well: bool,
        reader: &AuditReader<L>,
        voice: &AuditVoice,
    ) {
        if reader.was_elsewhere() && !std::mem::replace(&mut self.was_elsewhere, true) {
            voice.note(NEXT_URL);
        }
        self.in_a_row = if is_well { 0 } else { self.in_a_row.saturating_add(1) };
        let is_due = !is_well && self.in_a_row.is_multiple_of(MOST_IN_A_ROW);
        if is_due && reader.pass_over() && self.in_a_row == MOST_IN_A_ROW {
            voice.note(NEXT_URL);
        }
    }

    /// The last round brought a verdict, however it ended.
    pub(super) fn got_on(&mut self) {
        self.stuck_since = None;
    }

    /// Whether the log has been of no use for so long.
    pub(super) fn is_stuck_for(&self, patience: Nanos, now: Nanos) -> bool {
        self.stuck_since.is_some_and(|since| now.since(since) >= patience)
    }

    /// Whether the log has answered with nothing of use long enough that nobody need wait for it: of one that was never of use, where its head,
    /// its key or its path is wrong, a moment.
    pub(super) fn is_hopeless(&self, now: Nanos) -> bool {
        let patience = if self.was_well { PATIENCE } else { A_MOMENT };
        self.useless_since.is_some_and(|since| now.since(since) >= patience)
    }

    /// The last round could not do that.
    pub(super) fn failed(&mut self, what: String) {
        self.readability.failed(what);
    }

    /// What was read of the log, and why the last round failed; none where it did not.
    pub(super) fn readability(&self) -> Option<(&Readability, String)> {
        Some((&self.readability, self.readability.why_not()?))
    }

    /// Tells a trouble, but not again the same of another path.
    fn tell(&mut self, why: &Trouble, place: &str, voice: &AuditVoice) {
        let cause = why.cause();
        if self.told.as_ref() != Some(&cause) {
            voice.note(&format!("the audit of {place} does not get on: failed to {why}"));
            self.told = Some(cause);
        }
    }
}

const A_MOMENT: Nanos = Nanos::from_secs(3);
const PATIENCE: Nanos = Nanos::from_secs(10);
/// Rounds in trouble before the next server is tried.
const MOST_IN_A_ROW: u32 = 3;
