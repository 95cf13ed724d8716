//! Logins by certificate: a nonce of the service is signed here, and shown.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use hammer_core::promise::Verifier;
use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::{ServiceClient, ServiceConfig};
use hammer_net::Answer;

use crate::answer_fault::AnswerFault;
use crate::json_request::{NO_PATH, get, none, post, send};
use crate::login::{LOGIN, LoginJudge, LoginRecord};
use crate::rest_pki::{AUTHENTICATION, AUTHENTICATIONS, Authenticated, Nonce, Started, authentication};
use crate::signer::{Signer, sign};

/// Logs in by certificate, in Rest PKI's dialect. A success whose validation has errors is a refusal. Who is let in is a promise, judged beside
/// the load.
pub struct AuthenticateWorkload {
    signers: Vec<Arc<Signer>>,
    by_token: bool,
    judge: LoginJudge,
    service: ServiceConfig,
}

/// A shard's client, and the room for what it was promised last.
pub struct AuthenticateSession {
    client: ServiceClient,
    promised: RefCell<Vec<u8>>,
}

/// A login, and the room for what it is answered with.
#[derive(Default)]
pub struct AuthenticateOp {
    seq: u64,
    signature: Vec<u8>,
    body: Vec<u8>,
    answer: Answer,
}

impl AuthenticateWorkload {
    /// Logins of these signers in turn, by a token of the service, or by the nonce itself.
    pub fn new(signers: Vec<Arc<Signer>>, by_token: bool, service: ServiceConfig) -> Self {
        let judge = LoginJudge::new(&signers);
        Self { signers, by_token, judge, service }
    }

    async fn flow(
        &self,
        session: &AuthenticateSession,
        op: &mut AuthenticateOp,
        record: &OperationRecord,
    ) -> Result<Ended, Ended> {
        let client = &session.client;
        let path = |path: &str| client.path(&format!("/{path}")).map_err(|_| NO_PATH);
        let mut step = record.step(START);
        let (nonce, token) = match self.by_token {
            true => {
                send(client, &mut step, &post(path(AUTHENTICATIONS)?, "{}"), &mut op.answer).await?;
                let started = Started::read(&op.answer.body).map_err(|why| none(client, &mut step, &why))?;
                (started.to_be_signed, Some(started.token))
            }
            false => {
                send(client, &mut step, &get(path(AUTHENTICATION)?), &mut op.answer).await?;
                (Nonce::read(&op.answer.body).map_err(|why| none(client, &mut step, &why))?.0, None)
            }
        };
        drop(step);
        let place = (op.seq % self.signers.len() as u64) as usize;
        let signer = self.signers[place].clone();
        let certificate = signer.key.certificate().to_vec();
        op.signature = sign(signer, nonce.clone(), std::mem::take(&mut op.signature), record).await?;
        let shown = token.is_none().then_some(nonce.as_slice());
        authentication(shown, &certificate, &op.signature, &mut op.body);
        let to = match token {
            Some(token) => path(&format!("{AUTHENTICATIONS}/{token}/SignedBytes"))?,
            None => path(AUTHENTICATION)?,
        };
        let mut step = record.step(FINISH);
        send(client, &mut step, &post(to, op.body.clone()), &mut op.answer).await?;
        let answer = Authenticated::read(&op.answer.body).map_err(|why| none(client, &mut step, &why))?;
        if let Some(fault) = answer.fault {
            return Err(none(client, &mut step, &AnswerFault::Invalid(fault)));
        }
        let login = LoginRecord::new(place, &nonce, answer.serial_number, answer.thumbprint);
        let mut promised = session.promised.borrow_mut();
        login.write(&mut promised);
        record.promise(LOGIN, &promised);
        promised.shrink_to(KEPT_RECORD);
        Ok(Ended::accepted(200))
    }
}

impl Workload for AuthenticateWorkload {
    type Op = Box<AuthenticateOp>;
    type Session = AuthenticateSession;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        [("authentication", true), ("start", false), ("finish", false)]
            .map(|(name, operation)| SeriesSpec::new(name, operation))
            .into()
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<Box<AuthenticateOp>>) -> Box<AuthenticateOp> {
        let mut op = reuse.unwrap_or_default();
        op.seq = seq;
        op
    }

    async fn open(&self, context: ShardContext) -> Result<AuthenticateSession, FatalError> {
        Ok(AuthenticateSession { client: self.service.open(&context).await?, promised: RefCell::default() })
    }

    async fn execute(
        &self,
        session: &AuthenticateSession,
        (): &(),
        op: &mut Box<AuthenticateOp>,
        record: &OperationRecord,
    ) -> Ended {
        record.is_of("login", || op.seq);
        let ended = self.flow(session, op, record).await;
        // They hold on to the buffer that the connection read them into.
        op.answer.headers.clear();
        ended.unwrap_or_else(|ended| ended)
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &["login"]
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        Some(Box::new(self.judge.clone()))
    }
}

impl fmt::Debug for AuthenticateWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthenticateWorkload").field("by_token", &self.by_token).finish_non_exhaustive()
    }
}

/// The places of the steps among the series.
const START: usize = 1;
const FINISH: usize = 2;
/// Answers are of a few KiB.
const KEPT_RECORD: usize = 64 << 10;
