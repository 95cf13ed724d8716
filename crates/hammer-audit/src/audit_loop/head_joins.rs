//! Heads of answers, held against the followed trees.

use std::cell::RefCell;

use futures::future::join_all;
use hammer_measure::Nanos;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::follow::{Event, Follower, Head};
use hammer_tlog::logs::merkle::verify_consistency;

use super::followed_trees::FollowedTree;
use crate::answered_heads::{AnsweredHeads, HeldAgainst, JoinedHead};
use crate::messages::event_words;
use crate::prove::prove;
use crate::reader::AuditReader;
use crate::refused_proof::PATIENCE;
use crate::source::{HeadId, LogSource};
use crate::trouble::Trouble;

/// Joins the heads that answers came with to a followed tree, within bounds.
pub(super) struct HeadJoins<'a, L> {
    reader: &'a AuditReader<L>,
    answered: &'a AnsweredHeads,
    bounds: JoinBounds,
    /// How long one of the log's servers lags behind another, where they do.
    lag: Option<Nanos>,
    /// The tree that entries are added to, and its size by the head that the log serves now.
    served: (u64, u64),
    /// Why the last one was refused.
    pub(super) refusal: RefCell<Option<String>>,
    /// A head that no server proves, though each must have had it for long, in words.
    pub(super) unproved: RefCell<Option<String>>,
    /// A head whose proof is none of any tree, and that in words.
    pub(super) doubted: RefCell<Option<(HeadId, String)>>,
}

/// How many heads are joined in a round.
pub(super) struct JoinBounds {
    /// No further head is taken up after that.
    until: Nanos,
    /// Heads that are joined at most.
    most: usize,
    /// Proofs that are asked for at once.
    at_once: usize,
}

impl JoinBounds {
    /// Those of a round that starts now, beside the load, or once that is over. Where no promise waits for a head, the newest ones are enough
    /// beside the load: each may cost the log a proof.
    pub(super) fn of(is_over: bool, are_promised: bool, now: Nanos) -> Self {
        let (most, at_once, span) = match (is_over, are_promised) {
            (true, _) => (1000, 8, JOIN_FOR_AT_LAST),
            (false, true) => (32, 2, Nanos::from_secs(1)),
            (false, false) => (4, 1, Nanos::from_secs(1)),
        };
        Self { until: now.saturating_add(span), most, at_once }
    }
}

// Each round asks for head and newest proof first: of a log that takes seconds to answer, little else would fit in a short one.
const JOIN_FOR_AT_LAST: Nanos = Nanos::from_secs(10);

impl<'a, L: LogSource> HeadJoins<'a, L> {
    /// Joins of a log whose active tree has so many leaves by the head that it serves now.
    pub(super) fn new(
        reader: &'a AuditReader<L>,
        answered: &'a AnsweredHeads,
        bounds: JoinBounds,
        served: (u64, u64),
    ) -> Self {
        let lag = reader.log().lags_at_most().map(Nanos::from);
        let (refusal, unproved, doubted) = Default::default();
        Self { reader, answered, bounds, lag, served, refusal, unproved, doubted }
    }

    /// Has the tree followed as far as answers say that it goes. The newest head comes first: by one proof all others are then of earlier
    /// states, and none of their proofs has to wait for another. `found` is told what shows.
    pub(super) async fn join_later(
        &self,
        FollowedTree { tree, follower }: &mut FollowedTree,
        found: &mut impl FnMut(u64, &Event),
    ) -> Result<(), Trouble> {
        let size = |follower: &Follower| follower.trusted().map_or(0, |trusted| trusted.size);
        let is_later = |follower: &Follower, head: &Head| {
            follower.trusted().is_none_or(|trusted| head.size > trusted.size)
        };
        let newest = self.answered.largest(*tree).filter(|head| is_later(follower, head));
        let Some(newest) = newest else { return Ok(()) };
        follower.head(newest.clone());
        if self.went_on(*tree, follower, &newest, found).await? && !is_later(follower, &newest) {
            return Ok(());
        }
        // Whoever proves lags behind whoever answered, or the newest is of another tree: the others, as far as that goes.
        let mut from = size(follower).saturating_add(1);
        for _ in 0..self.bounds.most {
            let Some(head) = self.answered.next(*tree, from).filter(|_| !self.is_over()) else { break };
            follower.head(head.clone());
            if !self.went_on(*tree, follower, &head, found).await? {
                break;
            }
            from = head.size.saturating_add(1);
        }
        Ok(())
    }

    /// Proves heads to be of earlier states of the tree, those that were refused before and the newest ones. `found` is told what shows.
    pub(super) async fn join_earlier(
        &self,
        followed: &mut FollowedTree,
        found: &mut impl FnMut(u64, &Event),
    ) -> Result<(), Trouble> {
        let Some(newest) = followed.follower.trusted().map(|trusted| trusted.size) else { return Ok(()) };
        for heads in self.answered.up_to(followed.tree, newest, self.bounds.most) {
            self.join_each(followed, &heads, newest, found).await?;
        }
        Ok(())
    }

    /// Joins these heads, until all are refused that are asked for at once, or one is not proved.
    async fn join_each(
        &self,
        FollowedTree { tree, follower }: &mut FollowedTree,
        heads: &[Head],
        newest: u64,
        found: &mut impl FnMut(u64, &Event),
    ) -> Result<(), Trouble> {
        for heads in heads.chunks(self.bounds.at_once) {
            if self.is_over() {
                break;
            }
            let proofs = heads.iter().map(|head| self.proof(*tree, follower, head, newest));
            let proofs = join_all(proofs).await;
            let is_refused =
                |proof: &Option<Result<_, Trouble>>| matches!(proof, Some(Err(why)) if why.is_withheld());
            let is_over = !proofs.is_empty() && proofs.iter().all(is_refused);
            for (head, proof) in heads.iter().zip(proofs) {
                follower.earlier(head.clone());
                match proof {
                    Some(Ok(proof)) => follower.consistency_proof(head.size, newest, &proof),
                    // The proofs of the others were fetched already, and may be good.
                    Some(Err(why)) if why.is_withheld() => {
                        let trusted = follower.trusted().cloned();
                        follower.set_aside();
                        self.refused(*tree, head, trusted.as_ref(), &why).await;
                        continue;
                    }
                    // What was not read, or does not hold, is asked for again.
                    _ => {}
                }
                if !self.went_on(*tree, follower, head, found).await? {
                    return Ok(());
                }
            }
            // Who refuses them all is asked again later.
            if is_over {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The consistency proof from an earlier head, where that is how the log proves anything and it is not known already.
    async fn proof(
        &self,
        tree: u64,
        follower: &Follower,
        head: &Head,
        newest: u64,
    ) -> Option<Result<Vec<Hash>, Trouble>> {
        let is_needed = (1..newest).contains(&head.size) && !follower.knows(head);
        let query = self.reader.log().consistency_in(tree, head.size, newest).filter(|_| is_needed)?;
        match self.reader.ask(&query).await {
            Err(why) if why.is_withheld() => Some(self.reader.ask_each(&query).await.ok_or(why)),
            answer => Some(answer),
        }
    }

    /// Takes that a head was not proved by any server: that is the log's fault where each has had it, and the larger one that it was held
    /// against first, for longer than it may lag.
    async fn refused(&self, tree: u64, head: &Head, trusted: Option<&Head>, why: &Trouble) {
        *self.refusal.borrow_mut() = Some(why.to_string());
        let id = HeadId { tree, size: head.size, root: head.root };
        let newest = trusted.map_or(0, |trusted| trusted.size);
        let larger = trusted.filter(|trusted| trusted.size > head.size).map(HeldAgainst::of);
        let larger = self.answered.refused(id, larger);
        let served_ns = larger.map_or(head.fetched_ns, |larger| larger.received_ns.max(head.fetched_ns));
        let age = self.reader.now().since(Nanos(served_ns));
        // A log that serves a smaller tree proves nothing of a larger one, and shrank. A tree that has ended is served whole.
        let (active, served) = self.served;
        let has_it = tree != active || served >= larger.map_or(head.size, |larger| larger.size);
        if !has_it || self.lag.is_none_or(|lag| age < lag.max(PATIENCE)) {
            return;
        }
        // Of a tree that grows, the newest head is always one that a server which lags has not.
        let why = match larger.filter(|larger| larger.size < newest) {
            None => why.to_string(),
            Some(larger) => match self.of_tree(tree, head, larger).await {
                Ok(None) => return self.answered.settle(id, JoinedHead::Joined),
                Ok(Some(why)) => why,
                Err(_) => return,
            },
        };
        *self.unproved.borrow_mut() = Some(format!(
            "a head of {} leaves is not proved to be of the tree of {} leaves, {:.1} s after it was served: failed to {why}",
            head.size,
            larger.map_or(newest, |larger| larger.size),
            age.as_secs_f64()
        ));
    }

    /// Whether a head is of an earlier state of the tree of that larger one: none, or why it is not proved.
    ///
    /// # Errors
    /// When that cannot be told now.
    async fn of_tree(&self, tree: u64, head: &Head, larger: HeldAgainst) -> Result<Option<String>, Trouble> {
        let query = self.reader.log().consistency_in(tree, head.size, larger.size);
        let query = query.ok_or_else(|| Trouble::Other("ask a log of tiles for a proof".to_owned()))?;
        let proof = match self.reader.ask(&query).await {
            Err(why) if why.is_withheld() => match self.reader.ask_each(&query).await {
                Some(proof) => proof,
                None => return Ok(Some(why.to_string())),
            },
            answer => answer?,
        };
        let proved = verify_consistency(head.size, larger.size, &head.root, &larger.root, &proof);
        Ok(proved.err().map(|why| format!("verify the proof: {why}")))
    }

    /// Fetches what proves a head that the follower was fed, and keeps what became of it; whether others can be proved now.
    async fn went_on(
        &self,
        tree: u64,
        follower: &mut Follower,
        fed: &Head,
        found: &mut impl FnMut(u64, &Event),
    ) -> Result<bool, Trouble> {
        let proved = prove(self.reader, tree, follower).await;
        self.answered.tried(HeadId { tree, size: fed.size, root: fed.root });
        // Not a fault: whoever was asked lags behind whoever answered.
        let refused = proved.as_ref().err().filter(|why| why.is_withheld());
        if let Some(why) = refused {
            tracing::debug!(size = fed.size, "set a head aside: failed to {why}");
            let trusted = follower.trusted().cloned();
            follower.set_aside();
            self.refused(tree, fed, trusted.as_ref(), why).await;
        }
        for event in follower.events() {
            let (head, became) = match &event {
                Event::First { head } | Event::Same { head } | Event::Stale { head, .. } => {
                    (head, JoinedHead::Joined)
                }
                Event::Grew { to, .. } => (to, JoinedHead::Joined),
                Event::Forked { newer, .. } | Event::Shrank { newer, .. } => (newer, JoinedHead::Forked),
                Event::Unproved { head, .. } => {
                    let id = HeadId { tree, size: head.size, root: head.root };
                    *self.doubted.borrow_mut() = event_words(&event).map(|(_, _, said)| (id, said));
                    continue;
                }
                // The head is fed again in the next round, when what proves it may have come.
                Event::MissingTile { .. } | Event::TamperedTile { .. } | Event::BadProof { .. } => {
                    found(tree, &event);
                    continue;
                }
            };
            self.answered.settle(HeadId { tree, size: head.size, root: head.root }, became);
            found(tree, &event);
        }
        match proved {
            Ok(()) => Ok(true),
            Err(why) if why.is_withheld() => Ok(false),
            Err(why) => Err(why),
        }
    }

    fn is_over(&self) -> bool {
        self.reader.now() >= self.bounds.until
    }
}
