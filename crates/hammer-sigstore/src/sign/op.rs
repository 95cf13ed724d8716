//! One sign flow, in buffers that are used again for the next.

use std::fmt;

use bytes::BytesMut;
use hammer_exchange::stock::StockedToken;
use hammer_messages::rekor::TransparencyLogEntry;
use hammer_net::grpc;
use hammer_net::{Answer, Body, BodyBuffer};
use hammer_tlog::logs::merkle::leaf_hash;
use http::HeaderValue;
use prost::Message as _;

use crate::corpus::entry::{CorpusLog, LoggedEntry};
use crate::fulcio;
use crate::material::FlowMaterial;
use crate::plan::{FulcioInterface, SignPlan, TimestampFormat};
use crate::rekor::{LogEntries, leaf_of};

use super::session::SignRequests;

/// What a flow has, the bodies that it sends, and the room for what it is answered with.
#[derive(Default)]
pub struct SignOp {
    /// The number that its key follows from; where flows are mixed with others, the whole has another one of it.
    pub(super) seq: u64,
    pub(super) material: FlowMaterial,
    /// What Fulcio is shown. It reaches no text that anybody reads.
    pub(super) token: String,
    /// The token as a header, where the interface wants it there.
    pub(super) authorization: Option<HeaderValue>,
    /// The request for a certificate, whole.
    pub(super) fulcio: Body,
    /// The request for a timestamp, whole.
    pub(super) query: BodyBuffer,
    /// The entry that is written next.
    pub(super) entry: BodyBuffer,
    /// What Rekor v2 has to store for it.
    pub(super) stored: Vec<u8>,
    /// The certificate that Fulcio gave, in PEM.
    pub(super) certificate: String,
    /// What the certificate has to name; empty where it is not known.
    pub(super) certified: String,
    /// The SCT that came beside the certificate, as its log answered; empty where there is none, or nobody wants it.
    pub(super) sct: Vec<u8>,
    pub(super) answer: Answer,
    /// Its own requests, once it was carried out for the first time.
    pub(super) requests: Option<SignRequests>,
    /// Whether the log had the flow's entry before.
    pub(super) is_known: bool,
    /// Which log keeps the flow's entry; none before there is one.
    logged: Option<CorpusLog>,
    /// The UUID that Rekor v1 gave it, or the hash of its leaf in Rekor v2; and its index.
    uuid: String,
    log_index: u64,
    /// When Rekor v1 said that it was integrated, in seconds since 1970.
    integrated_time: Option<i64>,
    /// Whether the flow may leave a bundle, and so keeps what it is answered.
    pub(super) keeps_answers: bool,
    /// Whether it remembers where its entry is.
    pub(super) keeps_place: bool,
    /// What the log answered; empty before it did.
    pub(super) log_answer: Vec<u8>,
    /// What the timestamp authority answered.
    pub(super) stamped: Vec<u8>,
    pub(super) message: BytesMut,
    buffer: BodyBuffer,
}

impl SignOp {
    /// Writes all that is known before anything is sent; `has_token` says whether its token is.
    pub(super) fn prepare(&mut self, plan: &SignPlan, format: TimestampFormat, has_token: bool) {
        self.fulcio = Body::empty();
        if let Some(requests) = &mut self.requests {
            requests.release();
        }
        let Self {
            material, query, token, logged, is_known, uuid, log_answer, stamped, certified, sct, ..
        } = self;
        *logged = None;
        *is_known = false;
        certified.clear();
        sct.clear();
        uuid.clear();
        log_answer.clear();
        stamped.clear();
        if plan.timestamp {
            query.rewrite(|out| format.write(&material.signature_digest, material.nonce, out));
        }
        self.authorization = bearer(token).filter(|_| has_token && plan.fulcio == FulcioInterface::V1);
        if has_token || plan.fulcio == FulcioInterface::None {
            self.write_fulcio(plan);
        }
    }

    /// Shows that token, which is known as the flow starts.
    pub(super) fn show(&mut self, plan: &SignPlan, stocked: StockedToken) {
        self.token.clear();
        self.token.push_str(stocked.token.expose());
        self.authorization = Some(stocked.bearer).filter(|_| plan.fulcio == FulcioInterface::V1);
        self.write_fulcio(plan);
    }

    /// Likewise a token that was minted as the flow starts.
    pub(super) fn show_own(&mut self, plan: &SignPlan, token: String) {
        self.token = token;
        self.authorization = bearer(&self.token).filter(|_| plan.fulcio == FulcioInterface::V1);
        self.write_fulcio(plan);
    }

    /// Writes the request for a certificate.
    fn write_fulcio(&mut self, plan: &SignPlan) {
        let Self { material, token, buffer, message, .. } = self;
        match plan.fulcio {
            FulcioInterface::None => fulcio::write_bare_key(&mut self.certificate, material),
            FulcioInterface::V1 => {
                buffer.rewrite(|out| fulcio::write_v1(out, material, plan.request));
                self.fulcio = buffer.body();
            }
            FulcioInterface::V2 => {
                buffer.rewrite(|out| fulcio::write_v2(out, material, plan.request, token));
                self.fulcio = buffer.body();
            }
            // A request of two kilobytes is below what a message can be.
            FulcioInterface::Grpc => {
                let asked = fulcio::message(material, plan.request, token);
                self.fulcio = grpc::encode(&asked, message).unwrap_or_default().into();
            }
        }
    }

    /// Remembers where Rekor v1 put the entry, by the answer that just came; nothing where it says nothing that can be read.
    pub(super) fn keep_place(&mut self) {
        let Ok((uuid, entry)) = LogEntries::only(&self.answer.body) else { return };
        // A corpus has it as it stands.
        if leaf_of(&uuid).is_none() {
            return;
        }
        self.uuid.push_str(&uuid);
        self.log_index = entry.log_index;
        self.integrated_time = Some(entry.integrated_time);
        self.logged = Some(CorpusLog::RekorV1);
    }

    /// Likewise of Rekor v2, whose answer is JSON or a message.
    pub(super) fn keep_place_on_tiles(&mut self, is_message: bool) {
        let body = &self.answer.body;
        let entry = match is_message {
            true => TransparencyLogEntry::decode(body.as_slice()).ok(),
            false => serde_json::from_slice(body).ok(),
        };
        let Some(TransparencyLogEntry { log_index, canonicalized_body, .. }) = entry else { return };
        let Ok(index) = u64::try_from(log_index) else { return };
        self.log_index = index;
        self.integrated_time = None;
        self.uuid.push_str(&leaf_hash(&canonicalized_body).to_hex());
        self.logged = Some(CorpusLog::RekorV2);
    }

    /// The entry that a log keeps, what was signed, and in whose name as far as that is known; the run's epoch is given in milliseconds
    /// since 1970.
    pub(super) fn place(&self, epoch_unix_ms: u64) -> Option<LoggedEntry<'_>> {
        Some(LoggedEntry {
            log: self.logged?,
            uuid: &self.uuid,
            log_index: self.log_index,
            logged_unix_ms: epoch_unix_ms + self.answer.wire.done.unwrap_or_default().0 / 1_000_000,
            integrated_time: self.integrated_time,
            artifact: self.logged_bytes(),
            identity: &self.certified,
            timestamp: if self.logged == Some(CorpusLog::RekorV2) { &self.stamped } else { &[] },
        })
    }

    /// What somebody who verifies the flow's entry has at hand: of an envelope in Rekor v1 its payload, in Rekor v2 what is signed of it.
    fn logged_bytes(&self) -> &[u8] {
        let FlowMaterial { artifact, envelope, .. } = &self.material;
        match self.logged {
            _ if envelope.payload.is_empty() => artifact,
            Some(CorpusLog::RekorV2) => &envelope.signed,
            _ => &envelope.payload,
        }
    }

    pub(super) fn weight(&self) -> usize {
        let Self { query, entry, buffer, .. } = self;
        let buffers = [query, entry, buffer].map(BodyBuffer::capacity).iter().sum::<usize>();
        let held = self.stored.capacity()
            + self.answer.body.capacity()
            + self.material.artifact.capacity()
            + self.material.envelope.capacity();
        size_of::<Self>() + buffers + held + self.fulcio.len() + self.token.capacity() + LEAST
    }
}

/// None where a token has a character that no header can: Fulcio refuses a request without one.
fn bearer(token: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

impl fmt::Debug for SignOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignOp").field("identity", &self.material.identity).finish_non_exhaustive()
    }
}

/// Bytes of a flow's material.
const LEAST: usize = 1 << 10;

#[cfg(test)]
mod tests {
    use hammer_net::Request;

    use super::*;

    #[test]
    fn the_next_flow_is_written_into_the_memory_of_the_last() {
        let request = Some(Request::post("/".parse().unwrap(), ""));
        let requests = SignRequests { fulcio: request.clone(), rekor: request.clone(), timestamp: request };
        let plan = SignPlan { fulcio: FulcioInterface::V1, ..SignPlan::default() };
        let mut op = SignOp { requests: Some(requests), ..SignOp::default() };
        op.prepare(&plan, TimestampFormat::Der, true);
        let written = |op: &SignOp| [&op.query, &op.buffer].map(|buffer| buffer.bytes().as_ptr());
        let first = written(&op);
        let SignOp { requests, query, fulcio, .. } = &mut op;
        let requests = requests.as_mut().unwrap();
        requests.timestamp.as_mut().unwrap().body = query.body();
        requests.fulcio.as_mut().unwrap().body = fulcio.clone();
        op.prepare(&plan, TimestampFormat::Der, true);
        assert_eq!(written(&op), first);
    }
}
