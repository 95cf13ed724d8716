//! add-chain and add-pre-chain (RFC 6962 sections 4.1 and 4.2): the SCTs that the log states.

use std::{
    borrow::Cow,
    sync::{Arc, atomic::Ordering},
};

use base64::{DecodeError, Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{Response, StatusCode};
use serde::{Deserialize, Serialize};

use super::{
    chain::{ChainRefusal, Validated, certificate::Certificate},
    entry::{self, Entry},
    key::LogSigner,
    lies::Lies,
    log::{
        Log,
        pool::{Placed, Pushback, Ticket},
    },
    plan::Flavour,
    unreadable::unreadable,
};
use crate::{
    serve::answer::{self, AnswerBody},
    told_lie::LieKind,
};

/// Why a submission got no SCT.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SubmitRefusal {
    #[error("{0}")]
    Bad(String),
    #[error("Too Many Requests")]
    TooMany { retry_after_s: Option<u32> },
    #[error("couldn't store the leaf: {0}")]
    Internal(&'static str),
}

/// A submission as far as it can be judged at once.
enum Taken<V> {
    Entry(Arc<Entry>),
    /// Its leaf's signature is open; so many certificates were sent above it.
    Candidate {
        entry: Arc<Entry>,
        sent: usize,
        verdict: V,
    },
}

/// An SCT as it is answered.
#[derive(Debug, Serialize)]
pub(super) struct Sct<'a> {
    pub(super) sct_version: u8,
    pub(super) id: &'a str,
    pub(super) timestamp: u64,
    pub(super) extensions: String,
    pub(super) signature: String,
}

impl Log {
    /// The answer to one submission.
    pub(crate) async fn submit(&self, body: Bytes, precert: bool) -> Response<AnswerBody> {
        let deadline = self.clock.elapsed() + self.plan.http_deadline.duration();
        let result = tokio::select! {
            biased;
            result = self.answered(body, precert) => result,
            () = self.clock.sleep_until(deadline) => Err(SubmitRefusal::Internal("context deadline exceeded")),
        };
        match result {
            Ok(sct) => {
                self.accepted.fetch_add(1, Ordering::Relaxed);
                answer::json(sct)
            }
            Err(refusal) => refusal.answer(),
        }
    }

    /// The JSON of the SCT.
    async fn answered(&self, body: Bytes, precert: bool) -> Result<Vec<u8>, SubmitRefusal> {
        if self.broken.load(Ordering::Relaxed) {
            return Err(SubmitRefusal::Internal("storage failed"));
        }
        let taken = self.taken(&body, precert)?;
        // The connection's buffer is free again while the submission waits.
        drop(body);
        let entry = match taken {
            Taken::Entry(entry) => entry,
            Taken::Candidate { entry, sent, verdict } => {
                let holds = verdict.await.ok_or(SubmitRefusal::Internal("the log has ended"))?;
                holds.then_some(()).ok_or_else(|| SubmitRefusal::unverified(&entry.unsigned(sent)))?;
                entry
            }
        };
        let mut ticket =
            self.pool.add(&entry, &*self.clock).map_err(|pushback| self.pushed_back(pushback))?;
        if self.plan.flavour == Flavour::Rfc6962 {
            return Ok(self.stated(&entry, &ticket, None));
        }
        // Nobody needs the entry while its submission waits, but where that has to sign for itself.
        let entry = (!self.signs_batches() || ticket.is_duplicate).then_some(entry);
        let Placed { index, signature } = self.placed(&mut ticket).await?;
        match entry {
            Some(entry) => Ok(self.stated(&entry, &ticket, Some(index))),
            None => {
                let signature = signature.ok_or(SubmitRefusal::Internal("storage failed"))?;
                Ok(Sct::signed(&self.signer, ticket.timestamp_ms, Some(index), &signature).to_json())
            }
        }
    }

    fn stated(&self, entry: &Entry, ticket: &Ticket, index: Option<u64>) -> Vec<u8> {
        match &self.lies {
            None => Sct::sign(&self.signer, entry, ticket.timestamp_ms, index).to_json(),
            Some(lies) => self.lying_sct(lies, entry, ticket, index),
        }
    }

    /// What is answered about an entry that may be lied about.
    fn lying_sct(&self, lies: &Lies, entry: &Entry, ticket: &Ticket, index: Option<u64>) -> Vec<u8> {
        let timestamp = ticket.timestamp_ms;
        let tell = |kind, promised: Option<u64>| {
            let holds = index.filter(|_| promised != index);
            lies.tell_entry(kind, entry, &entry.leaf_input(timestamp, promised), (promised, holds));
        };
        if ticket.repeats {
            tell(LieKind::DuplicateNewIndex, index);
        }
        let sct = match lies.about(&entry.identity) {
            Some(kind @ LieKind::BadSctSignature) => {
                tell(kind, index);
                Sct::sign(&self.signer, entry, timestamp, index).with_bad_signature()
            }
            Some(kind @ LieKind::SctOfAnotherLog) => {
                tell(kind, index);
                Sct::sign(&lies.another, entry, timestamp, index)
            }
            Some(kind @ (LieKind::WrongIndex | LieKind::FarIndex)) => {
                let beyond = if kind == LieKind::FarIndex { FAR } else { 1 };
                let promised = index.map(|index| index + beyond);
                tell(kind, promised);
                Sct::sign(&self.signer, entry, timestamp, promised)
            }
            Some(kind @ LieKind::UnreadableSct) => {
                // Nobody can read which index was promised.
                lies.tell_entry(kind, entry, &entry.leaf_input(timestamp, index), (None, index));
                let sct = Sct::sign(&self.signer, entry, timestamp, index);
                return unreadable(lies.next_form(), &sct);
            }
            _ => Sct::sign(&self.signer, entry, timestamp, index),
        };
        sct.to_json()
    }

    /// What a body holds, of which nothing is kept but the leaf.
    fn taken(
        &self,
        body: &[u8],
        precert: bool,
    ) -> Result<Taken<impl Future<Output = Option<bool>> + use<>>, SubmitRefusal> {
        let texts = read_texts(body).map_err(|reason| self.unreadable(&reason))?;
        match self.candidate(&texts, precert) {
            Some(candidate) => Ok(candidate),
            None => self.examined(&texts, precert).map(Taken::Entry),
        }
    }

    /// An entry, if its verdict is good. None where that is not all that there is to ask.
    fn candidate(
        &self,
        texts: &[Text<'_>],
        precert: bool,
    ) -> Option<Taken<impl Future<Output = Option<bool>> + use<>>> {
        let (leaf, above) = texts.split_first()?;
        let path = self.validator.known_path(above)?;
        let leaf = BASE64_STANDARD.decode(leaf).ok()?;
        let (validated, signature) = self.validator.candidate(&leaf, path, precert, self.now_s())?;
        let entry = Entry::new(&validated, precert).ok()?;
        let verdict = self.checks.holds(&signature);
        Some(Taken::Candidate { entry: Arc::new(entry), sent: above.len(), verdict })
    }

    /// The entry of a submission of which everything is asked, in the order in which refusals are told.
    fn examined(&self, texts: &[Text<'_>], precert: bool) -> Result<Arc<Entry>, SubmitRefusal> {
        let chain = decode(texts).map_err(|reason| self.unreadable(&reason))?;
        let validated = self
            .validator
            .validate(&chain, precert, self.now_s())
            .map_err(|refusal| SubmitRefusal::unverified(&refusal))?;
        let entry = Entry::new(&validated, precert)
            .map_err(|error| SubmitRefusal::Bad(format!("failed to build MerkleTreeLeaf: {error}")))?;
        for authority in &validated.path.authorities {
            self.store.keep_issuer(authority).map_err(|_| SubmitRefusal::Internal("issuer chain"))?;
        }
        self.validator.remember(&texts[1..], &validated.path);
        Ok(Arc::new(entry))
    }

    fn unreadable(&self, reason: &str) -> SubmitRefusal {
        SubmitRefusal::Bad(format!("{}: failed to parse add-chain body: {reason}", self.origin))
    }

    fn now_s(&self) -> i64 {
        i64::try_from(self.clock.unix_ms() / 1000).unwrap_or(i64::MAX)
    }

    async fn placed(&self, ticket: &mut Ticket) -> Result<Placed, SubmitRefusal> {
        let placed = ticket.placed().await.ok_or(SubmitRefusal::Internal("storage failed"))?;
        // Its batch may be reached by a checkpoint that ends within it.
        if self.plan.enable_publication_awaiter && self.published.borrow().size <= placed.index {
            let mut published = self.published.subscribe();
            let covered = published.wait_for(|checkpoint| checkpoint.size > placed.index).await;
            covered.map_err(|_| SubmitRefusal::Internal("the log has ended"))?;
        }
        Ok(placed)
    }

    fn pushed_back(&self, pushback: Pushback) -> SubmitRefusal {
        // TesseraCT draws 1 to 5 s; the clock's milliseconds spread as well and need no state.
        let spread = 1 + (self.clock.unix_ms() % 5) as u32;
        let retry_after_s = match (self.plan.flavour, pushback) {
            (Flavour::StaticCt, _) => Some(spread),
            // ct_server sends none.
            (Flavour::Rfc6962, Pushback::Outstanding | Pushback::Duplicates) => None,
        };
        SubmitRefusal::TooMany { retry_after_s }
    }
}

impl<'a> Sct<'a> {
    fn sign(signer: &'a LogSigner, entry: &Entry, timestamp: u64, index: Option<u64>) -> Self {
        // The leaf is, byte for byte, what an SCT signs.
        let signature = signer.digitally_signed(&entry.leaf_input(timestamp, index));
        Self::signed(signer, timestamp, index, &signature)
    }

    fn signed(signer: &'a LogSigner, timestamp: u64, index: Option<u64>, signature: &[u8]) -> Self {
        Self {
            sct_version: 0,
            id: &signer.id,
            timestamp,
            extensions: BASE64_STANDARD.encode(entry::extensions(index)),
            signature: BASE64_STANDARD.encode(signature),
        }
    }

    /// Still an ECDSA signature, but of nothing.
    fn with_bad_signature(self) -> Self {
        let mut signature = BASE64_STANDARD.decode(&self.signature).unwrap_or_default();
        if let Some(last) = signature.last_mut() {
            *last ^= 1;
        }
        Self { signature: BASE64_STANDARD.encode(signature), ..self }
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut json = Vec::with_capacity(JSON_BYTES);
        // A vector takes whatever is written to it.
        let _ = serde_json::to_writer(&mut json, self);
        json
    }
}

/// The serial number of a submission's leaf.
pub(crate) fn leaf_serial(chain: &[Vec<u8>]) -> Result<Vec<u8>, String> {
    let leaf = chain.first().ok_or("cert chain was empty")?;
    Certificate::parse(leaf).map(|leaf| leaf.serial.to_vec()).map_err(|error| error.to_string())
}

/// The answer to a submission that nobody validates: a good SCT for whatever was sent, without an index.
pub(crate) fn unchecked_sct(
    signer: &LogSigner,
    chain: &[Vec<u8>],
    precert: bool,
    timestamp_ms: u64,
) -> Result<String, String> {
    let validated = Validated::unchecked(chain).map_err(|refusal| refusal.to_string())?;
    let entry = Entry::new(&validated, precert).map_err(|error| error.to_string())?;
    serde_json::to_string(&Sct::sign(signer, &entry, timestamp_ms, None)).map_err(|error| error.to_string())
}

impl SubmitRefusal {
    fn unverified(refusal: &ChainRefusal) -> Self {
        Self::Bad(format!("failed to verify add-chain contents: {refusal}"))
    }

    fn answer(&self) -> Response<AnswerBody> {
        match self {
            Self::Bad(reason) => answer::error(StatusCode::BAD_REQUEST, reason),
            Self::TooMany { retry_after_s } => answer::refusal(429, *retry_after_s),
            Self::Internal(_) => answer::error(StatusCode::INTERNAL_SERVER_ERROR, &self.to_string()),
        }
    }
}

#[derive(Debug, Deserialize)]
struct AddChain<'a> {
    #[serde(borrow, default)]
    chain: Vec<Text<'a>>,
}

#[derive(Debug, Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl AsRef<str> for Text<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl AsRef<[u8]> for Text<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// The certificates of a submission's body, with reasons in the words of Go's decoders.
pub(crate) fn read_chain(body: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    decode(&read_texts(body)?)
}

/// The certificates of a submission's body in base64, one at least.
fn read_texts(body: &[u8]) -> Result<Vec<Text<'_>>, String> {
    let request: AddChain<'_> = serde_json::from_slice(body).map_err(|error| match error.is_eof() {
        true => "unexpected end of JSON input".into(),
        false => error.to_string(),
    })?;
    if request.chain.is_empty() {
        return Err("cert chain was empty".into());
    }
    Ok(request.chain)
}

fn decode(texts: &[Text<'_>]) -> Result<Vec<Vec<u8>>, String> {
    texts.iter().map(|text| BASE64_STANDARD.decode(text)).collect::<Result<_, _>>().map_err(|error| {
        let at = match error {
            DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol { offset: at, .. } => at,
            DecodeError::InvalidLength(length) => length,
            DecodeError::InvalidPadding => 0,
        };
        format!("illegal base64 data at input byte {at}")
    })
}

/// What an index is promised beyond the entry's own that the tree is far from having.
const FAR: u64 = 1 << 30;
/// Room for an SCT with an index: some 250 bytes.
const JSON_BYTES: usize = 320;
