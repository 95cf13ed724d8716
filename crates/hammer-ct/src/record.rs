//! An SCT and what it was given for, on its way from a shard to a verifier: as few bytes as a check needs.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hammer_measure::Nanos;
use hammer_synth::{Kind, Minted};
use hammer_tlog::ct::rfc6962::{AddChainResponse, EntryType, V1};
use hammer_tlog::ct::sct::Sct;
use hammer_tlog::logs::audit::Beside;
use hammer_tlog::logs::merkle::Hash;
use hammer_tlog::tls::{TlsError, TlsReader, put_vector16, put_vector24};

use crate::plan::InvalidKind;

/// The record of a submission's answer, read back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SubmissionRecord<'a> {
    Sct(SctRecord<'a>),
    Unreadable(UnreadableRecord<'a>),
    Judged(Judged),
}

/// A 200 that holds no SCT, read back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnreadableRecord<'a> {
    pub(crate) at: Instants,
    /// What the log promised for the same chain before, where this run has its answer.
    pub(crate) first: Option<First<'a>>,
    /// Why it is none, as its cause is counted.
    pub(crate) why: &'a [u8],
    /// The start of the answer, without what was secret of the request.
    pub(crate) body: &'a [u8],
}

/// The answer to a submission of which it is known whether it must be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) kind: InvalidKind,
    /// Whether it must be refused; accepted otherwise.
    pub(crate) refuse: bool,
    /// 200 or a refusal.
    pub(crate) status: u16,
}

/// Why a 200 is no SCT, as its cause is counted.
pub(crate) type NoSct = &'static str;

/// The record of an SCT, read back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SctRecord<'a> {
    pub(crate) at: Instants,
    pub(crate) kind: EntryType,
    pub(crate) sct: Sct,
    /// What the log promised for the same chain before, where this run has its answer.
    pub(crate) first: Option<First<'a>>,
    /// The certificates as they were sent: the leaf, and of a precertificate's chain those that may be its final issuer.
    pub(crate) chain: Vec<&'a [u8]>,
    /// The digest of all certificates above the leaf ([`Minted::chain_digest`]), where it is known.
    pub(crate) above: Option<[u8; 32]>,
}

/// When a submission was to be sent, was sent, and its answer's last byte was read, since the run's epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Instants {
    pub(crate) intended: Nanos,
    pub(crate) sent: Nanos,
    pub(crate) received: Nanos,
}

/// What a log promised for a chain that was submitted again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct First<'a> {
    /// The submission that it answered.
    pub(crate) seq: u64,
    pub(crate) timestamp_ms: u64,
    pub(crate) extensions: &'a [u8],
}

/// Where in its record an SCT says what a duplicate is held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) timestamp_ms: u64,
    pub(crate) extensions: Range<usize>,
}

/// Replaces `out` by the record of the answer `body` to a chain that was submitted as that kind, and got `first` before. Only the form of
/// the answer is checked here: that it is an SCT of version 1, whose texts are base64 and whose id is of 32 bytes.
pub(crate) fn write(
    out: &mut Vec<u8>,
    at: Instants,
    body: &[u8],
    (minted, endpoint): (&Minted, Kind),
    first: Option<First<'_>>,
) -> Result<Stamp, NoSct> {
    if body.is_empty() {
        return Err("empty answer");
    }
    let answer: AddChainResponse<'_> = serde_json::from_slice(body).map_err(|_| "answer is not an sct")?;
    if answer.sct_version != V1 {
        return Err("sct version is not v1");
    }
    out.clear();
    put_first(out, first)?;
    put_instants(out, at);
    out.push(entry_type(endpoint) as u8);
    out.extend_from_slice(&minted.chain_digest().unwrap_or(UNKNOWN));
    out.extend_from_slice(&answer.timestamp.to_be_bytes());
    if put_base64(out, &answer.id)? != size_of::<Hash>() {
        return Err("log id is not of 32 bytes");
    }
    let length = put_base64(out, &answer.extensions)?;
    let extensions = out.len() - length..out.len();
    if put_base64(out, &answer.signature)? == 0 {
        return Err("sct without a signature");
    }
    let needed = match endpoint {
        Kind::X509 => 1,
        Kind::Precert => MOST_ABOVE + 1,
    };
    for certificate in minted.certificates().take(needed) {
        put_vector24(out, certificate, "certificate").map_err(|_| "chain without an encoding")?;
    }
    Ok(Stamp { timestamp_ms: answer.timestamp, extensions })
}

fn put_first(out: &mut Vec<u8>, first: Option<First<'_>>) -> Result<(), NoSct> {
    out.push(if first.is_some() { REPEATED } else { NEW });
    if let Some(First { seq, timestamp_ms, extensions }) = first {
        out.extend_from_slice(&seq.to_be_bytes());
        out.extend_from_slice(&timestamp_ms.to_be_bytes());
        put_vector16(out, extensions, "extensions").map_err(|_| "sct of over 64 KiB")?;
    }
    Ok(())
}

/// Replaces `out` by the record of an answer of 200 that is no SCT, for that reason, but `said` that.
pub(crate) fn write_unreadable(
    out: &mut Vec<u8>,
    at: Instants,
    said: &str,
    why: NoSct,
    first: Option<First<'_>>,
) -> Result<(), NoSct> {
    out.clear();
    out.push(UNREADABLE);
    put_first(out, first)?;
    put_instants(out, at);
    put_vector16(out, why.as_bytes(), "why").map_err(|_| why)?;
    out.extend_from_slice(said.as_bytes());
    Ok(())
}

fn put_instants(out: &mut Vec<u8>, at: Instants) {
    for instant in [at.intended, at.sent, at.received] {
        out.extend_from_slice(&instant.0.to_be_bytes());
    }
}

/// Replaces `out` by the record of an answer that its status alone judges.
pub(crate) fn write_judged(out: &mut Vec<u8>, Judged { kind, refuse, status }: Judged) {
    out.clear();
    out.extend_from_slice(&[JUDGED, kind as u8, refuse.into()]);
    out.extend_from_slice(&status.to_be_bytes());
}

fn read_first<'a>(reader: &mut TlsReader<'a>) -> Result<First<'a>, TlsError> {
    let (seq, timestamp_ms) = (reader.u64("seq")?, reader.u64("timestamp")?);
    Ok(First { seq, timestamp_ms, extensions: reader.vector16("extensions")? })
}

/// Appends the decoded text behind its length in two bytes; returns the length.
fn put_base64(out: &mut Vec<u8>, text: &str) -> Result<usize, NoSct> {
    let start = out.len();
    // Room for what the text may decode to, which is known only once it did.
    out.resize(start + 2 + base64::decoded_len_estimate(text.len()), 0);
    let length = STANDARD.decode_slice(text, &mut out[start + 2..]).map_err(|_| "sct with broken base64")?;
    let prefix = u16::try_from(length).map_err(|_| "sct of over 64 KiB")?;
    out[start..start + 2].copy_from_slice(&prefix.to_be_bytes());
    out.truncate(start + 2 + length);
    Ok(length)
}

impl<'a> SubmissionRecord<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, TlsError> {
        let mut reader = TlsReader::new(bytes);
        match reader.u8("what is told")? {
            NEW => Ok(Self::Sct(SctRecord::read(&mut reader, None)?)),
            REPEATED => {
                let first = read_first(&mut reader)?;
                Ok(Self::Sct(SctRecord::read(&mut reader, Some(first))?))
            }
            UNREADABLE => Ok(Self::Unreadable(UnreadableRecord::read(&mut reader)?)),
            JUDGED => Ok(Self::Judged(Judged::read(&mut reader)?)),
            unknown => Err(TlsError::UnknownValue { field: "what is told", value: unknown.into() }),
        }
    }
}

impl<'a> UnreadableRecord<'a> {
    fn read(reader: &mut TlsReader<'a>) -> Result<Self, TlsError> {
        let first = match reader.u8("whether it is repeated")? {
            NEW => None,
            _ => Some(read_first(reader)?),
        };
        let at = Instants::read(reader)?;
        Ok(Self { at, first, why: reader.vector16("why")?, body: reader.rest() })
    }
}

impl Instants {
    fn read(reader: &mut TlsReader<'_>) -> Result<Self, TlsError> {
        let mut instant = |field| reader.u64(field).map(Nanos);
        Ok(Self { intended: instant("intended")?, sent: instant("sent")?, received: instant("received")? })
    }
}

impl Judged {
    fn read(reader: &mut TlsReader<'_>) -> Result<Self, TlsError> {
        let number = reader.u8("kind")?;
        let unknown = TlsError::UnknownValue { field: "kind", value: number.into() };
        let kind = *InvalidKind::ALL.get(usize::from(number)).ok_or(unknown)?;
        Ok(Self { kind, refuse: reader.u8("refuse")? != 0, status: reader.u16("status")? })
    }
}

impl SctRecord<'_> {
    /// What was sent beside what the leaf has, where all of it is known.
    pub(crate) fn sent_beside(&self) -> Option<Beside> {
        let precertificate = self.chain.first().copied().filter(|_| self.kind == EntryType::Precert);
        Some(Beside::of(self.above?, precertificate))
    }
}

impl<'a> SctRecord<'a> {
    fn read(reader: &mut TlsReader<'a>, first: Option<First<'a>>) -> Result<Self, TlsError> {
        let at = Instants::read(reader)?;
        let kind = reader.u8("entry_type")?;
        let kind = EntryType::from_u16(kind.into())
            .ok_or(TlsError::UnknownValue { field: "entry_type", value: kind.into() })?;
        let above = *reader.array::<32>("above")?;
        let timestamp_ms = reader.u64("timestamp")?;
        let log_id = Hash::from_slice(reader.vector16("id")?).ok_or(TlsError::Truncated { field: "id" })?;
        let extensions = reader.vector16("extensions")?.to_vec();
        let signature = reader.vector16("signature")?.to_vec();
        let mut chain = Vec::with_capacity(MOST_ABOVE + 1);
        while !reader.rest().is_empty() {
            chain.push(reader.vector24("certificate")?);
        }
        let sct = Sct { version: V1, log_id, timestamp_ms, extensions, signature };
        let above = Some(above).filter(|above| *above != UNKNOWN);
        Ok(Self { at, kind, sct, first, chain, above })
    }
}

pub(crate) const fn entry_type(kind: Kind) -> EntryType {
    match kind {
        Kind::X509 => EntryType::X509,
        Kind::Precert => EntryType::Precert,
    }
}

/// In the place of a digest that is not known.
const UNKNOWN: [u8; 32] = [0; 32];

const NEW: u8 = 0;
const REPEATED: u8 = 1;
const JUDGED: u8 = 2;
const UNREADABLE: u8 = 3;

/// A precertificate's final issuer is the next certificate, or the one after that.
const MOST_ABOVE: usize = 2;
