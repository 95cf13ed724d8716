//! An audit that goes on: round after round, the log's head is read, what follows from it is read and proved, and verdicts are
//! handed out.

use std::path::PathBuf;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use futures::future::{Either, join, select};
use hammer_core::observe::ObservationSink;
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_measure::Nanos;
use hammer_tlog::hash::sha256;
use hammer_tlog::logs::audit::{AuditBounds, Finding, Receipt, ReceiptClock, Verdict};
use hammer_tlog::logs::follow::{Event, Follower, Head, Need};
use hammer_tlog::logs::tile::TileId;

use crate::answered_heads::{AnsweredHeads, HeadCounts};
use crate::late_head::LateHead;
use crate::link::Lane;
use crate::messages::{event_words, finding_words};
use crate::place::LogPlace;
use crate::prove::prove;
use crate::reader::AuditReader;
use crate::receipt_file::ReceiptFile;
use crate::retry::RetryPolicy;
use crate::source::{HeadId, LogSource};
use crate::tree_reading::{AuditRound, TreeReading};
use crate::trouble::Trouble;

mod due_survey;
mod followed_trees;
mod head_joins;
mod head_watch;
mod late_tiles;
mod overdue;
mod proof_watch;
mod receipt_desk;
mod reference_watch;
mod tree_turn;
mod trouble_watch;
mod voice;

use due_survey::DueSurvey;
use followed_trees::{FollowedTree, FollowedTrees};
use head_joins::{HeadJoins, JoinBounds};
use head_watch::HeadWatch;
use late_tiles::LateTiles;
use proof_watch::ProofWatch;
use receipt_desk::ReceiptDesk;
use reference_watch::ReferenceWatch;
use trouble_watch::TroubleWatch;
use voice::AuditVoice;

/// What an audit is told before it starts.
pub(crate) struct AuditSetup {
    pub(crate) name: String,
    pub(crate) epoch_unix_ms: u64,
    pub(crate) every: Duration,
    pub(crate) folder: PathBuf,
    pub(crate) in_memory: usize,
    pub(crate) file: Arc<ReceiptFile>,
    pub(crate) heads: Arc<AnsweredHeads>,
    pub(crate) receipts: Receiver<Receipt>,
    pub(crate) lanes: Vec<Lane>,
    /// Whether nobody expects that the log can be read.
    pub(crate) is_tolerant: bool,
}

/// Audits `log` until the run ends, and a last time then.
pub(crate) async fn run<L: LogSource, T: TreeReading<L>>(
    log: L,
    place: LogPlace,
    setup: AuditSetup,
    sink: ObservationSink,
    clock: Rc<dyn Clock>,
    mut ending: LocalFuture<()>,
) {
    let every = setup.every;
    let reader = match AuditReader::new(log, place, clock.clone()) {
        Ok(reader) => reader.retrying(RetryPolicy::new(every)),
        Err(why) => {
            setup.lanes.iter().for_each(|lane| lane.unchecked_but(0));
            return sink.note(clock.now(), format!("{}: nothing is audited: failed to {why}", setup.name));
        }
    };
    let looked_up = clock.sleep_until(clock.now().saturating_add(LOOK_UP));
    // Of one whose name is not known in time nothing is told that another server may not have.
    let is_of_one_server = match select(pin!(reader.is_of_one_server()), looked_up).await {
        Either::Left((is_one, _)) => is_one,
        Either::Right(_) => false,
    };
    let mut audit = AuditLoop::<L, T>::new(setup, (reader, is_of_one_server), sink, clock.clone());
    loop {
        let started = clock.now();
        if let Either::Left(_) = select(&mut ending, pin!(audit.round())).await {
            break;
        }
        let next = clock.sleep_until(started.saturating_add(every.into()).max(clock.now()));
        if let Either::Left(_) = select(&mut ending, pin!(next)).await {
            break;
        }
    }
    // Once more, since drain is over; a log that does not answer must not keep what is known from being told.
    let deadline = clock.now().saturating_add(LAST_ROUND);
    audit.reader.ends(clock.now().saturating_add(LAST_TRIES));
    let in_time = {
        let last = pin!(audit.round());
        matches!(select(last, clock.sleep_until(deadline)).await, Either::Left(_))
    };
    {
        let AuditLoop { late, references, reader, voice, .. } = &mut audit;
        let looks = join(late.at_last(reader, &clock, voice), references.at_last(reader, &clock, voice));
        select(pin!(looks), clock.sleep_until(deadline.saturating_add(LAST_TILES))).await;
    }
    audit.end(in_time);
}

/// The audit of one log: what is read of it, by the way that `T` stands for, and what is known of it so far.
struct AuditLoop<L, T> {
    reader: AuditReader<L>,
    chains: FollowedTrees,
    answered: Arc<AnsweredHeads>,
    tree: T,
    heads: HeadWatch,
    desk: ReceiptDesk,
    troubles: TroubleWatch,
    late: LateTiles,
    late_head: LateHead,
    survey: DueSurvey,
    /// The same while the newest head is too old.
    ages: DueSurvey,
    references: ReferenceWatch,
    proofs: ProofWatch,
    voice: AuditVoice,
}

impl<L: LogSource, T: TreeReading<L>> AuditLoop<L, T> {
    fn new(
        setup: AuditSetup,
        (reader, is_of_one_server): (AuditReader<L>, bool),
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
    ) -> Self {
        let AuditSetup {
            name,
            epoch_unix_ms,
            every,
            folder,
            in_memory,
            file,
            heads,
            receipts,
            lanes,
            is_tolerant,
        } = setup;
        let lag = reader.log().lags_at_most().map(Nanos::from);
        let skew_ms = reader.log().skew().as_millis() as u64;
        let own_clock = ReceiptClock { epoch_unix_ms, skew_ms, is_of_one_server };
        let bounds = AuditBounds { receipts: in_memory, ..AuditBounds::default() };
        // Logs of one run, which have names of their own, and runs of one machine have a folder each.
        let log = sha256(format!("{name}\n{}", reader.log().url()).as_bytes());
        let process = std::process::id();
        let spilled = std::env::temp_dir().join(format!("hammer-{epoch_unix_ms}-receipts-{process}-{log}"));
        // Without a time, a smaller head may be that of a server which lags behind.
        let follower: fn() -> Follower = match reader.log().lags_at_most() {
            Some(_) => || T::follower().in_any_order(),
            None => T::follower,
        };
        Self {
            reader,
            chains: FollowedTrees::new(follower),
            answered: heads,
            tree: T::new(bounds, own_clock, spilled),
            heads: HeadWatch::new(folder, own_clock, !is_tolerant),
            desk: ReceiptDesk::new(receipts, lanes, file, epoch_unix_ms),
            troubles: TroubleWatch::new(every.into()),
            late: LateTiles::default(),
            late_head: LateHead::default(),
            survey: DueSurvey::new(every, own_clock),
            ages: DueSurvey::new(every, own_clock),
            references: ReferenceWatch::default(),
            proofs: ProofWatch::new(is_tolerant, lag),
            voice: AuditVoice::new(name, sink, clock, is_tolerant),
        }
    }

    /// Reads the head and whatever follows from it, and tells what that showed.
    async fn round(&mut self) {
        let started = self.voice.now();
        let went = self.read().await;
        self.troubles.ended(started, &went, self.reader.place(), &mut self.voice);
        self.troubles.pass_over(went.is_ok(), &self.reader, &self.voice);
        let has_judged = self.tell();
        self.heads.judged(has_judged, &self.voice);
        self.late.ask_again(&self.reader, &self.voice).await;
        self.references.met(self.tree.references());
        self.references.ask(&self.reader, &self.voice).await;
        self.heads.over(went.is_ok(), &self.voice);
        let (patience, now) = (self.voice.sink().patience(), self.voice.now());
        let is_gone = patience.is_some_and(|patience| self.troubles.is_stuck_for(patience, now));
        let is_hopeless = self.voice.is_judging() && self.troubles.is_hopeless(now);
        let undecided = match is_gone || is_hopeless || self.heads.has_contradicted() {
            true => 0,
            false => {
                let waiting = self.chains.waiting(&self.answered, self.reader.shards());
                self.proofs.undecided(waiting, &self.voice)
            }
        };
        self.voice.undecided(undecided);
        self.desk.over(self.heads.is_over(now) || self.tree.gives_up() || is_gone || is_hopeless);
        self.heads.cosigned(self.reader.cosigners(), &self.voice);
        self.desk.observe(&self.reader, &self.voice);
    }

    async fn read(&mut self) -> Result<(), Trouble> {
        let FollowedTree { tree, follower } = self.chains.active();
        if self.late_head.feed(follower) {
            // What could not be read is asked for again with the newest head.
            let _ = prove(&self.reader, *tree, follower).await;
            self.events();
        }
        // What is served is of no earlier instant, however late the answer is read.
        let asked_ns = self.voice.now().0;
        // A head that does not come holds up no receipt of a leaf that an earlier one covers.
        let head = self.reader.head().await;
        let stale = self.heads.stale();
        let head = head.inspect(|head| self.fetched(head));
        let proved = self.prove().await;
        let mut is_old = false;
        if let Ok(head) = &head {
            // Where what proves it is not to be had now, it is asked for again, and counted at the end.
            if self.reader.log().lags_at_most().is_some()
                && let Some(id) = self.chains.unproved(head, self.reader.shards())
            {
                self.answered.offer(id, &head.raw, head.fetched_ns);
            }
            let follower = &self.chains.active().follower;
            let trusted = follower.trusted();
            let continues = trusted.is_some_and(|trusted| trusted.same_tree(head));
            self.heads.continued(continues);
            // A follower may start at the tree without leaves, which the log need not have signed.
            if let Some(proved) = trusted.filter(|trusted| continues || !trusted.raw.is_empty()) {
                self.voice.observed("tree_size", proved.size as f64);
            }
            is_old = trusted.is_some_and(|trusted| follower.may_precede(head, trusted));
        }
        self.events();
        let joined = self.join().await;
        let (desk, now) = (&self.desk, self.voice.now());
        let (unix_ms, is_judging) = (desk.unix_ms(now.0), self.voice.is_judging());
        let round = AuditRound { now, unix_ms, is_judging, heads: &self.answered };
        let read = self.tree.read(&self.reader, &round, || desk.accepted()).await;
        let head = head?;
        proved.and(joined).and(read)?;
        // A head of long ago does not say what the tree lacks now, proved or not.
        let is_newest = self.chains.active().follower.behind() == 0 && self.heads.stale() == stale && !is_old;
        self.aged(&head, self.desk.unix_ms(asked_ns)).await;
        self.due(&head, is_newest, self.desk.unix_ms(asked_ns)).await;
        Ok(())
    }

    fn fetched(&mut self, head: &Head) {
        if let Some(turn) = self.chains.turn(self.reader.shards()) {
            self.heads.turned();
            let shards = self.reader.shards();
            if !turn.tell(head, shards, &mut self.heads, &self.voice) {
                return;
            }
        }
        let chain = self.chains.active();
        let trusted = chain.follower.trusted();
        self.heads.dated(head, trusted, &self.voice);
        if let Some(most) = self.reader.log().lags_at_most().filter(|_| !self.voice.is_tolerant()) {
            // Whoever only reads may have been sent to a server that is far behind another, and promises of the log are none of its.
            let most = if self.desk.has_receipts() { most } else { most.max(SHRUNK_TO_READS) };
            let answered = self.answered.largest(chain.tree);
            let largest = trusted.into_iter().chain(&answered).max_by_key(|head| head.size);
            self.heads.lags(head, largest.unwrap_or(head), most, &self.voice);
        }
        chain.follower.head(head.clone());
    }

    /// Proves the heads that were fetched. What a log whose servers lag behind each other refuses to prove is left to a later round, and what
    /// one refuses that has contradicted itself is of no tree.
    async fn prove(&mut self) -> Result<(), Trouble> {
        let is_left = self.reader.log().lags_at_most().is_some() || self.heads.has_contradicted();
        for FollowedTree { tree, follower } in self.chains.all() {
            let proved = prove(&self.reader, *tree, follower).await;
            let is_by_proof = matches!(follower.need(), Some(Need::ConsistencyProof { .. }));
            match proved {
                Err(why) if is_left && is_by_proof && why.is_withheld() => follower.set_aside(),
                proved => {
                    // Of several servers the one that is asked may not be the one that served the head.
                    if !self.reader.are_several() {
                        self.proofs.went(follower.need().as_ref(), &proved, &self.voice);
                    }
                    proved?;
                }
            }
        }
        Ok(())
    }

    /// Holds the heads that answers came with against the followed trees, as many as there is time for beside the load.
    async fn join(&mut self) -> Result<(), Trouble> {
        let Self { reader, chains, answered, tree: reading, heads, late, voice, proofs, desk, .. } = self;
        let is_over = voice.is_judging();
        let bounds = JoinBounds::of(is_over, desk.has_receipts(), voice.now());
        let active = chains.active().tree;
        let joins = HeadJoins::new(reader, answered, bounds, (active, heads.served()));
        let mut found = |tree: u64, event: &Event| {
            use Event::{BadProof, Forked, Shrank, TamperedTile};
            if tree == active && matches!(event, Event::First { .. } | Event::Grew { .. }) {
                reading.follow(event);
            }
            if matches!(event, Forked { .. } | Shrank { .. } | BadProof { .. } | TamperedTile { .. }) {
                heads.told(event, voice);
            }
            // Where it is known how far a server may lag, whoever was asked may be one that does.
            if let Event::MissingTile { tile, .. } = event
                && reader.log().lags_at_most().is_none()
                && let Some((kind, _, detail)) = event_words(event)
            {
                late.wait_for(*tile, (kind, detail), voice.now());
            }
        };
        for tree in answered.trees() {
            let Some(chain) = chains.of(tree, reader.shards()) else { continue };
            // Beside the load the tree is followed as the log serves it, which tells when its leaves were published.
            if T::GROWS_BY_ANSWERS || (is_over && reader.log().lags_at_most().is_none()) {
                joins.join_later(chain, &mut found).await?;
            }
            joins.join_earlier(chain, &mut found).await?;
        }
        // Of a log that contradicted itself it is known why no proof holds.
        let unproved = joins.unproved.take().filter(|_| !heads.has_contradicted());
        proofs.joined(joins.refusal.take(), unproved, voice);
        let doubted = joins.doubted.take().into_iter();
        doubted.for_each(|(id, said)| proofs.doubted(id, said, voice.now()));
        let counts = self.answered.counts();
        self.proofs.counted(counts.joined, self.voice.now());
        if counts != HeadCounts::default() {
            self.voice.observed("heads_joined", counts.joined as f64);
            self.voice.observed("heads_unjoined", counts.unjoined as f64);
        }
        Ok(())
    }

    /// Takes what the followers have found out.
    fn events(&mut self) {
        let active = self.chains.active().tree;
        let mut found = Vec::new();
        for chain in self.chains.all() {
            found.extend(chain.follower.events().into_iter().map(|event| (chain.tree, event)));
            chain.follower.ask_again();
        }
        for (tree, event) in found {
            if tree == active {
                self.tree.follow(&event);
                self.late_head.follow(&event);
            }
            if matches!(event, Event::Grew { .. }) {
                self.late.grew();
                self.heads.lives();
            }
            if let Event::First { head } | Event::Same { head } | Event::Grew { to: head, .. } = &event {
                self.proofs.proved(HeadId { tree, size: head.size, root: head.root });
            }
            if let Event::Forked { newer: head, .. } = &event {
                self.answered.contradicted(HeadId { tree, size: head.size, root: head.root });
            }
            if let Event::Stale { head, newest } = &event {
                self.heads.was_stale(head, newest, &self.voice);
            }
            match event {
                Event::MissingTile { tile, .. } => self.missing(tile, event_words(&event)),
                Event::Unproved { ref head, .. } => {
                    let (id, now) = (HeadId { tree, size: head.size, root: head.root }, self.voice.now());
                    let said = event_words(&event).into_iter();
                    said.for_each(|(_, _, said)| self.proofs.doubted(id, said, now));
                }
                event => self.heads.told(&event, &mut self.voice),
            }
        }
    }

    /// Takes that a tile is not served, which is told once a later look found it so as well.
    fn missing(&mut self, tile: TileId, words: Option<(&'static str, Option<u64>, String)>) {
        let Some((kind, _, detail)) = words else { return };
        self.late.wait_for(tile, (kind, detail), self.voice.now());
    }

    /// Hands out the verdicts, and tells what was found; whether there were any verdicts.
    fn tell(&mut self) -> bool {
        let (verdicts, findings) = (self.tree.verdicts(), self.tree.findings());
        if !verdicts.is_empty() {
            self.troubles.got_on();
        }
        for finding in &findings {
            if let Finding::Unspilled { receipts, error } = finding {
                self.voice.note(&format!("{receipts} receipts are lost, failed to spill them: {error}"));
            } else if let Finding::MissingTile { tile } = finding {
                self.missing(*tile, finding_words(finding));
            } else if let Some((kind, index, detail)) = finding_words(finding) {
                self.voice.wrong(kind, index, detail);
            }
        }
        for verdict in &verdicts {
            if let Verdict::Kept(kept) = verdict {
                self.heads.covers(kept, &self.voice);
            }
        }
        self.desk.judged(&verdicts, self.reader.log(), &mut self.voice);
        if self.tree.pending() > 0 {
            self.heads.lives();
        }
        let faults = self.tree.faults();
        self.desk.refused(&faults, self.reader.log());
        self.tree.notes().iter().for_each(|note| self.voice.note(note));
        if let Some(entries) = self.tree.entries_read_back() {
            self.voice.observed("entries_read_back", entries as f64);
        }
        let has_contradicted = self.heads.has_contradicted();
        self.voice.unnamed(UNNAMED, has_contradicted);
        self.proofs.tell_doubted(&self.answered, (UNNAMED, has_contradicted), &self.voice);
        self.desk.held(self.tree.spilled(), self.tree.pending(), &self.voice);
        !verdicts.is_empty() || !faults.is_empty()
    }

    /// Tells what was held back for a verdict, when none will come any more.
    fn end(mut self, in_time: bool) {
        if !in_time {
            self.troubles.failed("end the last look in time".to_owned());
        }
        self.desk.accepted().into_iter().for_each(|receipt| self.tree.accept(receipt));
        // The last round may have been cut off behind the heads that it joined.
        self.tree.settle(&self.reader, &self.answered);
        self.chains.all().for_each(|chain| chain.follower.end());
        self.events();
        self.tell();
        std::mem::take(&mut self.late).end(self.heads.has_contradicted(), &self.voice);
        std::mem::take(&mut self.references).end(&self.reader, &self.voice);
        // The last round may have been cut off.
        self.desk.observe(&self.reader, &self.voice);
        let has_contradicted = self.heads.has_contradicted();
        self.voice.unnamed(Nanos::ZERO, has_contradicted);
        self.proofs.tell_doubted(&self.answered, (Nanos::ZERO, has_contradicted), &self.voice);
        // Of a log that contradicted itself it is known why there is no verdict.
        let unreadable = self.troubles.readability().filter(|_| !self.heads.has_contradicted());
        let place = self.reader.place();
        let why = match &unreadable {
            Some((_, why)) => Some(format!("since {place} could not be read: {why}")),
            None if self.heads.has_contradicted() => None,
            None => self.survey.why_undecided().or_else(|| self.tree.why_unlooked()),
        };
        let now = self.voice.now();
        let now_ms = self.desk.unix_ms(now.0);
        let covers = |receipt: &&Receipt| match &unreadable {
            Some((readability, _)) => readability.covers(receipt.received_ns, now),
            None => !self.survey.leaves_open(receipt, now_ms),
        };
        let (looked, mut unlooked): (Vec<_>, Vec<_>) = self.tree.receipts().partition(covers);
        unlooked.extend(self.tree.unlooked());
        let all = self.tree.pending();
        self.desk.without_verdict(looked, (unlooked, all), why, self.reader.log(), &self.voice);
        self.proofs.end(&self.answered, &self.voice);
        self.desk.ended(&self.voice);
    }
}

/// How long a log is of a smaller tree than reads saw before it has shrunk.
const SHRUNK_TO_READS: Duration = Duration::from_secs(60);

/// How long the first look-up of the log's servers may take.
const LOOK_UP: Nanos = Nanos::from_secs(1);

/// An observer has two seconds to end.
const LAST_ROUND: Nanos = Nanos::from_millis(1_200);

/// So long after that, what was not served in it is asked for once more.
const LAST_TILES: Nanos = Nanos::from_millis(400);

/// What is refused in the last round is tried again for so long.
const LAST_TRIES: Nanos = Nanos::from_millis(800);

/// How long what is wrong with an entry waits for the receipt of its submission, and a false proof for a fork.
const UNNAMED: Nanos = Nanos::from_secs(10);
