//! Judges what a refresh was answered with, as its client would have.

use std::sync::Arc;
use std::time::Duration;

use hammer_core::promise::{Fault, PromiseKind, Verdicts, Verifier};
use hammer_measure::Nanos;
use hammer_tuf::{Role, Trusted, TufError};

use super::record::{RefreshPart, RefreshRecord};
use super::seen::SeenVersions;

/// What verifiers of a workload are made from, one for each thread.
#[derive(Clone)]
pub(super) struct MetadataJudge {
    /// What every client came with.
    pub(super) first: Trusted,
    /// The target that clients want.
    pub(super) target: Arc<str>,
    /// How much older than the newest metadata may be.
    pub(super) stale_for: Nanos,
    /// How far the repository's clock may be off.
    pub(super) skew: Duration,
    pub(super) epoch_unix_ms: u64,
    /// Of all verifiers.
    pub(super) seen: Arc<SeenVersions>,
}

/// Why a refresh is not believed.
#[derive(Debug, PartialEq, Eq)]
enum Doubt {
    /// The promise is broken.
    Fault(Fault),
    /// It cannot be judged here, for that reason.
    Unchecked(String),
}

impl MetadataJudge {
    fn judge(&self, record: &[u8]) -> Result<(), Doubt> {
        // Records are this crate's own.
        let RefreshRecord { is_whole, parts } =
            RefreshRecord::read(record).map_err(|why| Doubt::Unchecked(why.to_string()))?;
        let mut trusted = self.first.clone();
        let mut timestamp_sent = None;
        for part in &parts {
            if part.role == Role::Timestamp {
                timestamp_sent = Some(part.sent);
            }
            self.part(&mut trusted, part, timestamp_sent.unwrap_or(part.sent))?;
        }
        // What came holds, and of what did not come nobody knows.
        if is_whole { Ok(()) } else { Err(Doubt::Unchecked(CUT_SHORT.to_owned())) }
    }

    /// `asked_at` is when the client asked what there is: its timestamp names all that is below it, however late that is read.
    fn part(&self, trusted: &mut Trusted, part: &RefreshPart<'_>, asked_at: Nanos) -> Result<(), Doubt> {
        let RefreshPart { role, is_known, received, body, .. } = *part;
        let at_ms = self.epoch_unix_ms.saturating_add(received.0 / 1_000_000);
        let at = at_ms.saturating_sub(self.skew.as_millis() as u64) / 1000;
        let judged = match body {
            Some(body) => trusted.take(role, &self.target, body, at),
            None => trusted.check_root(at),
        };
        match judged {
            Ok(()) => {}
            // It was judged when it came; what follows from it was not for its client to believe.
            Err(why) if is_known => return Err(Doubt::Unchecked(format!("failed to {why} before"))),
            Err(why @ TufError::Unverified { .. }) => {
                return Err(Doubt::Unchecked(format!("failed to {why}")));
            }
            Err(error) => return Err(Doubt::Fault(fault(&error, trusted.version(role)))),
        }
        // The root that a client ends with is the newest that it was offered.
        let is_compared = !is_known && (role != Role::Root || body.is_none());
        let Some(version) = trusted.version(role).filter(|_| is_compared) else { return Ok(()) };
        let since = if role == Role::Root { 0 } else { trusted.online_since() };
        let seen = self.seen.check((since, role), version, (asked_at, received), self.stale_for);
        seen.map_err(|newer| {
            let detail = format!("the {role} metadata has version {version}, and the run had {newer} before");
            Doubt::Fault(Fault::at("metadata-rollback", version, detail))
        })
    }
}

fn fault(error: &TufError, known: Option<u64>) -> Fault {
    let kind = match error {
        TufError::Signatures { .. } => "metadata-signature",
        TufError::Version { .. } => "metadata-version",
        TufError::Rollback { .. } => "metadata-rollback",
        TufError::Expired { .. } => "metadata-expired",
        TufError::Hash { role: Role::Target, .. } => "target-hash",
        TufError::Hash { .. } => "metadata-hash",
        TufError::Malformed { .. }
        | TufError::Unverified { .. }
        | TufError::Unnamed { .. }
        | TufError::OutOfOrder(_)
        | TufError::TooLong { .. }
        | TufError::Roots(_)
        | TufError::Missing(_) => "malformed-answer",
    };
    Fault { kind, place: error.version().or(known), detail: format!("failed to {error}") }
}

impl Verifier for MetadataJudge {
    fn check(&mut self, seq: u64, bytes: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        match self.judge(bytes) {
            Ok(()) => verdicts.kept(METADATA),
            Err(Doubt::Unchecked(why)) => verdicts.unverified(METADATA, &why),
            Err(Doubt::Fault(fault)) => verdicts.broken(METADATA, seq, fault, Some(bytes)),
        }
    }
}

/// That what a repository serves is signed by those who have to, has not expired, is what is signed above it, and is no older than
/// what was served before (TUF specification, section 5).
pub(super) const METADATA: PromiseKind = PromiseKind(0);
const CUT_SHORT: &str = "a refresh ended before its client had all that it wanted";
/// Its name.
pub(super) const NAMES: [&str; 1] = ["metadata"];

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &[u8] = include_bytes!("../../../hammer-tuf/testdata/go-tuf/1.root.json");
    const SECOND: &[u8] = include_bytes!("../../../hammer-tuf/testdata/go-tuf/2.root.json");
    const TIMESTAMP: &[u8] = include_bytes!("../../../hammer-tuf/testdata/go-tuf/timestamp.json");
    const SNAPSHOT: &[u8] = include_bytes!("../../../hammer-tuf/testdata/go-tuf/2.snapshot.json");
    const OLD_SNAPSHOT: &[u8] = include_bytes!("../../../hammer-tuf/testdata/go-tuf/1.snapshot.json");
    const TARGETS: &[u8] = include_bytes!("../../../hammer-tuf/testdata/go-tuf/1.targets.json");

    /// 2026-11-23T00:00:00Z.
    const EPOCH_MS: u64 = 1_795_392_000_000;

    fn judge(epoch_unix_ms: u64) -> MetadataJudge {
        MetadataJudge {
            first: Trusted::from_root(FIRST).unwrap(),
            target: "trusted_root.json".into(),
            stale_for: Nanos::ZERO,
            skew: Duration::from_secs(60),
            epoch_unix_ms,
            seen: Arc::default(),
        }
    }

    fn record(parts: &[(Role, bool, Option<&[u8]>)], sent: u64) -> Vec<u8> {
        let mut out = Vec::new();
        RefreshRecord::start(&mut out);
        for (role, is_known, body) in parts.iter().copied() {
            let part = RefreshPart { role, is_known, sent: Nanos(sent), received: Nanos(sent + 1), body };
            part.write(&mut out);
        }
        RefreshRecord::complete(&mut out);
        out
    }

    fn kind(judged: Result<(), Doubt>) -> &'static str {
        match judged {
            Ok(()) => "kept",
            Err(Doubt::Unchecked(_)) => "unchecked",
            Err(Doubt::Fault(fault)) => fault.kind,
        }
    }

    const WHOLE: [(Role, bool, Option<&[u8]>); 5] = [
        (Role::Root, false, Some(SECOND)),
        (Role::Root, false, None),
        (Role::Timestamp, false, Some(TIMESTAMP)),
        (Role::Snapshot, false, Some(SNAPSHOT)),
        (Role::Targets, false, Some(TARGETS)),
    ];

    #[test]
    fn a_recorded_refresh_holds_and_what_is_altered_is_named() {
        assert_eq!(kind(judge(EPOCH_MS).judge(&record(&WHOLE, 5))), "kept");
        let with = |place: usize, body: Option<&'static [u8]>| {
            let mut parts = WHOLE;
            parts[place].2 = body;
            kind(judge(EPOCH_MS).judge(&record(&parts, 5)))
        };
        assert_eq!(with(0, Some(FIRST)), "metadata-version");
        assert_eq!(with(2, Some(SNAPSHOT)), "malformed-answer");
        assert_eq!(with(3, Some(OLD_SNAPSHOT)), "metadata-hash");
        let year = 365 * 86_400_000;
        assert_eq!(kind(judge(EPOCH_MS + year).judge(&record(&WHOLE, 5))), "metadata-expired");
        let mut parts = WHOLE.to_vec();
        parts.push((Role::Target, false, Some(b"{}")));
        assert_eq!(kind(judge(EPOCH_MS).judge(&record(&parts, 5))), "target-hash");
    }

    #[test]
    fn a_refresh_that_was_cut_short_is_kept_by_nobody_and_broken_by_what_came() {
        let judge = judge(EPOCH_MS);
        let cut = |parts: &[(Role, bool, Option<&[u8]>)]| {
            let mut record = record(parts, 5);
            record[0] = 0;
            kind(judge.judge(&record))
        };
        for length in 1..=WHOLE.len() {
            assert_eq!(cut(&WHOLE[..length]), "unchecked", "{length} files");
        }
        let mut parts = WHOLE;
        parts[3].2 = Some(OLD_SNAPSHOT);
        assert_eq!(cut(&parts[..4]), "metadata-hash");
    }

    #[test]
    fn a_root_that_is_gone_again_is_rolled_back() {
        let judge = judge(EPOCH_MS);
        assert_eq!(kind(judge.judge(&record(&WHOLE, 5))), "kept");
        assert_eq!(kind(judge.judge(&record(&[(Role::Root, false, None)], 3))), "kept");
        assert_eq!(kind(judge.judge(&record(&[(Role::Root, false, None)], 8))), "metadata-rollback");
    }

    #[test]
    fn a_client_that_came_with_a_root_that_was_refused_is_not_judged_by_it() {
        let parts = [(Role::Root, true, Some(FIRST)), (Role::Timestamp, false, Some(TIMESTAMP))];
        assert_eq!(kind(judge(EPOCH_MS).judge(&record(&parts, 5))), "unchecked");
        assert_eq!(kind(judge(EPOCH_MS).judge(b"nothing")), "unchecked");
    }

    #[test]
    fn a_snapshot_is_as_old_as_the_timestamp_that_names_it() {
        let judge = judge(EPOCH_MS);
        let newer = judge.seen.check((1, Role::Snapshot), 3, (Nanos(6), Nanos(7)), Nanos::ZERO);
        assert_eq!(newer, Ok(()));
        let mut record = record(&WHOLE[..3], 5);
        let late = RefreshPart {
            role: Role::Snapshot,
            is_known: false,
            sent: Nanos(9),
            received: Nanos(10),
            body: Some(SNAPSHOT),
        };
        late.write(&mut record);
        assert_eq!(kind(judge.judge(&record)), "kept");
    }
}
