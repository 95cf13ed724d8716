//! What a log signs for a chain, rebuilt from the chain (RFC 6962 sections 3.1 and 3.2).

use crate::ct::rfc6962::{EntryType, SignedEntry};
use crate::hash::{Hash, sha256};
use crate::keys::certificate::{AUTHORITY_KEY_IDENTIFIER, Certificate, Extension, POISON, Tbs};
use crate::keys::der::{self, DerError, Tlv};

/// Why the entry of a chain cannot be rebuilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PrecertError {
    /// A certificate of the chain is not DER.
    #[error("read certificate {position} of the chain: {source}")]
    Certificate {
        /// Its place, from 0.
        position: usize,
        /// What is wrong with it.
        source: DerError,
    },
    /// The chain has no certificate.
    #[error("read the chain: it is empty")]
    EmptyChain,
    /// The chain ends before the certificate whose key is to be hashed; append the root where it was not sent.
    #[error("find the final issuer: the chain ends before it")]
    MissingIssuer,
    /// There is no poison, or more than one.
    #[error("remove the poison: the certificate has {count}")]
    PoisonCount {
        /// Poison extensions found.
        count: usize,
    },
    /// There is no list of SCTs, or more than one.
    #[error("remove the list of SCTs: the certificate has {count}")]
    ListCount {
        /// Lists found.
        count: usize,
    },
}

/// Whether the poison is as RFC 6962 section 3.1 wants it: critical, with ASN.1 NULL as its value.
pub fn is_poison_well_formed(poison: &Extension<'_>) -> bool {
    poison.oid == POISON && poison.critical && poison.value == [0x05, 0x00]
}

/// The `TBSCertificate` of a precertificate that its final issuer signed: without the poison, all else as it stands
/// (RFC 6962 section 3.2). A poison that is not critical or not NULL is removed as well.
pub fn precert_tbs(precert: &[u8]) -> Result<Vec<u8>, PrecertError> {
    rebuild(precert, None)
}

/// The `TBSCertificate` of a precertificate that a precertificate signing certificate signed: without the poison, with
/// the issuer and the authority key identifier of the final certificate, which are those of `signing_certificate` (RFC
/// 6962 section 3.2).
///
/// The authority key identifier is replaced where it stands, removed where the signing certificate has none, and
/// appended where only the signing certificate has one; a `critical` of the precertificate stays. RFC 6962 does not say
/// so much; certificate-transparency-go's `BuildPrecertTBS` does it so, and the logs use it.
pub fn precert_tbs_by_signing_certificate(
    precert: &[u8],
    signing_certificate: &[u8],
) -> Result<Vec<u8>, PrecertError> {
    let signing_certificate = parse(signing_certificate, 1)?;
    rebuild(precert, Some(&signing_certificate))
}

/// SHA-256 of a certificate's `SubjectPublicKeyInfo` (RFC 6962 section 3.2).
pub fn issuer_key_hash(issuer: &[u8]) -> Result<Hash, DerError> {
    Ok(sha256(Certificate::parse(issuer)?.spki))
}

/// What a log signs for a chain: the leaf or precertificate first, then each its predecessor's issuer. For a
/// precertificate the chain must reach the final issuer, so that a caller who does not send the root appends it here.
pub fn signed_entry<C: AsRef<[u8]>>(chain: &[C], kind: EntryType) -> Result<SignedEntry, PrecertError> {
    let leaf = chain.first().ok_or(PrecertError::EmptyChain)?.as_ref();
    if kind == EntryType::X509 {
        return Ok(SignedEntry::X509 { certificate: leaf.to_vec() });
    }
    let issuer_at = |position: usize| {
        let issuer = chain.get(position).ok_or(PrecertError::MissingIssuer)?;
        parse(issuer.as_ref(), position)
    };
    let issuer = issuer_at(1)?;
    if !issuer.is_precert_signing() {
        let tbs_certificate = rebuild(leaf, None)?;
        return Ok(SignedEntry::Precert { issuer_key_hash: issuer.key_hash(), tbs_certificate });
    }
    let tbs_certificate = rebuild(leaf, Some(&issuer))?;
    Ok(SignedEntry::Precert { issuer_key_hash: issuer_at(2)?.key_hash(), tbs_certificate })
}

fn parse(certificate: &[u8], position: usize) -> Result<Certificate<'_>, PrecertError> {
    Certificate::parse(certificate).map_err(|source| PrecertError::Certificate { position, source })
}

fn rebuild(precert: &[u8], signing: Option<&Certificate<'_>>) -> Result<Vec<u8>, PrecertError> {
    let certificate = parse(precert, 0)?;
    let tbs = tbs_of(&certificate)?;
    let count = tbs.extensions.filter(|extension| extension.oid == POISON).count();
    if count != 1 {
        return Err(PrecertError::PoisonCount { count });
    }
    let extensions = match signing {
        None => extensions_without(&tbs, POISON),
        Some(signing) => final_extensions(&tbs, signing),
    };
    let issuer = signing.map_or(tbs.issuer.raw, |signing| signing.issuer);
    Ok(assemble(&tbs, issuer, &extensions))
}

/// The `TBSCertificate` of a final certificate without its one list of SCTs, as which `list` is known.
pub(super) fn tbs_without(certificate: &[u8], list: &[u8]) -> Result<Vec<u8>, PrecertError> {
    let certificate = parse(certificate, 0)?;
    let tbs = tbs_of(&certificate)?;
    let count = tbs.extensions.filter(|extension| extension.oid == list).count();
    if count != 1 {
        return Err(PrecertError::ListCount { count });
    }
    Ok(assemble(&tbs, tbs.issuer.raw, &extensions_without(&tbs, list)))
}

fn tbs_of<'a>(certificate: &Certificate<'a>) -> Result<Tbs<'a>, PrecertError> {
    Tlv::parse(certificate.tbs, der::SEQUENCE)
        .and_then(Tbs::parse)
        .map_err(|source| PrecertError::Certificate { position: 0, source })
}

/// The extensions as they stand, without those of that identifier.
fn extensions_without(tbs: &Tbs<'_>, oid: &[u8]) -> Vec<u8> {
    let kept = tbs.extensions.filter(|extension| extension.oid != oid);
    kept.fold(Vec::new(), |mut out, extension| {
        out.extend_from_slice(extension.raw);
        out
    })
}

/// The extensions without the poison, and with the authority key identifier of the final certificate.
fn final_extensions(tbs: &Tbs<'_>, signing: &Certificate<'_>) -> Vec<u8> {
    let identifier = signing.extension(AUTHORITY_KEY_IDENTIFIER);
    let mut replaced = false;
    let mut out = Vec::new();
    for extension in tbs.extensions.filter(|extension| extension.oid != POISON) {
        if replaced || extension.oid != AUTHORITY_KEY_IDENTIFIER {
            out.extend_from_slice(extension.raw);
            continue;
        }
        replaced = true;
        if let Some(identifier) = &identifier {
            write_authority_key_identifier(&mut out, extension.critical, identifier.value);
        }
    }
    if let (false, Some(identifier)) = (replaced, &identifier) {
        write_authority_key_identifier(&mut out, false, identifier.value);
    }
    out
}

fn write_authority_key_identifier(out: &mut Vec<u8>, critical: bool, value: &[u8]) {
    let mut content = Vec::with_capacity(16 + value.len());
    der::write(&mut content, der::OBJECT_IDENTIFIER, AUTHORITY_KEY_IDENTIFIER);
    if critical {
        der::write(&mut content, der::BOOLEAN, &[0xff]);
    }
    der::write(&mut content, der::OCTET_STRING, value);
    der::write(out, der::SEQUENCE, &content);
}

/// The `TBSCertificate` of these parts. `extensions` is absent, not empty, when none is left (RFC 5280: SIZE (1..MAX)).
fn assemble(tbs: &Tbs<'_>, issuer: &[u8], extensions: &[u8]) -> Vec<u8> {
    let sequence = der::element_length(extensions.len());
    let field = if extensions.is_empty() { 0 } else { der::element_length(sequence) };
    let length = tbs.before_issuer.len() + issuer.len() + tbs.after_issuer.len() + field;
    let mut out = Vec::with_capacity(der::element_length(length));
    der::write_header(&mut out, der::SEQUENCE, length);
    out.extend_from_slice(tbs.before_issuer);
    out.extend_from_slice(issuer);
    out.extend_from_slice(tbs.after_issuer);
    if !extensions.is_empty() {
        der::write_header(&mut out, der::context(3), sequence);
        der::write(&mut out, der::SEQUENCE, extensions);
    }
    out
}

#[cfg(test)]
mod tests;
