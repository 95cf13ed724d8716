//! The steps of a signature, one after another.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::sync::Arc;

use hammer_core::record::OperationRecord;
use hammer_core::workload::Ended;
use hammer_measure::{Nanos, Outcome};
use hammer_net::{BodySink, Request};
use http::uri::PathAndQuery;

use super::session::{Requests, SignSession};
use super::{SignOp, SignWorkload, left};
use crate::answer_fault::AnswerFault;
use crate::dss::{self, ToBeSigned};
use crate::inline_document::InlineDocument;
use crate::json_request::{NO_PATH, ends, none, post, send};
use crate::outline::Outline;
use crate::record::{RecordedFile, SignatureRecord};
use crate::rest_pki::{self, Finished, Started};
use crate::signer::sign;

/// What is left of the first step for the second.
struct Begun {
    /// What is to be signed.
    to_be_signed: Vec<u8>,
    /// When it was asked for.
    sent: Nanos,
    /// What the file is asked for by.
    by: FinishBy,
}

/// A file that came back.
pub(super) enum CameBack {
    Here(Vec<u8>),
    /// It is large.
    Unnamed(File),
}

impl CameBack {
    /// All of it, wherever it is.
    pub(super) fn into_bytes(self) -> io::Result<Vec<u8>> {
        let mut file = match self {
            Self::Here(bytes) => return Ok(bytes),
            Self::Unnamed(file) => file,
        };
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes))?;
        Ok(bytes)
    }
}

enum FinishBy {
    Token(String),
    /// The same document, with the same time.
    Same {
        signed: ToBeSigned,
        signing_ms: u64,
    },
}

impl SignWorkload {
    /// Has a document signed, and hands the file to the verifiers.
    pub(super) async fn flow(
        &self,
        session: &SignSession,
        op: &mut SignOp,
        record: &OperationRecord,
    ) -> Result<Ended, Ended> {
        let (sent, file) = self.signed_file(session, op, record).await?;
        let mut bytes = Vec::new();
        let recorded = match file {
            CameBack::Here(file) => {
                bytes = file;
                RecordedFile::Here(&bytes)
            }
            CameBack::Unnamed(file) => RecordedFile::Kept(self.config.judge.kept_files.keep(file)),
        };
        let tail = self.record(session, op, sent, recorded).tail();
        bytes.extend_from_slice(&tail);
        record.promise_owned(self.kind(op.series).into(), bytes);
        Ok(Ended::accepted(200))
    }

    /// Asks what is to be signed, signs it, and asks for the file; and when the first of these was sent.
    pub(super) async fn signed_file(
        &self,
        session: &SignSession,
        op: &mut SignOp,
        record: &OperationRecord,
    ) -> Result<(Nanos, CameBack), Ended> {
        let begun = self.start(session, op, record).await?;
        let signer = self.config.signers[self.signer(op.seq)].clone();
        op.signature = sign(signer, begun.to_be_signed, std::mem::take(&mut op.signature), record).await?;
        let file = self.finish(session, op, &begun.by, record).await?;
        Ok((begun.sent, file))
    }

    /// What is held against a file that has just come.
    pub(super) fn record<'a>(
        &self,
        session: &SignSession,
        op: &SignOp,
        sent: Nanos,
        file: RecordedFile<'a>,
    ) -> SignatureRecord<'a> {
        let kind = self.kind(op.series);
        SignatureRecord {
            kind,
            sha256: op.sha256,
            signer: self.signer(op.seq) as u32,
            sent,
            received: op.answer.wire.done.unwrap_or_else(|| session.clock.now()),
            file,
        }
    }

    async fn start(
        &self,
        session: &SignSession,
        op: &mut SignOp,
        record: &OperationRecord,
    ) -> Result<Begun, Ended> {
        let (kind, signer) = (self.kind(op.series), self.signer(op.seq));
        let document = op.document.take().ok_or(NO_DOCUMENT)?;
        match &session.requests {
            Requests::RestPki(requests) => {
                let request = &requests[op.series][signer];
                let body = match self.is_uploaded(document.document().len()) {
                    true => request.uploaded(&self.upload(session, op, document, record).await?),
                    false => request.inline(document),
                };
                let path =
                    session.client.path(&format!("/{}", rest_pki::start(kind))).map_err(|_| NO_PATH)?;
                let mut step = record.step(self.step(false));
                send(&session.client, &mut step, &post(path, body), &mut op.answer).await?;
                let started =
                    Started::read(&op.answer.body).map_err(|why| none(&session.client, &mut step, &why))?;
                let sent = left(&op.answer, session.clock.now());
                let by = FinishBy::Token(started.token);
                Ok(Begun { to_be_signed: started.to_be_signed, sent, by })
            }
            Requests::Dss { of, data_to_sign, .. } => {
                let signed = match self.by_digest(kind) {
                    true => ToBeSigned::Sha256(*op.sha256.insert(self.digest(document, record).await)),
                    false => ToBeSigned::Document(document),
                };
                // Of before any wait for a connection: what the service is told is the earliest that it may say.
                let sent = session.clock.now();
                let signing_ms = self.config.judge.epoch_unix_ms + sent.0 / 1_000_000;
                let body = of[op.series][signer].data_to_sign(&signed, signing_ms);
                let request = post(data_to_sign.clone(), body);
                let mut step = record.step(self.step(false));
                send(&session.client, &mut step, &request, &mut op.answer).await?;
                let to_be_signed = dss::data_to_sign(&op.answer.body)
                    .map_err(|why| none(&session.client, &mut step, &why))?;
                Ok(Begun { to_be_signed, sent, by: FinishBy::Same { signed, signing_ms } })
            }
        }
    }

    /// Hands the signature over; the file that comes back.
    async fn finish(
        &self,
        session: &SignSession,
        op: &mut SignOp,
        by: &FinishBy,
        record: &OperationRecord,
    ) -> Result<CameBack, Ended> {
        let (kind, signer) = (self.kind(op.series), self.signer(op.seq));
        let mut step = record.step(self.step(true));
        match (by, &session.requests) {
            (FinishBy::Token(token), _) => {
                let path = format!("/{}", rest_pki::finish(kind, token));
                let path = session.client.path(&path).map_err(|_| NO_PATH)?;
                rest_pki::completion(&op.signature, self.config.by_url, &mut op.body);
                let body = op.body.clone();
                let request = Request { sink: BodySink::Spill, ..post(path, body) };
                send(&session.client, &mut step, &request, &mut op.answer).await?;
                let mut large =
                    outlined(op, record).await.map_err(|why| none(&session.client, &mut step, &why))?;
                let text = large.as_ref().map_or(&op.answer.body, |outline| &outline.text);
                match Finished::read(text).map_err(|why| none(&session.client, &mut step, &why))? {
                    Finished::File(file) => Ok(came_back(file, large.as_mut())),
                    Finished::At(url) => {
                        let Some(path) = session.client.path_of_location(&url, &session.root) else {
                            return Err(ends(&mut step, ELSEWHERE));
                        };
                        drop(step);
                        self.fetch(session, op, path, record).await
                    }
                }
            }
            (FinishBy::Same { signed, signing_ms }, Requests::Dss { of, sign_document, .. }) => {
                let body = of[op.series][signer].sign_document(signed, *signing_ms, &op.signature);
                let request = Request { sink: BodySink::Spill, ..post(sign_document.clone(), body) };
                send(&session.client, &mut step, &request, &mut op.answer).await?;
                let mut large =
                    outlined(op, record).await.map_err(|why| none(&session.client, &mut step, &why))?;
                let text = large.as_ref().map_or(&op.answer.body, |outline| &outline.text);
                let file =
                    dss::signed_document(text).map_err(|why| none(&session.client, &mut step, &why))?;
                Ok(came_back(file, large.as_mut()))
            }
            (FinishBy::Same { .. }, Requests::RestPki(_)) => Err(NO_DOCUMENT),
        }
    }
}

impl SignWorkload {
    /// Fetches a file; of a service that was not asked for its URL, too, whose clients do so.
    async fn fetch(
        &self,
        session: &SignSession,
        op: &mut SignOp,
        path: PathAndQuery,
        record: &OperationRecord,
    ) -> Result<CameBack, Ended> {
        let mut step = match self.config.by_url {
            true => record.step(self.fetch_step()),
            false => record.exchange(),
        };
        let request = Request { sink: BodySink::Spill, ..Request::get(path) };
        send(&session.client, &mut step, &request, &mut op.answer).await?;
        Ok(match op.answer.file.take() {
            Some(file) => CameBack::Unnamed(file),
            None => CameBack::Here(op.answer.body.to_vec()),
        })
    }

    /// The SHA-256 of a document, of a large one worked out on the crew.
    async fn digest(&self, document: Arc<InlineDocument>, record: &OperationRecord) -> [u8; 32] {
        if document.document().len() <= LARGE {
            return self.config.judge.documents.sha256(document.document());
        }
        let documents = self.config.judge.documents.clone();
        record.compute(move || documents.sha256(document.document())).await
    }
}

/// What of a large answer is not the file, worked out on the crew; none of one that is in memory.
async fn outlined(op: &mut SignOp, record: &OperationRecord) -> Result<Option<Outline>, AnswerFault> {
    let Some(file) = op.answer.file.take() else { return Ok(None) };
    record.compute(move || Outline::read(file)).await.map(Some)
}

/// The file that was found in an answer, which in the outline of a large one is a mark.
fn came_back(found: Vec<u8>, large: Option<&mut Outline>) -> CameBack {
    let file = large.and_then(|outline| outline.file_of(&found));
    file.map_or(CameBack::Here(found), CameBack::Unnamed)
}

/// Bytes that take as long to be hashed as an RSA signature takes.
const LARGE: u64 = 1 << 20;
const NO_DOCUMENT: Ended = Ended::failed(Outcome::Abandoned, "no document");
const ELSEWHERE: Ended = Ended::failed(Outcome::Malformed, "file of another service");
