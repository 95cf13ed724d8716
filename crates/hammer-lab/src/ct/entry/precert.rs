//! The TBSCertificate that a precertificate stands for (RFC 6962 section 3.2), rebuilt here from the bytes so that the
//! log and what checks its SCTs do not share their errors.

use hammer_tlog::keys::der::{
    self, BOOLEAN, DerError, DerReader, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, Tlv, context,
};

use crate::ct::chain::{
    Authority,
    certificate::{OID_AUTHORITY_KEY_IDENTIFIER, OID_POISON},
};

/// The TBSCertificate without its poison; where a precertificate signing certificate issued it, with that one's issuer
/// and authority key identifier in place of its own.
pub(crate) fn defanged_tbs(tbs: &[u8], signing: Option<&Authority>) -> Result<Vec<u8>, DerError> {
    let mut fields = Tlv::parse(tbs, SEQUENCE)?.content();
    let mut kept = Vec::with_capacity(tbs.len() + 64);
    let mut sequences = 0;
    while !fields.is_empty() {
        let field = fields.read()?;
        sequences += usize::from(field.tag == SEQUENCE);
        match (field.tag, signing) {
            // Signature algorithm, then issuer.
            (SEQUENCE, Some(signing)) if sequences == 2 => kept.extend_from_slice(&signing.issuer),
            (tag, _) if tag == context(3) => extensions(&mut kept, field, signing)?,
            _ => kept.extend_from_slice(field.raw),
        }
    }
    let mut rebuilt = Vec::with_capacity(kept.len() + 4);
    der::write(&mut rebuilt, SEQUENCE, &kept);
    Ok(rebuilt)
}

fn extensions(out: &mut Vec<u8>, explicit: Tlv<'_>, signing: Option<&Authority>) -> Result<(), DerError> {
    let mut list = Tlv::parse(explicit.value, SEQUENCE)?.content();
    let replacement = signing.map(|signing| signing.authority_key_identifier.as_deref());
    let mut kept = Vec::with_capacity(explicit.value.len() + 64);
    let mut identified = false;
    while !list.is_empty() {
        let extension = list.expect(SEQUENCE)?;
        let oid = extension.content().expect(OBJECT_IDENTIFIER)?.value;
        match (oid, replacement) {
            (OID_POISON, _) => {}
            (OID_AUTHORITY_KEY_IDENTIFIER, Some(replacement)) => {
                identified = true;
                if let Some(value) = replacement {
                    key_identifier(&mut kept, extension.content(), value)?;
                }
            }
            _ => kept.extend_from_slice(extension.raw),
        }
    }
    if let (Some(Some(value)), false) = (replacement, identified) {
        key_identifier(&mut kept, DerReader::new(&[]), value)?;
    }
    if !kept.is_empty() {
        let mut sequence = Vec::with_capacity(kept.len() + 4);
        der::write(&mut sequence, SEQUENCE, &kept);
        der::write(out, context(3), &sequence);
    }
    Ok(())
}

/// An authority key identifier with another value, as critical as the old one was.
fn key_identifier(out: &mut Vec<u8>, mut old: DerReader<'_>, value: &[u8]) -> Result<(), DerError> {
    let mut fields = Vec::with_capacity(value.len() + 16);
    der::write(&mut fields, OBJECT_IDENTIFIER, OID_AUTHORITY_KEY_IDENTIFIER);
    if !old.is_empty() {
        old.expect(OBJECT_IDENTIFIER)?;
        if let Some(critical) = old.optional(BOOLEAN)? {
            fields.extend_from_slice(critical.raw);
        }
    }
    der::write(&mut fields, OCTET_STRING, value);
    der::write(out, SEQUENCE, &fields);
    Ok(())
}
