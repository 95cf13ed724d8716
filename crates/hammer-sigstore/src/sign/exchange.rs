//! The steps of a sign flow. Each ends the flow unless it is answered with what the next one needs.

use hammer_core::record::OperationRecord;
use hammer_core::workload::Ended;
use hammer_exchange::ServiceClient;
use hammer_measure::Outcome;
use hammer_net::{Request, grpc};
use http::header::AUTHORIZATION;

use super::op::SignOp;
use super::series::SignSeries;
use super::session::{SignRequests, SignSession};
use crate::answer::{WrittenEntry, malformed, replied, succeeded, written, written_by_call};
use crate::bundle::files::BundleFiles;
use crate::material::FlowMaterials;
use crate::plan::{FulcioInterface, RekorVersion, SignPlan};
use crate::promise::SigstorePromise;
use crate::record::{
    BundleRecord, CertificateRecord, EntryLog, EntryRecord, Instants, PromiseRecord, TimestampRecord,
};
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
            identity: &material.identity,
            artifact: &material.artifact,
            signature: &material.signature,
            certificate: &op.certificate,
            entry: &op.log_answer,
            timestamp: &op.stamped,
        };
        PromiseRecord::Bundle(told).write(&mut op.record);
        self.record.promise(SigstorePromise::Bundle.into(), &op.record);
    }

    async fn certificate(&self, op: &mut SignOp, request: &mut Request) -> Result<Ended, Ended> {
        let Some((client, series)) = self.session.fulcio.as_ref().zip(self.series.fulcio) else {
            return Err(NO_STEP);
        };
        if let Some(tokens) = &self.session.tokens {
            let token = tokens.take().await?;
            let subject = token.subject.as_deref();
            if let Some(subject) = subject.filter(|subject| *subject != op.material.identity) {
                self.materials.prove_as(op.seq, subject, &mut op.material);
            }
            op.show(self.plan, token);
        }
        request.body = op.fulcio.clone();
        if let Some(authorization) = op.authorization.take() {
            request.headers.insert(AUTHORIZATION, authorization);
        }
        let mut step = self.record.step(series);
        client.send(&mut step, request, &mut op.answer).await?;
        let interface = self.plan.fulcio;
        let ended = match interface {
            FulcioInterface::Grpc => replied(&mut step, &mut op.answer)?,
            _ => succeeded(&mut step, &op.answer)?,
        };
        let leaf = fulcio::leaf(interface, &op.answer.body, &mut op.certificate);
        leaf.map_err(|why| malformed(&mut step, why))?;
        drop(step);
        let at = Instants::of(self.record, &op.answer.wire);
        let material = &op.material;
        PromiseRecord::Certificate(CertificateRecord {
            at,
            interface,
            identity: &material.identity,
            issuer: self.certified_issuer,
            spki: &material.spki,
            body: &op.answer.body,
        })
        .write(&mut op.record);
        self.record.promise(SigstorePromise::Certificate.into(), &op.record);
        Ok(ended)
    }

    async fn entry(&self, op: &mut SignOp, request: &mut Request) -> Result<Ended, Ended> {
        let Some((client, series)) = self.session.rekor.as_ref().zip(self.series.rekor) else {
            return Err(NO_STEP);
        };
        let SignOp { material, certificate, entry, stored, message, .. } = &mut *op;
        match self.plan.rekor {
            RekorVersion::V1 | RekorVersion::None => {
                entry.rewrite(|out| rekor::write_hashedrekord(out, material, certificate));
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
        client.send(&mut step, request, &mut op.answer).await?;
        let (ended, written) = match self.plan.rekor {
            RekorVersion::V2Grpc => written_by_call(&mut step, &mut op.answer)?,
            _ => written(&mut step, &op.answer)?,
        };
        drop(step);
        if written == WrittenEntry::Before {
            return Ok(ended);
        }
        let (log, stored) = match self.plan.rekor {
            RekorVersion::V2 => (EntryLog::Tiles, op.stored.as_slice()),
            RekorVersion::V2Grpc => (EntryLog::TilesMessage, op.stored.as_slice()),
            RekorVersion::V1 | RekorVersion::None => (EntryLog::Rekor, op.entry.bytes()),
        };
        let at = Instants::of(self.record, &op.answer.wire);
        let body = &op.answer.body;
        PromiseRecord::Entry(EntryRecord { at, log, stored, body }).write(&mut op.record);
        self.record.promise(SigstorePromise::Entry.into(), &op.record);
        if op.keeps_answers && Some(series) == self.series.rekor {
            op.log_answer.clear();
            op.log_answer.extend_from_slice(&op.answer.body);
        }
        if Some(series) == self.series.rekor {
            match log {
                EntryLog::Rekor => op.keep_place(),
                // Its entries are read back out of a corpus alone.
                _ if self.session.lines.is_none() => {}
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
        let ended = succeeded(&mut step, &op.answer)?;
        drop(step);
        let at = Instants::of(self.record, &op.answer.wire);
        let (imprint, nonce) = (op.material.signature_digest, op.material.nonce);
        let body = &op.answer.body;
        PromiseRecord::Timestamp(TimestampRecord { at, imprint, nonce, body }).write(&mut op.record);
        self.record.promise(SigstorePromise::Timestamp.into(), &op.record);
        if op.keeps_answers {
            op.stamped.clear();
            op.stamped.extend_from_slice(&op.answer.body);
        }
        Ok(ended)
    }
}

/// A step that its plan does not have.
const NO_STEP: Ended = Ended::failed(Outcome::Abandoned, "no such step");
const BROKEN_PEM: Ended = Ended::failed(Outcome::Malformed, "certificate with broken pem");
