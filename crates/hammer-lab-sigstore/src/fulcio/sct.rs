//! The list of SCTs in a certificate (RFC 6962 section 3.3), and SCTs that are lies.

use hammer_tlog::{
    ct::{
        precert::signed_entry,
        rfc6962::{EntryType, sct_signature_input},
        sct::Sct,
    },
    hash::sha256,
    keys::key::DigitallySigned,
};

use hammer_lab_authority::LabSigner;

/// `SignedCertificateTimestampList` of one SCT.
pub(super) fn sct_list(sct: &Sct) -> Vec<u8> {
    let mut serialized = Vec::with_capacity(47 + sct.extensions.len() + sct.signature.len());
    serialized.push(sct.version);
    serialized.extend_from_slice(sct.log_id.as_bytes());
    serialized.extend_from_slice(&sct.timestamp_ms.to_be_bytes());
    serialized.extend_from_slice(&vector16(&sct.extensions));
    serialized.extend_from_slice(&sct.signature);
    vector16(&vector16(&serialized))
}

/// The SCT with another signature of the same form.
pub(super) fn with_bad_signature(sct: Sct) -> Sct {
    let mut signature = sct.signature;
    if let Some(last) = signature.last_mut() {
        *last ^= 1;
    }
    Sct { signature, ..sct }
}

/// What another log would have promised of the same certificate or precertificate at the same time; the SCT itself where the chain has
/// none.
pub(super) fn of_another_log<C: AsRef<[u8]>>(
    sct: Sct,
    chain: &[C],
    entry: EntryType,
    log: &LabSigner,
) -> Sct {
    let Ok(entry) = signed_entry(chain, entry) else { return sct };
    let mut input = Vec::new();
    if sct_signature_input(&mut input, sct.timestamp_ms, entry.by_ref(), &sct.extensions).is_err() {
        return sct;
    }
    let signature = DigitallySigned::ecdsa_sha256(&log.sign(&input)).encode().unwrap_or_default();
    Sct { log_id: sha256(log.spki()), signature, ..sct }
}

/// The bytes after their length, which an SCT's parts are far too short to exceed.
fn vector16(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    [&length.to_be_bytes(), bytes].concat()
}
