//! A target that keeps what it is sent, so that two runs can be compared byte for byte.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use hammer_values::ByteSize;
use http::{Method, Response, StatusCode, request::Parts};
use serde::{Deserialize, Serialize};

use super::{
    key::LogSigner,
    plan::config::KeySource,
    submit::{leaf_serial, read_chain, unchecked_sct},
};
use crate::{
    clock::Clock,
    error::LabError,
    fault::FaultScript,
    handle::{LabConfig, LabHandle, LabTarget},
    serve::{
        ServePlan, Target,
        answer::{self, AnswerBody},
    },
};

/// The recording target as a plan writes it; every key may be left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecordingLabPlan {
    /// Listener, threads, TLS.
    pub serve: ServePlan,
    /// Seed of the key that signs the SCTs.
    pub key_seed: u64,
    /// The size of all bodies that are kept; what comes later is counted, not kept, and there is no digest then.
    pub max_recorded: ByteSize,
    /// What goes wrong on purpose. Endpoints: add-chain, add-pre-chain, other.
    pub faults: FaultScript,
}

impl Default for RecordingLabPlan {
    fn default() -> Self {
        Self {
            serve: ServePlan::default(),
            key_seed: 1,
            max_recorded: ByteSize::from_mib(512),
            faults: FaultScript::default(),
        }
    }
}

/// What a recording target was sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Bodies, those included that were not kept.
    pub count: u64,
    /// Bodies that were not kept, for want of room.
    pub dropped: u64,
    /// Bytes of all kept bodies.
    pub bytes: usize,
}

/// A recording target that runs; `/ct/v1/add-chain` and any other path answer below its URL.
pub type RecordingLabHandle = LabHandle<RecordingTarget>;

/// What records what it is sent.
#[derive(Debug)]
pub struct RecordingTarget {
    clock: Arc<dyn Clock>,
    signer: LogSigner,
    max_bytes: usize,
    tape: Mutex<Tape>,
}

#[derive(Debug, Default)]
struct Tape {
    recorded: Recorded,
    /// Bodies by seq; one seq may have come more than once.
    bodies: BTreeMap<u64, Vec<Bytes>>,
}

impl LabConfig for RecordingLabPlan {
    type Target = RecordingTarget;

    const THREAD: &'static str = "lab-recording";

    fn serve(&self) -> &ServePlan {
        &self.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.faults
    }

    fn target(self, clock: &Arc<dyn Clock>, _: &str) -> Result<RecordingTarget, LabError> {
        Ok(RecordingTarget {
            clock: Arc::clone(clock),
            signer: LogSigner::new(&KeySource::Seed(self.key_seed))?,
            max_bytes: self.max_recorded.in_memory(),
            tape: Mutex::default(),
        })
    }
}

impl LabTarget for RecordingTarget {}

impl LabHandle<RecordingTarget> {
    /// DER SubjectPublicKeyInfo of the key that signs the SCTs.
    #[must_use]
    pub fn log_key_spki(&self) -> &[u8] {
        &self.target().signer.spki
    }

    /// How much has been received.
    #[must_use]
    pub fn recorded(&self) -> Recorded {
        self.target().lock().recorded
    }

    /// SHA-256 over the received bodies in the order of their seq; none when a body was not kept.
    ///
    /// The seq of a submission is the last 8 bytes, big endian, of its leaf's serial number; that of any other request
    /// is its `x-hammer-seq` header, or 0. Bodies of one seq are ordered by their bytes.
    #[must_use]
    pub fn digest(&self) -> Option<[u8; 32]> {
        let mut tape = self.target().lock();
        if tape.recorded.dropped > 0 {
            return None;
        }
        let mut digest = ring::digest::Context::new(&ring::digest::SHA256);
        for bodies in tape.bodies.values_mut() {
            bodies.sort();
            bodies.iter().for_each(|body| digest.update(body));
        }
        digest.finish().as_ref().try_into().ok()
    }
}

impl RecordingTarget {
    fn submission(&self, body: &Bytes, precert: bool) -> Result<String, String> {
        let chain = read_chain(body)?;
        let serial = leaf_serial(&chain)?;
        let answer = unchecked_sct(&self.signer, &chain, precert, self.clock.unix_ms())?;
        self.record(seq_of_serial(&serial), body);
        Ok(answer)
    }

    fn record(&self, seq: u64, body: &Bytes) {
        let mut tape = self.lock();
        tape.recorded.count += 1;
        if tape.recorded.bytes + body.len() > self.max_bytes {
            tape.recorded.dropped += 1;
            return;
        }
        tape.recorded.bytes += body.len();
        tape.bodies.entry(seq).or_default().push(body.clone());
    }

    fn lock(&self) -> MutexGuard<'_, Tape> {
        self.tape.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Target for RecordingTarget {
    const ENDPOINTS: &'static [&'static str] = &["add-chain", "add-pre-chain", "other"];

    fn endpoint(&self, _: &Method, path: &str) -> &'static str {
        match path.rsplit_once("/ct/v1/") {
            Some((_, "add-chain")) => "add-chain",
            Some((_, "add-pre-chain")) => "add-pre-chain",
            _ => "other",
        }
    }

    async fn answer(
        self: Arc<Self>,
        endpoint: &'static str,
        parts: Parts,
        body: Bytes,
    ) -> Response<AnswerBody> {
        let answered = match endpoint {
            "add-chain" => self.submission(&body, false),
            "add-pre-chain" => self.submission(&body, true),
            _ => {
                let seq = parts.headers.get(SEQ_HEADER).and_then(|value| value.to_str().ok()?.parse().ok());
                self.record(seq.unwrap_or(0), &body);
                Ok("{}".into())
            }
        };
        match answered {
            Ok(json) => answer::json(json),
            Err(reason) => answer::error(StatusCode::BAD_REQUEST, &reason),
        }
    }
}

fn seq_of_serial(serial: &[u8]) -> u64 {
    serial.iter().rev().take(8).rev().fold(0, |seq, byte| seq << 8 | u64::from(*byte))
}

const SEQ_HEADER: &str = "x-hammer-seq";
