//! What is due at the head that a log serves, once none of its servers has a newer one.

use hammer_tlog::logs::follow::Head;

use super::AuditLoop;
use super::followed_trees::FollowedTree;
use crate::head_survey::HeadSurvey;
use crate::source::LogSource;
use crate::tree_reading::TreeReading;

impl<L: LogSource, T: TreeReading<L>> AuditLoop<L, T> {
    /// Breaks what is due at a head that was asked for then, in milliseconds since 1970. Where a newer one may be served, as by another
    /// server, only once none has been for a while; those are asked before anything is due, since a head says by its time that what it is
    /// the first to cover was late.
    pub(super) async fn due(&mut self, head: &Head, is_newest: bool, asked_ms: u64) {
        let are_several = self.reader.are_several();
        let soon_ms = if are_several { asked_ms.saturating_add(SOON_MS) } else { asked_ms };
        if self.heads.has_contradicted() || !self.tree.may_be_due(soon_ms) {
            return self.survey.is_over();
        }
        if is_newest && !are_several {
            self.survey.is_over();
            return self.tree.overdue(asked_ms);
        }
        let others = self.surveyed().await;
        let FollowedTree { tree, follower } = self.chains.active();
        let trusted = follower.trusted().map_or(0, |trusted| trusted.size);
        let newer = others.of(*tree).chain([head]).max_by_key(|head| head.size);
        if let Some(newer) = newer.filter(|newer| newer.size > trusted) {
            // It is proved in the next round.
            follower.head(newer.clone());
            self.survey.is_over();
        } else if !self.tree.may_be_due(asked_ms) {
            self.survey.is_over();
        } else if self.survey.none_is_newer(self.voice.now(), others.silent) {
            self.tree.overdue(asked_ms);
        }
    }

    /// Tells that the newest head is older than the log may have, where none of its servers has had a newer one for a while. One that takes
    /// nothing signs nothing.
    pub(super) async fn aged(&mut self, served: &Head, asked_ms: u64) {
        let Some(most) = self.reader.log().oldest_head() else { return };
        // Whoever served this one may lag behind whoever served the one that is trusted.
        let trusted = self.chains.active().follower.trusted();
        let newest = trusted.into_iter().chain([served]).max_by_key(|head| head.timestamp_ms);
        let newest = newest.unwrap_or(served).clone();
        if self.heads.has_contradicted() || !self.heads.is_too_old(&newest, most, asked_ms) {
            return self.ages.is_over();
        }
        let others = self.surveyed().await;
        let tree = self.chains.active().tree;
        if !others.of(tree).all(|other| self.heads.is_too_old(other, most, asked_ms)) {
            self.ages.is_over();
        } else if self.ages.none_is_newer(self.voice.now(), others.silent) {
            self.heads.too_old(&newest, asked_ms, &self.voice);
        }
    }

    /// The heads that the log's servers have now: each is held against the followed tree in the next round.
    async fn surveyed(&mut self) -> HeadSurvey {
        let survey = self.reader.heads_of_all().await;
        survey.heads.iter().for_each(|(tree, head)| self.answered.offer_head(*tree, head.clone()));
        survey.foreign.iter().for_each(|(server, why)| self.troubles.foreign(server, why, &self.voice));
        survey
    }
}

/// How long before a promise is due all servers of a log are asked for a head that covers it.
const SOON_MS: u64 = 10_000;
