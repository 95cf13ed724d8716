//! Messages of Fulcio, Rekor, Trillian and collectors of OpenTelemetry, as Protocol Buffers, JSON and TLS.

use std::fmt::Debug;

use hammer_messages::fulcio::{CreateSigningCertificateRequest, SigningCertificate};
use hammer_messages::otlp::ExportMetricsServiceResponse;
use hammer_messages::rekor::{CreateEntryRequest, TransparencyLogEntry};
use hammer_messages::trillian::LogRootV1;
use prost::Message;

/// A message that was read says the same when it is written and read again.
pub(crate) fn message(data: &[u8]) -> bool {
    let read = [
        reads_back::<SigningCertificate>(data),
        reads_back::<CreateSigningCertificateRequest>(data),
        reads_back::<TransparencyLogEntry>(data),
        reads_back::<CreateEntryRequest>(data),
        reads_back::<ExportMetricsServiceResponse>(data),
    ];
    read.contains(&true)
}

/// An entry of a log in JSON reads back, as JSON and as a message.
pub(crate) fn rekor_entry(data: &[u8]) -> bool {
    let Ok(entry) = serde_json::from_slice::<TransparencyLogEntry>(data) else { return false };
    let written = serde_json::to_vec(&entry).expect("JSON");
    assert_eq!(serde_json::from_slice::<TransparencyLogEntry>(&written).expect("an entry"), entry);
    assert_eq!(TransparencyLogEntry::decode(entry.encode_to_vec().as_slice()).as_ref(), Ok(&entry));
    !entry.canonicalized_body.is_empty()
}

/// A log root has one encoding.
pub(crate) fn log_root(data: &[u8]) -> bool {
    let Ok(root) = LogRootV1::from_tls(data) else { return false };
    let LogRootV1 { tree_size, root_hash, timestamp_nanos, revision, metadata } = root;
    let mut written = 1_u16.to_be_bytes().to_vec();
    written.extend_from_slice(&tree_size.to_be_bytes());
    written.push(root_hash.len() as u8);
    written.extend_from_slice(root_hash);
    written.extend_from_slice(&timestamp_nanos.to_be_bytes());
    written.extend_from_slice(&revision.to_be_bytes());
    written.extend_from_slice(&(metadata.len() as u16).to_be_bytes());
    written.extend_from_slice(metadata);
    assert_eq!(written, data);
    true
}

fn reads_back<M: Message + Default + PartialEq + Debug>(data: &[u8]) -> bool {
    let Ok(message) = M::decode(data) else { return false };
    assert_eq!(M::decode(message.encode_to_vec().as_slice()).as_ref(), Ok(&message));
    message != M::default()
}
