//! The steps of a verify flow, one after another.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hammer_core::record::{OperationRecord, StepGuard};
use hammer_core::workload::Ended;
use hammer_exchange::expect_ok;
use hammer_measure::{Nanos, Outcome};
use hammer_net::Answer;

use super::VerifyWorkload;
use super::op::VerifyOp;
use super::session::{NO_LOCATION, VerifyRequests, VerifySession};
use crate::devices::DeviceScratch;
use crate::plan::NonceSource;
use crate::record::ResultRecord;
use crate::session_object::{SessionObject, SessionStatus};

/// A session that was opened.
struct OpenSession {
    /// The frontend that it is pinned to, where it is.
    frontend: Option<usize>,
    is_same_nonce: bool,
}

/// When evidence was sent, and what came of it.
struct ShownEvidence {
    sent: Nanos,
    status: SessionStatus,
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
        let mut step = record.step(self.series.evidence);
        session.client.send_to(&mut step, opened.frontend, &requests.evidence, &mut op.answer).await?;
        let status = appraised(&mut step, &op.answer)?;
        drop(step);
        let mut shown = ShownEvidence { sent: op.answer.wire.sent.unwrap_or_default(), status };
        while shown.status == SessionStatus::Processing {
            session.clock.sleep_until(session.clock.now().saturating_add(self.poll_every())).await;
            let mut step = record.step(self.series.poll);
            session.client.send_to(&mut step, opened.frontend, &requests.read, &mut op.answer).await?;
            shown.status = appraised(&mut step, &op.answer)?;
        }
        self.promised(session, (op, device), (&opened, shown.sent), record)?;
        if let Some(series) = self.series.result {
            let mut step = record.step(series);
            session.client.send_to(&mut step, opened.frontend, &requests.read, &mut op.answer).await?;
            appraised(&mut step, &op.answer)?;
            drop(step);
            self.promised(session, (op, device), (&opened, shown.sent), record)?;
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
        let Some(nonce) = waiting(&op.answer.body) else {
            return Err(ends(&mut step, Ended::failed(Outcome::Malformed, "no session that waits")));
        };
        let Some(path) = session.path_of_session(&op.answer) else {
            return Err(ends(&mut step, NO_LOCATION));
        };
        let is_same_nonce = !is_own || nonce == op.nonce;
        if !is_own {
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
        (op, device): (&VerifyOp, u64),
        (opened, sent): (&OpenSession, Nanos),
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let object = SessionObject::parse(&op.answer.body);
        // It was read before; a session that is complete without a result is none.
        let jwt = object.as_ref().and_then(|object| object.result.as_deref()).ok_or(NO_RESULT)?;
        let result = ResultRecord {
            class: op.class,
            device,
            sent,
            received: op.answer.wire.done.unwrap_or_else(|| session.clock.now()),
            nonce: &op.nonce,
            is_same_nonce: opened.is_same_nonce,
            jwt: jwt.as_bytes(),
        };
        session.promise(record, &result);
        Ok(())
    }

    fn poll_every(&self) -> Nanos {
        self.plan.poll_every.duration().into()
    }
}

/// The nonce of a session that waits for evidence.
fn waiting(body: &[u8]) -> Option<Vec<u8>> {
    let object = SessionObject::parse(body)?;
    let nonce = STANDARD.decode(object.nonce.as_bytes()).ok()?;
    let is_usable = object.status() == Some(SessionStatus::Waiting) && MOST_NONCE >= nonce.len();
    is_usable.then_some(nonce)
}

/// How far a session is that was shown evidence: complete, or being processed.
fn appraised(step: &mut StepGuard<'_>, answer: &Answer) -> Result<SessionStatus, Ended> {
    // 202 says that it is being processed.
    if answer.status.as_u16() != 202 {
        if answer.status.as_u16() == 404 {
            return Err(ends(step, NO_SESSION));
        }
        expect_ok(step, answer)?;
    }
    let object = SessionObject::parse(&answer.body);
    match object.as_ref().and_then(SessionObject::status) {
        Some(SessionStatus::Complete) if object.is_some_and(|object| object.result.is_some()) => {
            Ok(SessionStatus::Complete)
        }
        Some(SessionStatus::Processing) => Ok(SessionStatus::Processing),
        Some(SessionStatus::Failed) => Err(ends(step, FAILED)),
        Some(SessionStatus::Complete) => Err(ends(step, NO_RESULT)),
        Some(SessionStatus::Waiting) => Err(ends(step, WAITING)),
        None => Err(ends(step, NO_OBJECT)),
    }
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

/// What a record has room for; sessions have 64 bytes at most.
const MOST_NONCE: usize = 255;
/// Nobody at this frontend knows the session: it is over, or another frontend keeps it.
const NO_SESSION: Ended = Ended::failed(Outcome::Refused, "session not found");
const FAILED: Ended = Ended::failed(Outcome::Refused, "session failed, with HTTP 200");
const NO_RESULT: Ended = Ended::failed(Outcome::Malformed, "complete without a result");
const WAITING: Ended = Ended::failed(Outcome::Malformed, "still waiting for evidence that it was shown");
const NO_OBJECT: Ended = Ended::failed(Outcome::Malformed, "no session object");
