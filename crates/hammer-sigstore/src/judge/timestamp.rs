//! Whether a timestamp is of what was asked for, and by whom it should be.

use hammer_cms::ber;
use hammer_cms::timestamp::{ExpectedImprint, ExpectedTimestamp, TimestampFault, TimestampVerifier};
use hammer_core::promise::Fault;
use hammer_tlog::keys::key::MixedBatch;

use super::malformed::{fault_of_timestamp, malformed};
use super::signatures::{SignatureOf, Signatures};
use super::window::StampWindow;
use crate::pem;
use crate::record::TimestampRecord;
use crate::trust::Trust;

/// The imprint, the nonce, the time, the signer and its chain; the signature is among those that are verified together.
pub(super) fn judge(
    (trust, verifier): (&Trust, Option<&mut TimestampVerifier>),
    record: &TimestampRecord<'_>,
    window: StampWindow,
    signatures: &mut Signatures,
) -> Result<(), Fault> {
    let Some(verifier) = verifier else { return Err(malformed("no chain of the authority is trusted")) };
    let expected = ExpectedTimestamp {
        imprint: ExpectedImprint::Sha256(&record.imprint.0),
        nonce: Some(record.nonce),
        not_before_ms: Some(window.not_before_ms),
        not_after_ms: Some(window.not_after_ms),
    };
    let body = ber::to_der(record.body);
    let add = |batch: &mut MixedBatch| verifier.verify_in(batch, &body, &expected);
    let verified = signatures.add(SignatureOf::Timestamp, add).map_err(|why| match why {
        TimestampFault::Time { unix_ms, .. } => {
            let off = window.check(unix_ms).err();
            let told = off.map_or_else(|| why.to_string(), |off| format!("its time is {unix_ms}, {off}"));
            Fault::new(why.kind(), told)
        }
        _ => fault_of_timestamp(trust, &why),
    })?;
    // Every query asks for it.
    verified.with_certificate().map(drop).map_err(|why| fault_of_timestamp(trust, &why))
}

/// Every certificate that the authority hands out has to be one of the trusted chain.
pub(crate) fn judge_chain(trust: &Trust, body: &[u8]) -> Result<(), Fault> {
    let text = std::str::from_utf8(body).map_err(|_| malformed("the chain is no text"))?;
    let chain = pem::certificates(text).filter(|chain| !chain.is_empty());
    let chain = chain.ok_or_else(|| malformed("the chain has no certificate"))?;
    let Some(trusted) = trust.timestamp() else { return Ok(()) };
    let is_known = |der: &Vec<u8>| trusted.certificates().any(|known| known == der.as_slice());
    match chain.iter().position(|der| !is_known(der)) {
        None => Ok(()),
        Some(place) => {
            Err(Fault::new("timestamp-chain", format!("certificate {place} is none of the trusted chain")))
        }
    }
}
