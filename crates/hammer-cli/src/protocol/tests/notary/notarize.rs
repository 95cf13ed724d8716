//! An act: a nonce is fetched, signed, and handed in; the receipt is a promise.

use hammer_audit::AuditLink;
use hammer_core::promise::{Fault, Verdicts, Verifier};
use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::{ServiceClient, ServiceConfig, expect_ok};
use hammer_measure::{Nanos, Outcome};
use hammer_net::{Answer, Request};
use hammer_tlog::hash::{Hash, sha256};
use hammer_tlog::logs::audit::{LeafFormat as _, Receipt};
use http::header::AUTHORIZATION;
use http::{HeaderValue, Method};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

use super::log::{NotaryLeaves, RECEIPT};

pub(super) struct Notarize {
    pub(super) service: ServiceConfig,
    pub(super) seed: u64,
    pub(super) epoch_unix_ms: u64,
    pub(super) key: Hash,
    pub(super) link: AuditLink,
}

/// The token that a user fetches as it enters.
#[derive(Default)]
pub(super) struct Token(Option<HeaderValue>);

/// The place of each series.
const NONCE: usize = 1;
const SUBMIT: usize = 2;
const TOKEN: usize = 3;

impl Workload for Notarize {
    type Op = Answer;
    type Session = ServiceClient;
    type User = Token;
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        let spec = SeriesSpec::new;
        vec![spec("flow", true), spec("nonce", false), spec("submit", false), spec("token", false)]
    }

    fn prepare(&self, (): &mut (), _seq: u64, reuse: Option<Answer>) -> Answer {
        reuse.unwrap_or_default()
    }

    async fn open(&self, context: ShardContext) -> Result<ServiceClient, FatalError> {
        Ok(self.service.open(&context).await?)
    }

    async fn enter(
        &self,
        service: &ServiceClient,
        _user: u64,
        record: &OperationRecord,
    ) -> Result<Token, Ended> {
        let mut answer = Answer::default();
        self.ask(service, record, (TOKEN, "/token"), &Token(None), Vec::new(), &mut answer).await?;
        let token = [b"Bearer ", &answer.body[..]].concat();
        Ok(Token(HeaderValue::from_bytes(&token).ok()))
    }

    async fn execute(
        &self,
        service: &ServiceClient,
        token: &Token,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Ended {
        match self.notarized(service, token, answer, record).await {
            Ok(()) => Ended::accepted(200),
            Err(ended) => ended,
        }
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &["receipt"]
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        let (key, link) = (self.key, self.link.clone());
        Some(Box::new(ReceiptVerifier { key, link, epoch_unix_ms: self.epoch_unix_ms }))
    }
}

impl Notarize {
    async fn notarized(
        &self,
        service: &ServiceClient,
        token: &Token,
        answer: &mut Answer,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        self.ask(service, record, (NONCE, "/nonce"), token, Vec::new(), answer).await?;
        let (nonce, seed) = (answer.body.clone(), self.seed ^ record.seq());
        let act = record.compute(move || act(&nonce, seed)).await;
        self.ask(service, record, (SUBMIT, "/submit"), token, act.clone(), answer).await?;
        let leaf = NotaryLeaves::leaf_hash(&&act[..]).map_err(|_| malformed("no leaf"))?;
        let [sent, done] = [answer.wire.sent, answer.wire.done].map(Option::unwrap_or_default);
        let instants = [record.intended(), sent, done].map(|at| at.0.to_be_bytes()).concat();
        record.promise(RECEIPT, &[&instants[..], &leaf.0, &answer.body].concat());
        Ok(())
    }

    /// A step: what is at a path, with the user's token; anything but 200 ends the flow.
    async fn ask(
        &self,
        service: &ServiceClient,
        record: &OperationRecord,
        (series, path): (usize, &str),
        token: &Token,
        body: Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(), Ended> {
        let path = service.path(path).map_err(|_| malformed("no path"))?;
        let mut request = Request { method: Method::POST, body: body.into(), ..Request::get(path) };
        request.headers.extend(token.0.clone().map(|token| (AUTHORIZATION, token)));
        let mut step = record.step(series);
        service.send(&mut step, &request, answer).await?;
        expect_ok(&mut step, answer)
    }
}

fn malformed(why: &'static str) -> Ended {
    Ended::failed(Outcome::Malformed, why)
}

/// The nonce, the key that signed it, and the signature.
fn act(nonce: &[u8], seed: u64) -> Vec<u8> {
    let key = Ed25519KeyPair::from_seed_unchecked(&sha256(&seed.to_be_bytes()).0).unwrap();
    [nonce, key.public_key().as_ref(), key.sign(nonce).as_ref()].concat()
}

/// Holds receipts against the notary's key, and has the auditor look for their acts.
struct ReceiptVerifier {
    key: Hash,
    link: AuditLink,
    epoch_unix_ms: u64,
}

impl Verifier for ReceiptVerifier {
    fn check(&mut self, seq: u64, record: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        let number = |at: usize| u64::from_be_bytes(record[at..at + 8].try_into().unwrap());
        let (leaf, receipt) = (Hash::from_slice(&record[24..56]).unwrap(), &record[56..]);
        let Some((index, signature)) = receipt.split_first_chunk() else {
            return verdicts.broken(RECEIPT, seq, Fault::new("bad-receipt", "it is too short"), Some(record));
        };
        let signed = [&leaf.0[..], index].concat();
        if UnparsedPublicKey::new(&ED25519, self.key.0).verify(&signed, signature).is_err() {
            let fault = Fault::new("bad-receipt", "its signature does not verify");
            return verdicts.broken(RECEIPT, seq, fault, Some(record));
        }
        let promised_ms = self.epoch_unix_ms + number(16) / 1_000_000;
        let receipt = Receipt::new(seq, leaf, Some(u64::from_be_bytes(*index)), number(16), promised_ms);
        let receipt = receipt.sent(number(0), number(8)).within(DELAY_MS);
        if !self.link.hold(receipt, verdicts.part()) {
            verdicts.unchecked(RECEIPT);
        }
    }

    fn tick(&mut self, _now: Nanos, verdicts: &mut Verdicts) {
        self.link.pass_on(verdicts);
    }
}

/// What the notary has to publish an act: long enough for any machine.
const DELAY_MS: u64 = 600_000;
