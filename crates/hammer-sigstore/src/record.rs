//! What was promised, on its way from a shard to a verifier: as few bytes as a check needs, the answers as they came.

use hammer_core::record::OperationRecord;
use hammer_measure::Nanos;
use hammer_net::WireTimes;
use hammer_tlog::hash::Hash;
use hammer_tlog::tls::{TlsError, TlsReader};

use crate::plan::FulcioInterface;
use crate::promise::SigstorePromise;

/// When something was to be sent, was sent, and its answer was there, since the run's epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Instants {
    pub(crate) intended: Nanos,
    pub(crate) sent: Nanos,
    pub(crate) received: Nanos,
}

/// A promise, read back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PromiseRecord<'a> {
    Certificate(CertificateRecord<'a>),
    Entry(EntryRecord<'a>),
    Timestamp(TimestampRecord<'a>),
    TimestampChain { at: Instants, body: &'a [u8] },
    Artifact(ArtifactRecord<'a>),
    TilesArtifact(TilesArtifactRecord<'a>),
    Search(SearchRecord<'a>),
    Bundle(BundleRecord<'a>),
}

/// A certificate, and for what it was asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CertificateRecord<'a> {
    pub(crate) at: Instants,
    pub(crate) interface: FulcioInterface,
    /// What it has to name; empty where that is not known.
    pub(crate) identity: &'a str,
    /// Of the token; empty where it is not known.
    pub(crate) issuer: &'a str,
    pub(crate) spki: &'a [u8],
    /// The header with an SCT that is not in the certificate; empty where there is none.
    pub(crate) sct_header: &'a [u8],
    pub(crate) body: &'a [u8],
}

/// An entry that was accepted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EntryRecord<'a> {
    pub(crate) at: Instants,
    pub(crate) log: EntryLog,
    /// What the log has to store.
    pub(crate) stored: &'a [u8],
    pub(crate) body: &'a [u8],
}

/// In whose words an entry was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryLog {
    /// Rekor v1.
    Rekor = 1,
    /// Rekor v2, in JSON.
    Tiles = 2,
    /// Rekor v2, as a message.
    TilesMessage = 3,
    /// Rekor v1, which has it already: the answer is where it is.
    RekorBefore = 4,
    /// Rekor v2 likewise: the answer is its index.
    TilesBefore = 5,
}

/// A timestamp, and over what.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TimestampRecord<'a> {
    pub(crate) at: Instants,
    pub(crate) imprint: Hash,
    pub(crate) nonce: u64,
    pub(crate) body: &'a [u8],
}

/// An entry that was read back, and what it is about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ArtifactRecord<'a> {
    pub(crate) at: Instants,
    /// The leaf that was asked for.
    pub(crate) leaf: Hash,
    pub(crate) index: u64,
    /// When it was integrated, as the log said first, in seconds since 1970; none where that is not known.
    pub(crate) integrated_time: Option<i64>,
    pub(crate) artifact: &'a [u8],
    /// In whose name it was signed; empty where nobody is known.
    pub(crate) identity: &'a str,
    /// What the log answered; none where it says that it has no such entry.
    pub(crate) body: Option<&'a [u8]>,
}

/// An entry of Rekor v2 that was read, what it is about, and what leads to it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TilesArtifactRecord<'a> {
    pub(crate) at: Instants,
    /// The leaf that was logged, and its index.
    pub(crate) leaf: Hash,
    pub(crate) index: u64,
    /// When the log had answered with it.
    pub(crate) logged_unix_ms: u64,
    pub(crate) artifact: &'a [u8],
    /// In whose name it was signed; empty where nobody is known.
    pub(crate) identity: &'a str,
    /// A whole `TimeStampResp` over its signature; empty where there is none.
    pub(crate) timestamp: &'a [u8],
    /// The parts of a record of `hammer_read`, whose check is a [`FoundOnTiles`].
    pub(crate) proof: &'a [u8],
}

impl TilesArtifactRecord<'_> {
    /// What the log promised by what was found.
    pub(crate) fn promise(&self) -> SigstorePromise {
        let found = self.proof.first().and_then(|found| FoundOnTiles::of(*found));
        found.unwrap_or(FoundOnTiles::Whole).promise()
    }
}

/// What was found of an entry of Rekor v2, and which parts show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundOnTiles {
    /// The checkpoint; the entry; the hash tiles from its leaf to the root.
    Whole = 1,
    /// The checkpoint alone, in whose tree it is not.
    Uncovered = 2,
    /// The checkpoint, what was read before, and the name of a tile that is not served.
    NoTile = 3,
    /// The checkpoint, and the bundle, in which there is no entry at its place.
    CutOff = 4,
    /// The checkpoint, which alone is to be judged: what it did not lead to may be on its way.
    HeadAlone = 5,
}

impl FoundOnTiles {
    /// What that number stands for.
    pub(crate) fn of(number: u8) -> Option<Self> {
        [Self::Whole, Self::Uncovered, Self::NoTile, Self::CutOff, Self::HeadAlone]
            .into_iter()
            .find(|known| *known as u8 == number)
    }

    /// What the log promised by what was found.
    pub(crate) fn promise(self) -> SigstorePromise {
        match self {
            Self::HeadAlone => SigstorePromise::Checkpoint,
            _ => SigstorePromise::Artifact,
        }
    }
}

/// What a search found, and what it should have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SearchRecord<'a> {
    pub(crate) at: Instants,
    /// The leaf that was logged, and its index.
    pub(crate) leaf: Hash,
    pub(crate) index: u64,
    pub(crate) body: &'a [u8],
}

/// What a flow signed, and was answered, whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BundleRecord<'a> {
    pub(crate) log: EntryLog,
    /// What the certificate has to name; empty where that is not known.
    pub(crate) identity: &'a str,
    /// What is signed, or what a statement that is signed is about.
    pub(crate) artifact: &'a [u8],
    /// The statement; empty where the artifact itself is signed.
    pub(crate) payload: &'a [u8],
    pub(crate) signature: &'a [u8],
    /// The certificate in PEM.
    pub(crate) certificate: &'a str,
    /// The SCT that is not in it, as a log answers in JSON; empty where there is none.
    pub(crate) sct: &'a [u8],
    /// What the log answered.
    pub(crate) entry: &'a [u8],
    /// A whole `TimeStampResp`; empty where the flow has none.
    pub(crate) timestamp: &'a [u8],
}

impl Instants {
    /// Those of the exchange of a flow that was just answered.
    pub(crate) fn of(record: &OperationRecord, wire: &WireTimes) -> Self {
        let received = wire.done.unwrap_or_default();
        Self { intended: record.intended(), sent: wire.sent.unwrap_or(received), received }
    }

    fn write(self, out: &mut Vec<u8>) {
        for instant in [self.intended, self.sent, self.received] {
            out.extend_from_slice(&instant.0.to_be_bytes());
        }
    }

    fn read(reader: &mut TlsReader<'_>) -> Result<Self, TlsError> {
        let (intended, sent) = (Nanos(reader.u64("intended")?), Nanos(reader.u64("sent")?));
        Ok(Self { intended, sent, received: Nanos(reader.u64("received")?) })
    }
}

impl PromiseRecord<'_> {
    /// Replaces `out` by the record.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        match self {
            Self::Certificate(CertificateRecord {
                at,
                interface,
                identity,
                issuer,
                spki,
                sct_header,
                body,
            }) => {
                out.extend_from_slice(&[CERTIFICATE, *interface as u8]);
                at.write(out);
                put(out, identity.as_bytes());
                put(out, spki);
                put(out, issuer.as_bytes());
                put(out, sct_header);
                out.extend_from_slice(body);
            }
            Self::Entry(EntryRecord { at, log, stored, body }) => {
                out.extend_from_slice(&[ENTRY, *log as u8]);
                at.write(out);
                put(out, stored);
                out.extend_from_slice(body);
            }
            Self::Timestamp(TimestampRecord { at, imprint, nonce, body }) => {
                out.push(TIMESTAMP);
                at.write(out);
                out.extend_from_slice(&imprint.0);
                out.extend_from_slice(&nonce.to_be_bytes());
                out.extend_from_slice(body);
            }
            Self::TimestampChain { at, body } => {
                out.push(TIMESTAMP_CHAIN);
                at.write(out);
                out.extend_from_slice(body);
            }
            Self::Artifact(ArtifactRecord { at, leaf, index, integrated_time, artifact, identity, body }) => {
                let is_there = if body.is_some() { IS_THERE } else { 0 };
                let is_timed = if integrated_time.is_some() { IS_TIMED } else { 0 };
                out.extend_from_slice(&[ARTIFACT, is_there | is_timed]);
                at.write(out);
                out.extend_from_slice(&leaf.0);
                out.extend_from_slice(&index.to_be_bytes());
                out.extend_from_slice(&integrated_time.unwrap_or_default().to_be_bytes());
                put(out, artifact);
                put(out, identity.as_bytes());
                out.extend_from_slice(body.unwrap_or_default());
            }
            Self::TilesArtifact(TilesArtifactRecord {
                at,
                leaf,
                index,
                logged_unix_ms,
                artifact,
                identity,
                timestamp,
                proof,
            }) => {
                out.push(TILES_ARTIFACT);
                at.write(out);
                out.extend_from_slice(&leaf.0);
                out.extend_from_slice(&index.to_be_bytes());
                out.extend_from_slice(&logged_unix_ms.to_be_bytes());
                [artifact, identity.as_bytes(), timestamp].into_iter().for_each(|part| put(out, part));
                out.extend_from_slice(proof);
            }
            Self::Search(SearchRecord { at, leaf, index, body }) => {
                out.push(SEARCH);
                at.write(out);
                out.extend_from_slice(&leaf.0);
                out.extend_from_slice(&index.to_be_bytes());
                out.extend_from_slice(body);
            }
            Self::Bundle(BundleRecord {
                log,
                identity,
                artifact,
                payload,
                signature,
                certificate,
                sct,
                entry,
                timestamp,
            }) => {
                out.extend_from_slice(&[BUNDLE, *log as u8]);
                put(out, identity.as_bytes());
                put(out, certificate.as_bytes());
                [artifact, payload, signature, sct, entry].into_iter().for_each(|part| put(out, part));
                out.extend_from_slice(timestamp);
            }
        }
    }
}

impl<'a> PromiseRecord<'a> {
    /// Reads it back.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, TlsError> {
        let mut reader = TlsReader::new(bytes);
        let kind = reader.u8("what is told")?;
        let unknown = |value: u8| TlsError::UnknownValue { field: "what is told", value: value.into() };
        Ok(match kind {
            CERTIFICATE => {
                let number = reader.u8("interface")?;
                let interface = INTERFACES.into_iter().find(|known| *known as u8 == number);
                let interface = interface.ok_or_else(|| unknown(number))?;
                let at = Instants::read(&mut reader)?;
                let identity = std::str::from_utf8(take(&mut reader)?).map_err(|_| unknown(kind))?;
                let spki = take(&mut reader)?;
                let issuer = std::str::from_utf8(take(&mut reader)?).map_err(|_| unknown(kind))?;
                let (sct_header, body) = (take(&mut reader)?, reader.rest());
                Self::Certificate(CertificateRecord {
                    at,
                    interface,
                    identity,
                    issuer,
                    spki,
                    sct_header,
                    body,
                })
            }
            ENTRY => {
                let number = reader.u8("log")?;
                let log =
                    LOGS.into_iter().find(|known| *known as u8 == number).ok_or_else(|| unknown(number))?;
                let (at, stored) = (Instants::read(&mut reader)?, take(&mut reader)?);
                Self::Entry(EntryRecord { at, log, stored, body: reader.rest() })
            }
            TIMESTAMP => {
                let at = Instants::read(&mut reader)?;
                let imprint = Hash(*reader.array("imprint")?);
                let nonce = reader.u64("nonce")?;
                Self::Timestamp(TimestampRecord { at, imprint, nonce, body: reader.rest() })
            }
            TIMESTAMP_CHAIN => Self::TimestampChain { at: Instants::read(&mut reader)?, body: reader.rest() },
            ARTIFACT => {
                let known = reader.u8("what is known of it")?;
                let at = Instants::read(&mut reader)?;
                let (leaf, index) = (Hash(*reader.array("leaf")?), reader.u64("index")?);
                let integrated_time = i64::from_be_bytes(*reader.array("when it was integrated")?);
                let integrated_time = (known & IS_TIMED != 0).then_some(integrated_time);
                let artifact = take(&mut reader)?;
                let identity = std::str::from_utf8(take(&mut reader)?).map_err(|_| unknown(kind))?;
                let body = (known & IS_THERE != 0).then(|| reader.rest());
                Self::Artifact(ArtifactRecord { at, leaf, index, integrated_time, artifact, identity, body })
            }
            TILES_ARTIFACT => {
                let at = Instants::read(&mut reader)?;
                let leaf = Hash(*reader.array("leaf")?);
                let (index, logged_unix_ms) = (reader.u64("index")?, reader.u64("when it was logged")?);
                let (artifact, identity) = (take(&mut reader)?, take(&mut reader)?);
                let identity = std::str::from_utf8(identity).map_err(|_| unknown(kind))?;
                let (timestamp, proof) = (take(&mut reader)?, reader.rest());
                Self::TilesArtifact(TilesArtifactRecord {
                    at,
                    leaf,
                    index,
                    logged_unix_ms,
                    artifact,
                    identity,
                    timestamp,
                    proof,
                })
            }
            SEARCH => {
                let at = Instants::read(&mut reader)?;
                let (leaf, index) = (Hash(*reader.array("leaf")?), reader.u64("index")?);
                Self::Search(SearchRecord { at, leaf, index, body: reader.rest() })
            }
            BUNDLE => {
                let number = reader.u8("log")?;
                let log =
                    LOGS.into_iter().find(|known| *known as u8 == number).ok_or_else(|| unknown(number))?;
                let text = |bytes| std::str::from_utf8(bytes).map_err(|_| unknown(kind));
                let (identity, certificate) = (text(take(&mut reader)?)?, text(take(&mut reader)?)?);
                let (artifact, payload) = (take(&mut reader)?, take(&mut reader)?);
                let signature = take(&mut reader)?;
                let (sct, entry, timestamp) = (take(&mut reader)?, take(&mut reader)?, reader.rest());
                Self::Bundle(BundleRecord {
                    log,
                    identity,
                    artifact,
                    payload,
                    signature,
                    certificate,
                    sct,
                    entry,
                    timestamp,
                })
            }
            other => return Err(unknown(other)),
        })
    }
}

/// Appends bytes behind their length in four.
fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

fn take<'a>(reader: &mut TlsReader<'a>) -> Result<&'a [u8], TlsError> {
    let length = u32::from_be_bytes(*reader.array("length")?);
    reader.bytes(length as usize, "bytes")
}

const INTERFACES: [FulcioInterface; 3] = [FulcioInterface::V1, FulcioInterface::V2, FulcioInterface::Grpc];
const LOGS: [EntryLog; 5] =
    [EntryLog::Rekor, EntryLog::Tiles, EntryLog::TilesMessage, EntryLog::RekorBefore, EntryLog::TilesBefore];
const CERTIFICATE: u8 = 1;
const ENTRY: u8 = 2;
const TIMESTAMP: u8 = 3;
const TIMESTAMP_CHAIN: u8 = 4;
const ARTIFACT: u8 = 5;
const SEARCH: u8 = 6;
const BUNDLE: u8 = 7;
const TILES_ARTIFACT: u8 = 8;
/// What a record knows of an entry that was read back: that it was answered, and when it was integrated.
const IS_THERE: u8 = 1;
const IS_TIMED: u8 = 2;

#[cfg(test)]
mod tests;
