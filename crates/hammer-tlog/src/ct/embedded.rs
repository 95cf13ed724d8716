//! SCTs within a certificate, and what a log signed for them (RFC 6962 section 3.3).

use crate::ct::precert::{PrecertError, tbs_without};
use crate::ct::rfc6962::SignedEntry;
use crate::ct::sct::Sct;
use crate::hash::Hash;
use crate::keys::certificate::Certificate;
use crate::keys::der::{self, DerError, Tlv};
use crate::tls::{TlsError, TlsReader};

/// DER content of 1.3.6.1.4.1.11129.2.4.2, the `SignedCertificateTimestampList` of a certificate.
pub const SCT_LIST: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x02];

/// Why the SCTs of a certificate cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddedError {
    /// The extension is no octet string.
    #[error("read the list of SCTs: {0}")]
    Der(#[from] DerError),
    /// The list, or an SCT in it, is broken.
    #[error("read the list of SCTs: {0}")]
    List(#[from] TlsError),
}

/// The SCTs of a certificate, in order; none where it has no such extension. Nothing is verified.
pub fn embedded_scts(certificate: &Certificate<'_>) -> Result<Vec<Sct>, EmbeddedError> {
    let Some(extension) = certificate.extension(SCT_LIST) else { return Ok(Vec::new()) };
    let mut list = TlsReader::new(Tlv::parse(extension.value, der::OCTET_STRING)?.value);
    let mut serialized = TlsReader::new(list.vector16("SignedCertificateTimestampList")?);
    list.finish("SignedCertificateTimestampList")?;
    let mut scts = Vec::new();
    while !serialized.rest().is_empty() {
        scts.push(sct(serialized.vector16("SerializedSCT")?)?);
    }
    Ok(scts)
}

/// A `SignedCertificateTimestamp` (RFC 6962 section 3.2).
fn sct(bytes: &[u8]) -> Result<Sct, TlsError> {
    let mut reader = TlsReader::new(bytes);
    let (version, log_id) = (reader.u8("sct_version")?, Hash(*reader.array("id")?));
    let timestamp_ms = reader.u64("timestamp")?;
    let extensions = reader.vector16("extensions")?.to_vec();
    Ok(Sct { version, log_id, timestamp_ms, extensions, signature: reader.rest().to_vec() })
}

/// What a log signed for the SCTs in a certificate: the precertificate's entry, without the list, by the key of the certificate's issuer.
pub fn logged_entry(
    certificate: &Certificate<'_>,
    issuer_key_hash: Hash,
) -> Result<SignedEntry, PrecertError> {
    let tbs_certificate = tbs_without(certificate.raw, SCT_LIST)?;
    Ok(SignedEntry::Precert { issuer_key_hash, tbs_certificate })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::from_base64;
    use crate::keys::key::LogKey;

    const CHAIN: &str = include_str!("../../testdata/fulcio/chain.pem");
    const CT_LOG_KEY: &str = include_str!("../../testdata/fulcio/ct-log.b64");

    fn chain() -> Vec<Vec<u8>> {
        let blocks = CHAIN.split("-----BEGIN CERTIFICATE-----").skip(1);
        let body = |block: &str| {
            let (body, _) = block.split_once("-----END").unwrap();
            from_base64(body.split_ascii_whitespace().collect::<String>()).unwrap()
        };
        blocks.map(body).collect()
    }

    #[test]
    fn the_sct_in_a_certificate_of_fulcio_is_its_ct_logs() {
        let chain = chain();
        let (leaf, issuer) = (Certificate::parse(&chain[0]).unwrap(), Certificate::parse(&chain[1]).unwrap());
        let scts = embedded_scts(&leaf).unwrap();
        let [sct] = scts.as_slice() else { panic!("one SCT") };
        let key = LogKey::from_base64(CT_LOG_KEY).unwrap();
        let entry = logged_entry(&leaf, issuer.key_hash()).unwrap();
        sct.verify(&key, entry.by_ref()).unwrap();
        let foreign = logged_entry(&leaf, leaf.key_hash()).unwrap();
        assert!(sct.verify(&key, foreign.by_ref()).is_err());
    }

    #[test]
    fn a_certificate_without_the_list_has_no_scts_and_no_entry_behind_them() {
        let chain = chain();
        let issuer = Certificate::parse(&chain[1]).unwrap();
        assert_eq!(embedded_scts(&issuer), Ok(Vec::new()));
        assert!(logged_entry(&issuer, issuer.key_hash()).is_err());
    }
}
