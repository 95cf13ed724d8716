//! Who signs.

use std::sync::Arc;

use hammer_core::record::OperationRecord;
use hammer_core::workload::Ended;
use hammer_measure::Outcome;

use crate::signing_key::SigningKey;

/// A signer: its key with its certificate, and those of its issuers.
#[derive(Debug)]
pub struct Signer {
    /// The key, with the certificate.
    pub key: SigningKey,
    /// The DER of the issuers' certificates, which some services want along.
    pub issuers: Vec<Vec<u8>>,
}

/// Signs on the crew: an RSA signature takes most of a millisecond.
pub(crate) async fn sign(
    signer: Arc<Signer>,
    message: Vec<u8>,
    mut signature: Vec<u8>,
    record: &OperationRecord,
) -> Result<Vec<u8>, Ended> {
    let signed = record.compute(move || signer.key.sign(&message, &mut signature).map(|()| signature)).await;
    signed.map_err(|_| UNSIGNED)
}

const UNSIGNED: Ended = Ended::failed(Outcome::Abandoned, "signature without randomness");
