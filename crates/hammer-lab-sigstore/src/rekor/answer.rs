//! Answers as rekor-server shapes them: JSON with a newline behind it.

use std::sync::Arc;

use hammer_lab::serve::answer::AnswerBody;
use hammer_tlog::encoding::Base64;
use http::{
    HeaderName, HeaderValue, Response, StatusCode,
    header::{CONTENT_TYPE, ETAG, LOCATION, VARY},
};
use serde::{Serialize, Serializer, ser::SerializeMap as _};

use super::{
    entry::{LoggedEntry, signed_entry_timestamp},
    lie::altered_path,
    log::{IntegratedEntry, RekorLog},
    plan::RekorLieKind,
    refusal::RekorRefusal,
};

/// An entry as it is answered, by its uuid.
#[derive(Debug)]
pub(super) struct AnsweredEntry {
    pub(super) uuid: String,
    entry: EntryJson,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryJson {
    body: String,
    integrated_time: u64,
    #[serde(rename = "logID")]
    log_id: String,
    log_index: u64,
    verification: VerificationJson,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct VerificationJson {
    inclusion_proof: ProofJson,
    signed_entry_timestamp: Base64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ProofJson {
    checkpoint: String,
    hashes: Vec<String>,
    log_index: u64,
    root_hash: String,
    tree_size: u64,
}

#[derive(Debug, Serialize)]
struct ErrorJson<'a> {
    code: u16,
    message: &'a str,
}

impl Serialize for AnsweredEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(&self.uuid, &self.entry)?;
        map.end()
    }
}

impl AnsweredEntry {
    /// The same of an entry that is asked for again.
    pub(super) fn again(log: &RekorLog, integrated: IntegratedEntry) -> Self {
        match integrated.entry.lie {
            Some(RekorLieKind::AlteredEntry) => {
                let lie = Some(RekorLieKind::AnotherBody);
                let altered = LoggedEntry { lie, ..(*integrated.entry).clone() };
                Self::of(log, IntegratedEntry { entry: Arc::new(altered), ..integrated })
            }
            Some(RekorLieKind::AlteredTime) => {
                let integrated_time = integrated.integrated_time + LATER_SECONDS;
                Self::of(log, IntegratedEntry { integrated_time, ..integrated })
            }
            _ => Self::of(log, integrated),
        }
    }

    /// An entry with its proof and a timestamp anew: the truth, unless it is lied about.
    pub(super) fn of(log: &RekorLog, integrated: IntegratedEntry) -> Self {
        let IntegratedEntry { entry, log_index, integrated_time, head, path } = integrated;
        let before = || log.read_tree(|tree| tree.body(log_index.checked_sub(1)?));
        let body = match entry.lie {
            Some(RekorLieKind::AnotherBody) => before().unwrap_or_else(|| entry.body.clone()),
            _ => entry.body.clone(),
        };
        let told_index = log_index + u64::from(entry.lie == Some(RekorLieKind::WrongLogIndex));
        let path =
            if entry.lie == Some(RekorLieKind::WrongInclusionProof) { altered_path(path) } else { path };
        let signer = &log.checkpoints.signer;
        let signed_index = told_index + u64::from(entry.lie == Some(RekorLieKind::BadSet));
        let promise = signed_entry_timestamp(signer, &log.log_id, &body, integrated_time, signed_index);
        let inclusion_proof = ProofJson {
            checkpoint: head.note.clone(),
            hashes: path.iter().map(ToString::to_string).collect(),
            log_index,
            root_hash: head.root.to_hex(),
            tree_size: head.size,
        };
        let verification = VerificationJson { inclusion_proof, signed_entry_timestamp: Base64(promise) };
        let log_id = log.log_id.clone();
        let entry_json = EntryJson { body, integrated_time, log_id, log_index: told_index, verification };
        Self { uuid: log.uuid(&entry.leaf_hash), entry: entry_json }
    }
}

/// An answer of JSON.
pub(super) fn json(status: StatusCode, value: &impl Serialize) -> Response<AnswerBody> {
    // What is answered here is texts, numbers and lists of them, which are always written.
    let mut body = serde_json::to_vec(value).unwrap_or_default();
    body.push(b'\n');
    shaped(status, "application/json", body)
}

/// 200 with a body of this type.
pub(super) fn plain(content_type: &'static str, body: String) -> Response<AnswerBody> {
    shaped(StatusCode::OK, content_type, body.into_bytes())
}

/// 201 with the entry, and where it is.
pub(super) fn created(entry: &AnsweredEntry) -> Response<AnswerBody> {
    let mut answer = json(StatusCode::CREATED, entry);
    set(&mut answer, ETAG, &entry.uuid);
    set(&mut answer, LOCATION, &format!("/api/v1/log/entries/{}", entry.uuid));
    answer
}

/// An error.
pub(super) fn refused(refusal: &RekorRefusal) -> Response<AnswerBody> {
    let RekorRefusal { status, code, message, location } = refusal;
    let mut answer = match message.as_str() {
        "" => shaped(*status, "application/json", Vec::new()),
        message => json(*status, &ErrorJson { code: *code, message }),
    };
    if let Some(location) = location {
        set(&mut answer, LOCATION, location);
    }
    answer
}

fn set(answer: &mut Response<AnswerBody>, name: HeaderName, value: &str) {
    // Hex and paths are visible ASCII, which every value of a header may hold.
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
}

fn shaped(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> Response<AnswerBody> {
    let mut answer = Response::new(AnswerBody::from(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer.headers_mut().insert(VARY, HeaderValue::from_static("Origin"));
    answer
}

/// By how much an entry that is lied about is integrated later: within the ten minutes of a certificate of Fulcio.
const LATER_SECONDS: u64 = 300;
