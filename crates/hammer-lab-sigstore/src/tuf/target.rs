//! The TUF repository behind its server.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use hammer_lab::{
    FaultScript, LabError,
    clock::Clock,
    handle::{LabConfig, LabHandle, LabTarget},
    lie_rule::{AnswerLies, LieRecord, LieRule},
    serve::{
        ServePlan, Target,
        answer::{self, AnswerBody},
    },
};
use http::{Method, Response, StatusCode, request::Parts};

use super::{
    plan::{TufLabPlan, TufLieKind},
    repository::{Repository, Versioned, snapshot_of},
};

/// Everything that the embedded repository needs to start: its plan, and its targets by their names.
#[derive(Debug)]
pub struct TufConfig {
    /// The plan.
    pub plan: TufLabPlan,
    /// The targets.
    pub targets: BTreeMap<String, Bytes>,
}

/// A TUF repository that runs.
pub type TufLabHandle = LabHandle<TufTarget>;

/// A TUF repository behind its server.
#[derive(Debug)]
pub struct TufTarget {
    repository: Repository,
    clock: Arc<dyn Clock>,
    began: Duration,
    mirror_every: Option<Duration>,
    timestamps: AtomicU64,
    /// Of answers with a root, a timestamp and a target.
    lies: [AnswerLies<TufLieKind>; 3],
}

impl TufTarget {
    /// The root of version 1, with which clients come.
    #[must_use]
    pub fn first_root(&self) -> Vec<u8> {
        self.repository.root(1, false).unwrap_or_default()
    }

    /// The lies that were told because the plan said so, and the count of those beyond the listed ones.
    #[must_use]
    pub fn told_lies(&self) -> (Vec<LieRecord<TufLieKind>>, u64) {
        let of = self.lies.iter().map(AnswerLies::told);
        of.fold((Vec::new(), 0), |(mut all, unlisted), (told, more)| {
            all.extend(told);
            (all, unlisted + more)
        })
    }

    fn since(&self) -> Duration {
        self.clock.elapsed().saturating_sub(self.began)
    }

    /// Says that it lied, in the answer with what has that version.
    fn lied(&self, about: usize, kind: TufLieKind, path: &str, version: u64) {
        self.lies[about].tell(LieRecord { kind, subject: path.to_owned(), serial: format!("{version:x}") });
    }

    fn root(&self, version: u64) -> Option<Vec<u8>> {
        if version > self.repository.root_version(self.since()) {
            return None;
        }
        let lie = self.lies[ROOTS].next(self.clock.elapsed()).filter(|_| version > 1);
        if let Some(kind) = lie {
            self.lied(ROOTS, kind, "root.json", version);
        }
        self.repository.root(version, lie.is_some())
    }

    fn timestamp(&self) -> Vec<u8> {
        let mut since = self.since();
        // Only the parity counts.
        let is_second = self.timestamps.fetch_add(1, Ordering::Relaxed) % 2 == 1;
        if let Some(every) = self.mirror_every.filter(|every| is_second && !every.is_zero()) {
            since -= Duration::from_nanos((since.as_nanos() % every.as_nanos()) as u64);
        }
        let version = self.repository.timestamp_version(since);
        let Some(kind) = self.lies[TIMESTAMPS].next(self.clock.elapsed()) else {
            return self.repository.timestamp(version, None, false);
        };
        let (told, body) = match kind {
            TufLieKind::RolledBackTimestamp => (version > 1, self.repository.timestamp(1, None, false)),
            TufLieKind::RolledBackSnapshot => {
                (snapshot_of(version) > 1, self.repository.timestamp(version, Some(1), false))
            }
            _ => (true, self.repository.timestamp(version, None, true)),
        };
        if told {
            self.lied(TIMESTAMPS, kind, "timestamp.json", version);
        }
        body
    }

    fn target(&self, path: &str) -> Option<Bytes> {
        let body = self.repository.target(path)?;
        let Some(kind) = self.lies[TARGETS].next(self.clock.elapsed()) else { return Some(body.clone()) };
        self.lied(TARGETS, kind, path, 0);
        // As long, and not the same.
        let mut other = body.to_vec();
        if let Some(last) = other.last_mut() {
            *last ^= 1;
        }
        Some(other.into())
    }

    fn versioned(&self, file: Versioned) -> Option<Vec<u8>> {
        match file {
            Versioned::Root(version) => self.root(version),
            Versioned::Snapshot(version) => {
                let newest = snapshot_of(self.repository.timestamp_version(self.since()));
                (1..=newest).contains(&version).then(|| self.repository.snapshot(version))
            }
            Versioned::Targets(1) => Some(self.repository.targets()),
            Versioned::Targets(_) => None,
        }
    }
}

impl LabConfig for TufConfig {
    type Target = TufTarget;

    const THREAD: &'static str = "lab-tuf";

    fn serve(&self) -> &ServePlan {
        &self.plan.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.plan.faults
    }

    fn target(self, clock: &Arc<dyn Clock>, _: &str) -> Result<TufTarget, LabError> {
        let began = clock.elapsed();
        let lies = |kinds: &[TufLieKind]| {
            let of = |rule: &&LieRule<TufLieKind>| kinds.contains(&rule.kind);
            let rules: Vec<_> = self.plan.lies.iter().filter(of).cloned().collect();
            AnswerLies::new(&rules, began)
        };
        let lies = [
            lies(&[TufLieKind::RootByTooFewKeys]),
            lies(&[
                TufLieKind::RolledBackTimestamp,
                TufLieKind::RolledBackSnapshot,
                TufLieKind::ExpiredTimestamp,
            ]),
            lies(&[TufLieKind::TargetOfAnotherHash]),
        ];
        Ok(TufTarget {
            repository: Repository::new(&self.plan, self.targets, clock.unix_ms() / 1000)?,
            clock: Arc::clone(clock),
            began,
            mirror_every: self.plan.mirror_every.map(hammer_values::TimeSpan::duration),
            timestamps: AtomicU64::new(0),
            lies,
        })
    }
}

impl LabTarget for TufTarget {
    fn restart(&self, now: Duration) {
        self.lies.iter().for_each(|lies| lies.restart(now));
    }
}

impl Target for TufTarget {
    const ENDPOINTS: &'static [&'static str] = &["root", TIMESTAMP, "snapshot", "targets", TARGET, "other"];

    fn endpoint(&self, _: &Method, path: &str) -> &'static str {
        let path = path.strip_prefix('/').unwrap_or(path);
        match (path, Versioned::of(path)) {
            ("timestamp.json", _) => TIMESTAMP,
            (_, Some(Versioned::Root(_))) => "root",
            (_, Some(Versioned::Snapshot(_))) => "snapshot",
            (_, Some(Versioned::Targets(_))) => "targets",
            (path, None) if path.starts_with(TARGET_FOLDER) => TARGET,
            _ => "other",
        }
    }

    async fn answer(self: Arc<Self>, endpoint: &'static str, parts: Parts, _: Bytes) -> Response<AnswerBody> {
        if ![Method::GET, Method::HEAD].contains(&parts.method) {
            let reason = format!("method not allowed: {}", parts.method);
            return answer::error(StatusCode::METHOD_NOT_ALLOWED, &reason);
        }
        let path = parts.uri.path();
        let path = path.strip_prefix('/').unwrap_or(path);
        let body = match endpoint {
            TIMESTAMP => Some(self.timestamp().into()),
            TARGET => path.strip_prefix(TARGET_FOLDER).and_then(|path| self.target(path)),
            _ => Versioned::of(path).and_then(|file| self.versioned(file)).map(Bytes::from),
        };
        match body {
            Some(body) => answer::json(body),
            None => answer::error(StatusCode::NOT_FOUND, &format!("{path} is not here")),
        }
    }
}

const TIMESTAMP: &str = "timestamp";
const TARGET: &str = "target";
const TARGET_FOLDER: &str = "targets/";
const ROOTS: usize = 0;
const TIMESTAMPS: usize = 1;
const TARGETS: usize = 2;
