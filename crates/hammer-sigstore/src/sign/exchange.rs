//! The steps of a sign flow. Each ends the flow unless it is answered with what the next one needs.

use std::sync::Arc;

use hammer_core::record::OperationRecord;
use hammer_core::workload::Ended;
use hammer_exchange::{SentSecrets, ServiceClient, WallTime};
use hammer_measure::Outcome;
use hammer_net::{Answer, Body, Request, grpc};
use hammer_oauth::RotatingIssuer;
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};

use super::op::SignOp;
use super::series::SignSeries;
use super::session::{SignRequests, SignSession};
use crate::answer::{
    KNOWN, SentCall, WrittenEntry, malformed, replied, stamped, succeeded, written, written_by_call,
};
use crate::bundle::files::BundleFiles;
use crate::material::FlowMaterials;
use crate::plan::{EntryKind, FulcioInterface, RekorVersion, SignPlan};
use crate::promise::SigstorePromise;
use crate::record::{
    BundleRecord, CertificateRecord, EntryLog, EntryRecord, Instants, PromiseRecord, TimestampRecord,
};
use crate::tokens::CLOCKS_APART;
use crate::{fulcio, rekor, rekor_tiles};

/// A flow under way.
pub(super) struct SignFlow<'a> {
    pub(super) plan: &'a SignPlan,
    pub(super) series: &'a SignSeries,
    pub(super) materials: &'a FlowMaterials,
    pub(super) session: &'a SignSession,
    pub(super) record: &'a OperationRecord,
    /// Empty where it is not known.
    pub(super) certified_issuer: &'a str,
    /// What certificates have to name, where the plan states it.
    pub(super) certified_subject: Option<&'a str>,
    /// Who signs the flow's token as it starts, where nobody did before.
    pub(super) rotating: Option<&'a RotatingTokens<'a>>,
}

/// Tokens of an issuer whose key changes.
pub(super) struct RotatingTokens<'a> {
    pub(super) issuer: &'a Arc<RotatingIssuer>,
    pub(super) wall: WallTime,
}

impl SignFlow<'_> {
    /// All steps, one after another; how the flow ended.
    ///
    /// # Errors
    /// The same, of a flow that has nothing to be read back.
    pub(super) async fn carry_out(&self, op: &mut SignOp) -> Result<Ended, Ended> {
        let mut requests = op.requests.take().unwrap_or_else(|| self.session.requests.clone());
        let ended = self.steps(op, &mut requests).await;
        op.requests = Some(requests);
        // They hold on to the buffer that the connection read them into.
        op.answer.headers.clear();
        ended
    }

    async fn steps(&self, op: &mut SignOp, requests: &mut SignRequests) -> Result<Ended, Ended> {
        let mut ended = NO_STEP;
        if let Some(request) = &mut requests.fulcio {
            ended = self.certificate(op, request).await?;
        }
        // Rekor v1 is shown the timestamp too, and v2 knows no other time than that.
        let is_stamped_first = self.plan.rekor.is_on_tiles();
        if is_stamped_first && let Some(request) = &mut requests.timestamp {
            ended = self.timestamp(op, request).await?;
        }
        if let Some(request) = &mut requests.rekor {
            ended = self.entry(op, request).await?;
        }
        if !is_stamped_first && let Some(request) = &mut requests.timestamp {
            ended = self.timestamp(op, request).await?;
            if let Some(request) = requests.rekor.as_mut().filter(|_| self.plan.timestamp_entry) {
                ended = self.timestamp_entry(op, request).await?;
            }
        }
        Ok(ended)
    }

    /// What the flow was answered, for a bundle, where there is a place for one.
    pub(super) fn leave_bundle(&self, op: &mut SignOp, files: &BundleFiles) {
        if op.log_answer.is_empty() || !files.take_place() {
            return;
        }
        let log = match self.plan.rekor {
            RekorVersion::V2 => EntryLog::Tiles,
            RekorVersion::V2Grpc => EntryLog::TilesMessage,
            RekorVersion::V1 | RekorVersion::None => EntryLog::Rekor,
        };
        let material = &op.material;
        let told = BundleRecord {
            log,
            identity: &op.certified,
            artifact: &material.artifact,
            payload: &material.envelope.payload,
            signature: &material.signature,
            certificate: &op.certificate,
            sct: &op.sct,
            entry: &op.log_answer,
            timestamp: &op.stamped,
        };
        self.promise(SigstorePromise::Bundle, &PromiseRecord::Bundle(told));
    }

    fn promise(&self, promise: SigstorePromise, told: &PromiseRecord<'_>) {
        self.session.promise(self.record, promise, told);
    }

    async fn certificate(&self, op: &mut SignOp, request: &mut Request) -> Result<Ended, Ended> {
        let Some((client, series)) = self.session.fulcio.as_ref().zip(self.series.fulcio) else {
            return Err(NO_STEP);
        };
        // Tokens of hammer's own name the address of their flow.
        let mut is_named = true;
        if let Some(tokens) = &self.session.tokens {
            let token = tokens.take().await?;
            is_named = token.is_address;
            let subject = token.subject.as_deref();
            if let Some(subject) = subject.filter(|subject| *subject != op.material.identity) {
                self.materials.prove_as(op.seq, subject, &mut op.material);
            }
            op.show(self.plan, token);
        }
        let named = self.certified_subject.or(is_named.then_some(op.material.identity.as_str()));
        op.certified.clear();
        op.certified.push_str(named.unwrap_or_default());
        if let Some(RotatingTokens { issuer, wall }) = self.rotating {
            let (issuer, subject) = (Arc::clone(issuer), op.material.identity.clone());
            let now = wall.unix_seconds(self.session.clock.now());
            // A signature is made off the shard.
            let minted = move || issuer.mint(&subject, (now, CLOCKS_APART));
            let token = self.record.compute(minted).await;
            op.show_own(self.plan, token);
        }
        request.body = op.fulcio.clone();
        if let Some(authorization) = op.authorization.take() {
            request.headers.insert(AUTHORIZATION, authorization);
        }
        let mut step = self.record.step(series);
        let secrets = SentSecrets { bearer: None, tokens: &[&*op.token] };
        let interface = self.plan.fulcio;
        let judges = |_| matches!(interface, FulcioInterface::Grpc);
        client.send_judged(&mut step, (request, secrets), judges, &mut op.answer).await?;
        let ended = match interface {
            FulcioInterface::Grpc => {
                replied(&mut step, &mut op.answer, SentCall { client, request, secrets })?
            }
            _ => succeeded(&mut step, &op.answer)?,
        };
        let leaf = fulcio::leaf(interface, &op.answer.body, &mut op.certificate);
        leaf.map_err(|why| {
            let ended = Ended::failed(Outcome::Malformed, why);
            client.ends_by(&mut step, ended, (request, secrets), &op.answer.body)
        })?;
        let sct_header = fulcio::sct_header(&op.answer.headers);
        let sct_header = sct_header.map_err(|why| malformed(&mut step, why))?;
        drop(step);
        if op.keeps_answers {
            // What is wrong with it is told by whoever judges the certificate.
            let sct = fulcio::detached_sct(interface, sct_header, &op.answer.body).ok().flatten();
            op.sct.extend_from_slice(sct.as_deref().unwrap_or_default());
        }
        let at = Instants::of(self.record, &op.answer.wire);
        let material = &op.material;
        let told = CertificateRecord {
            at,
            interface,
            identity: &op.certified,
            issuer: self.certified_issuer,
            spki: &material.spki,
            sct_header,
            body: &op.answer.body,
        };
        self.promise(SigstorePromise::Certificate, &PromiseRecord::Certificate(told));
        Ok(ended)
    }

    async fn entry(&self, op: &mut SignOp, request: &mut Request) -> Result<Ended, Ended> {
        let Some((client, series)) = self.session.rekor.as_ref().zip(self.series.rekor) else {
            return Err(NO_STEP);
        };
        let SignOp { material, certificate, entry, stored, message, .. } = &mut *op;
        match self.plan.rekor {
            RekorVersion::V1 | RekorVersion::None => {
                match self.plan.entry {
                    EntryKind::HashedRekord => {
                        entry.rewrite(|out| rekor::write_hashedrekord(out, material, certificate));
                    }
                    EntryKind::Dsse => {
                        rekor::write_stored_dsse(stored, material, certificate);
                        entry.rewrite(|out| rekor::write_dsse(out, material, certificate));
                    }
                }
                request.body = entry.body();
            }
            RekorVersion::V2 => {
                rekor_tiles::write_stored(stored, material, certificate);
                entry.rewrite(|out| rekor_tiles::write_request(out, material, certificate));
                request.body = entry.body();
            }
            RekorVersion::V2Grpc => {
                rekor_tiles::write_stored(stored, material, certificate);
                let written = rekor_tiles::message(material, certificate).ok_or(BROKEN_PEM)?;
                request.body = grpc::encode(&written, message).unwrap_or_default().into();
            }
        }
        self.write(op, client, request, series).await
    }

    /// The timestamp of the last answer, as an entry of its own.
    async fn timestamp_entry(&self, op: &mut SignOp, request: &mut Request) -> Result<Ended, Ended> {
        let Some((client, series)) = self.session.rekor.as_ref().zip(self.series.timestamp_entry) else {
            return Err(NO_STEP);
        };
        let SignOp { entry, answer, .. } = &mut *op;
        // Of the entry before, whose buffer this is.
        request.body = Body::empty();
        entry.rewrite(|out| rekor::write_rfc3161(out, &answer.body));
        request.body = entry.body();
        self.write(op, client, request, series).await
    }

    /// Sends an entry, whose answer is a promise.
    async fn write(
        &self,
        op: &mut SignOp,
        client: &ServiceClient,
        request: &Request,
        series: usize,
    ) -> Result<Ended, Ended> {
        let mut step = self.record.step(series);
        let secrets = SentSecrets::default();
        let judges = |status| status == KNOWN || self.plan.rekor == RekorVersion::V2Grpc;
        client.send_judged(&mut step, (request, secrets), judges, &mut op.answer).await?;
        let (ended, written) = match self.plan.rekor {
            RekorVersion::V2Grpc => {
                written_by_call(&mut step, &mut op.answer, SentCall { client, request, secrets })?
            }
            _ => written(&mut step, &op.answer)?,
        };
        drop(step);
        let is_envelope = self.plan.entry == EntryKind::Dsse && Some(series) == self.series.rekor;
        let (log, stored) = match self.plan.rekor {
            RekorVersion::V1 if is_envelope => (EntryLog::Rekor, op.stored.as_slice()),
            RekorVersion::V2 => (EntryLog::Tiles, op.stored.as_slice()),
            RekorVersion::V2Grpc => (EntryLog::TilesMessage, op.stored.as_slice()),
            RekorVersion::V1 | RekorVersion::None => (EntryLog::Rekor, op.entry.bytes()),
        };
        let at = Instants::of(self.record, &op.answer.wire);
        // That the log has the entry already is a promise too, of the place that it names.
        let (log, body) = match (written, log) {
            (WrittenEntry::New, log) => (log, op.answer.body.as_slice()),
            (WrittenEntry::Before, EntryLog::Rekor) => {
                (EntryLog::RekorBefore, told(&op.answer, &rekor::KNOWN_ENTRY))
            }
            (WrittenEntry::Before, _) => (EntryLog::TilesBefore, told(&op.answer, &rekor_tiles::KNOWN_INDEX)),
        };
        let told = EntryRecord { at, log, stored, body };
        self.promise(SigstorePromise::Entry, &PromiseRecord::Entry(told));
        if written == WrittenEntry::Before {
            op.is_known |= Some(series) == self.series.rekor;
            return Ok(ended);
        }
        if op.keeps_answers && Some(series) == self.series.rekor {
            op.log_answer.clear();
            op.log_answer.extend_from_slice(&op.answer.body);
        }
        if Some(series) == self.series.rekor && op.keeps_place {
            match log {
                EntryLog::Rekor => op.keep_place(),
                _ => op.keep_place_on_tiles(log == EntryLog::TilesMessage),
            }
        }
        Ok(ended)
    }

    async fn timestamp(&self, op: &mut SignOp, request: &mut Request) -> Result<Ended, Ended> {
        let Some((client, series)) = self.session.timestamp.as_ref().zip(self.series.timestamp) else {
            return Err(NO_STEP);
        };
        request.body = op.query.body();
        let mut step = self.record.step(series);
        client.send(&mut step, request, &mut op.answer).await?;
        let sent = SentCall { client, request, secrets: SentSecrets::default() };
        let ended = stamped(&mut step, &mut op.answer, sent)?;
        drop(step);
        let at = Instants::of(self.record, &op.answer.wire);
        let (imprint, nonce) = (op.material.signature_digest, op.material.nonce);
        let body = &op.answer.body;
        let told = TimestampRecord { at, imprint, nonce, body };
        self.promise(SigstorePromise::Timestamp, &PromiseRecord::Timestamp(told));
        // Rekor v2 does not say when something was signed.
        if op.keeps_answers || (op.keeps_place && self.plan.rekor.is_on_tiles()) {
            op.stamped.clear();
            op.stamped.extend_from_slice(&op.answer.body);
        }
        Ok(ended)
    }
}

/// A header of an answer; empty where it has none.
fn told<'a>(answer: &'a Answer, name: &HeaderName) -> &'a [u8] {
    answer.headers.get(name).map_or(&[], HeaderValue::as_bytes)
}

/// A step that its plan does not have.
const NO_STEP: Ended = Ended::failed(Outcome::Abandoned, "no such step");
const BROKEN_PEM: Ended = Ended::failed(Outcome::Malformed, "certificate with broken pem");
