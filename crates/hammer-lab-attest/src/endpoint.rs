//! Which request is which endpoint, and who answers it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use hammer_lab::{
    LabError, LabStats,
    clock::Clock,
    fault::TimedFault,
    serve::{
        Target,
        answer::{self, AnswerBody},
    },
};
use hammer_tlog::encoding::base64;
use http::{HeaderValue, Method, Response, StatusCode, header::LOCATION, request::Parts};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::sync::watch;

use crate::{
    accept, cmw,
    discovery::{self, Discovery},
    lab_time::LabTime,
    plan::{AttestLabPlan, AttestLieKind, LateAnswer, LateStart, Processing, ToldAttestLie},
    problem::{Answered, Problem, not_found},
    provisioning::Provisioning,
    session::{
        Appraised, AskedNonce, Nonce, SESSION_TYPE, Session, SessionId, SessionIds, SessionText, Sessions,
        Stage,
    },
    store::{Store, StoreGate, TooManyClients},
    taken_types::content_type,
    verification::{AppraisalFailed, SentEvidence, Verification},
};

/// A Veraison behind its server.
#[derive(Debug)]
pub struct AttestTarget {
    time: LabTime,
    discovery: Discovery,
    sessions: Sessions,
    session_ids: SessionIds,
    session_text: SessionText,
    session_ttl: Duration,
    provisioning: Provisioning,
    verification: Verification,
    store: Store,
    gate: StoreGate,
    processing: Option<Processing>,
    random: SystemRandom,
    /// The last nonce that was chosen here.
    last_minted: Mutex<Option<Nonce>>,
    starts_late: Option<LateStart>,
    /// Its start, on its clock.
    started: Duration,
}

impl AttestTarget {
    pub(crate) fn new(plan: &AttestLabPlan, clock: Arc<dyn Clock>) -> Result<Self, LabError> {
        let random = SystemRandom::new();
        let mut place = [0; 8];
        let unusable = |error: &dyn std::fmt::Display| LabError::Plan {
            key: "key_seed".into(),
            reason: error.to_string(),
        };
        random.fill(&mut place).map_err(|error| unusable(&error))?;
        let started = clock.elapsed();
        let verification = Verification::new(plan, started)?;
        Ok(Self {
            time: LabTime::new(clock),
            discovery: Discovery::new(plan.release, verification.signer().public_key()),
            sessions: Sessions::new(plan.max_sessions, plan.lost_sessions, plan.faults.seed, started),
            session_ids: SessionIds::new(place),
            session_text: SessionText::new(plan.release),
            session_ttl: plan.session_ttl.duration(),
            provisioning: Provisioning::new(plan, started)?,
            verification,
            store: Store::default(),
            gate: StoreGate::new(plan.store),
            processing: plan.processing,
            random,
            last_minted: Mutex::default(),
            starts_late: plan.starts_late,
            started,
        })
    }

    pub(crate) fn restart(&self, now: Duration) {
        self.sessions.restart(now);
        self.gate.restart();
        self.provisioning.lies().restart(now);
        self.verification.lies().restart(now);
    }

    /// The lies that were told because the plan said so: those of results in order, and those of CoRIMs in order; up to 10,000 of each are
    /// listed, and the count of those beyond is given.
    #[must_use]
    pub fn told_lies(&self) -> (Vec<ToldAttestLie>, u64) {
        let ((mut told, unlisted), (of_corims, of_corims_unlisted)) =
            (self.verification.lies().told(), self.provisioning.lies().told());
        told.extend(of_corims);
        (told, unlisted + of_corims_unlisted)
    }

    pub(crate) fn with_own_stats(&self, stats: LabStats) -> LabStats {
        LabStats { store_rows: self.store.rows(), ..stats }
    }

    pub(crate) fn timed_faults(&self) -> Vec<TimedFault> {
        self.sessions.timed_faults()
    }

    /// What it answers as long as it is not ready.
    fn late(&self) -> Option<LateAnswer> {
        let late = self.starts_late?;
        (self.time.elapsed() < self.started + late.ready_after.duration()).then_some(late.answer)
    }

    async fn answered(&self, endpoint: &'static str, parts: &Parts, body: &Bytes) -> Answered {
        let late = self.late();
        match late {
            Some(LateAnswer::Unavailable) => return Ok(answer::refusal(503, None)),
            Some(LateAnswer::NoTrustedServices) if NEEDS_TRUSTED_SERVICES.contains(&endpoint) => {
                return Err(Problem::internal(NO_TRUSTED_SERVICES));
            }
            _ => {}
        }
        let path = parts.uri.path();
        match endpoint {
            DISCOVERY => {
                let seconds = self.time.unix().as_secs();
                self.discovery.document(path, &parts.headers, late.is_none(), seconds)
            }
            SUBMIT => {
                let place = (&self.store, &self.gate, &self.time);
                self.provisioning.submit(&parts.headers, body, place).await
            }
            NEW_SESSION => self.begin_session(parts),
            EVIDENCE => self.appraise(parts, body).await,
            SESSION => {
                accept::check(&parts.headers, &[SESSION_TYPE])?;
                let id = session_id(path)?;
                let session = self.sessions.look(id, self.times()).ok_or_else(|| no_session(id))?;
                Ok(self.session_text.answer(StatusCode::OK, &session))
            }
            DELETE => {
                self.sessions.delete(session_id(path)?);
                let mut answer = Response::new(AnswerBody::default());
                *answer.status_mut() = StatusCode::NO_CONTENT;
                Ok(answer)
            }
            _ => Ok(not_found()),
        }
    }

    fn begin_session(&self, parts: &Parts) -> Answered {
        accept::check(&parts.headers, &[SESSION_TYPE])?;
        let asked = Nonce::of_query(parts.uri.query().unwrap_or_default(), &self.random)?;
        let unix = self.time.unix();
        let id = self.session_ids.next(unix);
        let nonce = match asked {
            AskedNonce::Given(nonce) => nonce,
            AskedNonce::Minted(nonce) => self.repeated(id, nonce),
        };
        let session = Session { nonce, expires: unix + self.session_ttl, stage: Stage::Waiting };
        let mut answer = self.session_text.answer(StatusCode::CREATED, &session);
        if let Ok(location) = HeaderValue::from_str(&format!("session/{id}")) {
            answer.headers_mut().insert(LOCATION, location);
        }
        self.sessions.begin(id, session, self.times());
        Ok(answer)
    }

    /// The nonce of a session that was minted for it, or the lie in its place.
    fn repeated(&self, id: SessionId, nonce: Nonce) -> Nonce {
        // Written whole, so that a panic elsewhere leaves nothing halfway.
        let mut last = self.last_minted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = last.as_ref().filter(|_| self.verification.repeats_nonce(self.time.elapsed())) {
            self.verification.lies().tell(ToldAttestLie {
                kind: AttestLieKind::RepeatedNonce,
                session: Some(id.to_string()),
                nonce: Some(base64(before.as_ref())),
                instance_id: None,
            });
            return before.clone();
        }
        *last = Some(nonce.clone());
        nonce
    }

    async fn appraise(&self, parts: &Parts, body: &Bytes) -> Answered {
        accept::check(&parts.headers, &[SESSION_TYPE])?;
        if body.is_empty() {
            return Err(Problem::bad_request("unable to read evidence from the request body"));
        }
        let unwrapped = cmw::unwrapped(content_type(&parts.headers), body)?;
        let (text, token) = match &unwrapped {
            None => (content_type(&parts.headers), body),
            Some(unwrapped) => (unwrapped.media_type.as_str(), &unwrapped.evidence),
        };
        let media_type = self.verification.types().read(text)?;
        let id = session_id(parts.uri.path())?;
        let nonce = self.sessions.with(id, self.times(), |session| session.nonce.clone());
        let nonce = nonce.ok_or_else(|| no_session(id))?;
        let passed = self.gate.read(self.store.rows(), self.time.clock()).await;
        let appraised = passed.map_err(|TooManyClients| AppraisalFailed).and_then(|()| {
            let sent =
                SentEvidence { session: id, nonce: nonce.as_ref(), media_type: (text, &media_type), token };
            self.verification.result(&self.store, &sent, self.times())
        });
        let (status, stage) = match &appraised {
            Ok(appraised) => self.stage(appraised),
            Err(_) => (StatusCode::OK, Stage::Failed),
        };
        let session = self.sessions.with(id, self.times(), |session| {
            session.stage = stage;
            session.clone()
        });
        appraised?;
        // It may be over, or deleted, by now.
        Ok(self.session_text.answer(status, &session.ok_or_else(|| no_session(id))?))
    }

    /// How far a session is that has been appraised, and how that is answered.
    fn stage(&self, appraised: &Appraised) -> (StatusCode, Stage) {
        let appraised = appraised.clone();
        match self.processing {
            None => (StatusCode::OK, Stage::Complete(appraised)),
            Some(Processing { polls, time }) => {
                let until = self.time.elapsed() + time.duration();
                (StatusCode::ACCEPTED, Stage::Processing { appraised, polls, until })
            }
        }
    }

    /// The clock's time, and that since the Unix epoch.
    fn times(&self) -> (Duration, Duration) {
        (self.time.elapsed(), self.time.unix())
    }
}

/// The session that a path names.
fn session_id(path: &str) -> Result<SessionId, Problem> {
    let text = path.strip_prefix(SESSIONS).unwrap_or_default();
    SessionId::parse(text).map_err(|error| {
        Problem::bad_request(format!("invalid session id ({path}) in path segment: {error}"))
    })
}

fn no_session(id: SessionId) -> Problem {
    let detail = format!("session not found for (id, tenant)=({id}, 0)");
    Problem::new(StatusCode::NOT_FOUND, detail)
}

impl Target for AttestTarget {
    const ENDPOINTS: &'static [&'static str] =
        &[DISCOVERY, SUBMIT, NEW_SESSION, EVIDENCE, SESSION, DELETE, "other"];

    fn endpoint(&self, method: &Method, path: &str) -> &'static str {
        let session = path.strip_prefix(SESSIONS).is_some_and(|id| !id.is_empty() && !id.contains('/'));
        match (method, path) {
            (&Method::GET, discovery::PROVISIONING | discovery::VERIFICATION | discovery::MANAGEMENT) => {
                DISCOVERY
            }
            (&Method::POST, SUBMIT_PATH) => SUBMIT,
            (&Method::POST, NEW_SESSION_PATH) => NEW_SESSION,
            (&Method::POST, _) if session => EVIDENCE,
            (&Method::GET, _) if session => SESSION,
            (&Method::DELETE, _) if session => DELETE,
            _ => "other",
        }
    }

    async fn answer(
        self: Arc<Self>,
        endpoint: &'static str,
        parts: Parts,
        body: Bytes,
    ) -> Response<AnswerBody> {
        self.answered(endpoint, &parts, &body).await.unwrap_or_else(Response::from)
    }

    fn lose_data(&self) {
        self.sessions.clear();
        self.store.clear();
    }

    async fn work(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
        loop {
            let next = self.time.elapsed() + SWEEP_INTERVAL;
            tokio::select! {
                () = self.time.clock().sleep_until(next) => self.sessions.sweep(self.time.unix()),
                _ = stopped.wait_for(|stop| *stop) => return,
            }
        }
    }
}

const DISCOVERY: &str = "discovery";
const SUBMIT: &str = "submit";
const NEW_SESSION: &str = "new-session";
const EVIDENCE: &str = "evidence";
const SESSION: &str = "session";
const DELETE: &str = "delete";
const NEEDS_TRUSTED_SERVICES: [&str; 4] = [DISCOVERY, SUBMIT, NEW_SESSION, EVIDENCE];
const NO_TRUSTED_SERVICES: &str = "rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial tcp 127.0.0.1:50051: connect: connection refused\"";
const SUBMIT_PATH: &str = "/endorsement-provisioning/v1/submit";
const NEW_SESSION_PATH: &str = "/challenge-response/v1/newSession";
const SESSIONS: &str = "/challenge-response/v1/session/";
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);
