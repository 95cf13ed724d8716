//! The steps of a verify flow, one after another.

use hammer_core::record::{OperationRecord, StepGuard};
use hammer_core::workload::Ended;
use hammer_exchange::{SentSecrets, expect_ok};
use hammer_measure::{Nanos, Outcome};
use hammer_net::{Answer, Request};

use super::VerifyWorkload;
use super::op::VerifyOp;
use super::session::{NO_LOCATION, NONCE_SIZE, OTHER_LOCATION, VerifyRequests, VerifySession};
use crate::devices::DeviceScratch;
use crate::plan::NonceSource;
use crate::record::ResultRecord;
use crate::session_object::{SessionEcho, SessionObject, SessionStatus, is_problem};

/// A session that was opened.
struct OpenSession {
    /// The frontend that it is pinned to, where it is.
    frontend: Option<usize>,
    /// Whether it showed the nonce that it was asked for.
    is_same_nonce: bool,
}

/// Whose evidence a session was shown, and when.
struct ShownEvidence {
    device: u64,
    sent: Nanos,
    is_same_nonce: bool,
}

impl VerifyWorkload {
    /// Opens a session, shows evidence, waits for the result and deletes the session.
    pub(super) async fn flow(
        &self,
        session: &VerifySession,
        op: &mut VerifyOp,
        record: &OperationRecord,
    ) -> Result<Ended, Ended> {
        let device = self.drawn(session, op).await?;
        record.is_of("device", || device);
        if self.plan.nonce == NonceSource::Device && op.nonce.is_empty() {
            op.nonce.extend_from_slice(&self.devices.nonce(device));
        }
        let mut requests = op.requests.take().unwrap_or_else(|| session.requests());
        let ended = self.steps(session, (op, &mut requests), device, record).await;
        op.requests = Some(requests);
        ended
    }

    async fn steps(
        &self,
        session: &VerifySession,
        (op, requests): (&mut VerifyOp, &mut VerifyRequests),
        device: u64,
        record: &OperationRecord,
    ) -> Result<Ended, Ended> {
        let opened = self.open_session(session, (op, requests), record).await?;
        if !op.is_signed {
            self.sign_within(op, record).await;
        }
        requests.evidence.body = op.evidence.body();
        let (mut series, mut request, mut sent) = (self.series.evidence, &requests.evidence, None);
        let shown = loop {
            let mut step = record.step(series);
            session.client.send_to(&mut step, opened.frontend, request, &mut op.answer).await?;
            let sent = *sent.get_or_insert(op.answer.wire.sent.unwrap_or_default());
            if let Some(object) = appraised(&mut step, (session, request), &op.answer)? {
                let shown = ShownEvidence { device, sent, is_same_nonce: opened.is_same_nonce };
                self.promised(session, op, (&shown, &object), record);
                break shown;
            }
            drop(step);
            session.clock.sleep_until(session.clock.now().saturating_add(self.poll_every())).await;
            (series, request) = (self.series.poll, &requests.read);
        };
        if let Some(series) = self.series.result {
            let mut step = record.step(series);
            session.client.send_to(&mut step, opened.frontend, &requests.read, &mut op.answer).await?;
            match appraised(&mut step, (session, &requests.read), &op.answer)? {
                Some(object) => self.promised(session, op, (&shown, &object), record),
                None => return Err(ends(&mut step, UNDONE)),
            }
        }
        if let Some(series) = self.series.delete {
            let mut step = record.step(series);
            session.client.send_to(&mut step, opened.frontend, &requests.delete, &mut op.answer).await?;
            let ended = Ended::of_status(op.answer.status.as_u16());
            if ended.outcome != Outcome::Accepted {
                return Err(ended);
            }
        }
        Ok(Ended::accepted(200))
    }

    /// Opens a session by the operation's nonce, or takes over the one that the service chose.
    async fn open_session(
        &self,
        session: &VerifySession,
        (op, requests): (&mut VerifyOp, &mut VerifyRequests),
        record: &OperationRecord,
    ) -> Result<OpenSession, Ended> {
        let is_own = self.plan.nonce != NonceSource::Service;
        if is_own {
            requests.new_session.path = session.path_of_nonce(&op.nonce)?;
        }
        let mut step = record.step(self.series.new_session);
        session.client.send_to(&mut step, None, &requests.new_session, &mut op.answer).await?;
        if !matches!(op.answer.status.as_u16(), 200 | 201) {
            return Err(refused(&mut step, &op.answer));
        }
        let object = SessionObject::parse(&op.answer.body);
        let Some(nonce) = object.and_then(|object| object.waiting_nonce()) else {
            let ended = Ended::failed(Outcome::Malformed, "no session that waits");
            let sent = (&requests.new_session, SentSecrets::default());
            return Err(session.client.ends_by(&mut step, ended, sent, &op.answer.body));
        };
        let Some(path) = session.path_of_session(&op.answer) else {
            let is_there = op.answer.headers.contains_key(http::header::LOCATION);
            return Err(ends(&mut step, if is_there { OTHER_LOCATION } else { NO_LOCATION }));
        };
        // One that is not shown yet is that of the result.
        let is_same_nonce = !is_own || nonce.is_empty() || nonce == op.nonce;
        if !is_own {
            if nonce.len() != NONCE_SIZE {
                return Err(ends(&mut step, OTHER_SIZE));
            }
            op.nonce = nonce;
        }
        let VerifyRequests { evidence, read, delete, .. } = requests;
        evidence.path = path.clone();
        read.path = path.clone();
        delete.path = path;
        let frontend = op.answer.endpoint.filter(|_| self.plan.pinned);
        Ok(OpenSession { frontend, is_same_nonce })
    }

    /// Signs on the crew what could not be signed ahead.
    async fn sign_within(&self, op: &mut VerifyOp, record: &OperationRecord) {
        let (devices, profile) = (self.devices.clone(), self.plan.profile.into());
        let (mut taken, token) = (std::mem::take(op), self.token(op.seq));
        let token = crate::devices::TokenNumber { seq: taken.seq, ..token };
        *op = record
            .compute(move || {
                taken.sign(&devices, profile, token, &mut DeviceScratch::default());
                taken
            })
            .await;
    }

    /// Hands over what the service says of the device.
    fn promised(
        &self,
        session: &VerifySession,
        op: &VerifyOp,
        (shown, object): (&ShownEvidence, &SessionObject<'_>),
        record: &OperationRecord,
    ) {
        // What is repeated is compared here, so that a record need not hold the evidence twice.
        let echo = match shown.is_same_nonce {
            true => object.echo(&op.nonce, op.evidence.bytes()),
            false => SessionEcho::OpenedWithAnother,
        };
        let result = ResultRecord {
            class: op.class,
            device: shown.device,
            sent: shown.sent,
            received: op.answer.wire.done.unwrap_or_else(|| session.clock.now()),
            nonce: &op.nonce,
            echo,
            jwt: object.result.as_deref().unwrap_or_default().as_bytes(),
        };
        session.promise(record, &result);
    }

    fn poll_every(&self) -> Nanos {
        self.plan.poll_every.duration().into()
    }
}

/// A session that was shown evidence, and has a result; none while that is being processed.
fn appraised<'a>(
    step: &mut StepGuard<'_>,
    (session, request): (&VerifySession, &Request),
    answer: &'a Answer,
) -> Result<Option<SessionObject<'a>>, Ended> {
    match answer.status.as_u16() {
        // It is being processed.
        202 => {}
        404 if is_problem(&answer.body) => return Err(ends(step, NO_SESSION)),
        _ => expect_ok(step, answer)?,
    }
    let object = SessionObject::parse(&answer.body);
    let ended = match object.as_ref().map(|object| (object.status(), &object.result)) {
        Some((Some(SessionStatus::Complete), Some(_))) => return Ok(object),
        Some((Some(SessionStatus::Processing), _)) => return Ok(None),
        Some((Some(SessionStatus::Failed), _)) => FAILED,
        Some((Some(SessionStatus::Complete), None)) => NO_RESULT,
        Some((Some(SessionStatus::Waiting), _)) => WAITING,
        Some((None, _)) | None => NO_OBJECT,
    };
    let sent = (request, SentSecrets::default());
    Err(session.client.ends_by(step, ended, sent, &answer.body))
}

/// How the status of an answer ends a step that knows no such success.
fn refused(step: &mut StepGuard<'_>, answer: &Answer) -> Ended {
    let ended = Ended::of_status(answer.status.as_u16());
    match ended.outcome {
        Outcome::Accepted => {
            ends(step, Ended::failed(Outcome::Malformed, "success that is neither 200 nor 201"))
        }
        _ => ended,
    }
}

fn ends(step: &mut StepGuard<'_>, ended: Ended) -> Ended {
    step.ends(ended);
    ended
}

/// Nobody at this frontend knows the session: it is over, or another frontend keeps it.
const NO_SESSION: Ended = Ended::failed(Outcome::Refused, "session not found");
const FAILED: Ended = Ended::failed(Outcome::Refused, "session failed, with HTTP 200");
const NO_RESULT: Ended = Ended::failed(Outcome::Malformed, "complete without a result");
const WAITING: Ended = Ended::failed(Outcome::Malformed, "still waiting for evidence that it was shown");
const UNDONE: Ended = Ended::failed(Outcome::Malformed, "processing again behind its result");
const OTHER_SIZE: Ended = Ended::failed(Outcome::Malformed, "nonce of another size than was asked for");
const NO_OBJECT: Ended = Ended::failed(Outcome::Malformed, "no session object");
