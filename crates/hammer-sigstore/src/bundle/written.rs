//! A flow's bundle, put together from what it sent and was answered.

use hammer_messages::bundle::{
    Bundle, BundleCertificate, DsseEnvelope, DsseSignature, HashOutput, MEDIA_TYPE_V03, MessageSignature,
    Rfc3161SignedTimestamp, TimestampVerificationData, VerificationMaterial,
};
use hammer_messages::rekor::{KindVersion, TransparencyLogEntry};
use hammer_tlog::hash::sha256;
use prost::Message as _;
use serde_json::Value;

use crate::envelope::PAYLOAD_TYPE;
use crate::logged::LoggedSignature;
use crate::pem;
use crate::record::{BundleRecord, EntryLog};
use crate::rekor::LogEntries;

/// The JSON of the bundle.
///
/// # Errors
/// Which of the answers has not the form that a bundle needs.
pub(crate) fn json(record: &BundleRecord<'_>) -> Result<String, String> {
    let certificate = pem::certificates(record.certificate).and_then(|all| all.into_iter().next());
    let raw_bytes = certificate.ok_or("the certificate has broken PEM")?;
    let stamped = (!record.timestamp.is_empty()).then(|| TimestampVerificationData {
        rfc3161_timestamps: vec![Rfc3161SignedTimestamp { signed_timestamp: record.timestamp.to_vec() }],
    });
    let material = VerificationMaterial {
        certificate: Some(BundleCertificate { raw_bytes }),
        tlog_entries: vec![entry(record.log, record.entry)?],
        timestamp_verification_data: stamped,
        ..VerificationMaterial::default()
    };
    let (message_signature, dsse_envelope) = match record.payload {
        [] => (Some(message(record)), None),
        _ => (None, Some(envelope(record))),
    };
    let bundle = Bundle {
        media_type: MEDIA_TYPE_V03.to_owned(),
        verification_material: Some(material),
        message_signature,
        dsse_envelope,
    };
    let json = serde_json::to_value(&bundle).map_err(|why| why.to_string())?;
    Ok(without_defaults(json).to_string())
}

fn message(record: &BundleRecord<'_>) -> MessageSignature {
    let digest = HashOutput { algorithm: "SHA2_256".to_owned(), digest: sha256(record.artifact).0.to_vec() };
    MessageSignature { message_digest: Some(digest), signature: record.signature.to_vec() }
}

fn envelope(record: &BundleRecord<'_>) -> DsseEnvelope {
    DsseEnvelope {
        payload: record.payload.to_vec(),
        payload_type: PAYLOAD_TYPE.to_owned(),
        signatures: vec![DsseSignature { sig: record.signature.to_vec(), keyid: String::new() }],
    }
}

/// What the log answered, as an entry of a bundle.
fn entry(log: EntryLog, answer: &[u8]) -> Result<TransparencyLogEntry, String> {
    match log {
        EntryLog::Tiles => serde_json::from_slice(answer).map_err(|why| why.to_string()),
        EntryLog::TilesMessage => TransparencyLogEntry::decode(answer).map_err(|why| why.to_string()),
        EntryLog::RekorBefore | EntryLog::TilesBefore => {
            Err("the log did not answer with the entry".to_owned())
        }
        EntryLog::Rekor => {
            let (_, entry) = LogEntries::only(answer)?;
            let mut entry = entry.into_bundle()?;
            let logged = LoggedSignature::read(&entry.canonicalized_body).map_err(|why| why.to_string())?;
            entry.kind_version =
                Some(KindVersion { kind: logged.kind.name().to_owned(), version: logged.version });
            Ok(entry)
        }
    }
}

/// Without what says nothing: `null`, and the promise and the time that Rekor v2 does not have.
fn without_defaults(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let says = |(key, value): &(String, Value)| {
                !value.is_null() && (key != "integratedTime" || value != "0")
            };
            let kept = fields.into_iter().filter(says);
            Value::Object(kept.map(|(key, value)| (key, without_defaults(value))).collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(without_defaults).collect()),
        other => other,
    }
}
