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

/// Signs: with RSA on the crew, since it takes most of a millisecond; with P-256 here, since it takes less than handing it over and back does.
pub(crate) async fn sign(
    signer: Arc<Signer>,
    message: Vec<u8>,
    mut signature: Vec<u8>,
    record: &OperationRecord,
) -> Result<Vec<u8>, Ended> {
    let rsa = signer.key.is_rsa();
    let work = move || signer.key.sign(&message, &mut signature).map(|()| signature);
    let signed = if rsa { record.compute(work).await } else { work() };
    signed.map_err(|_| UNSIGNED)
}

const UNSIGNED: Ended = Ended::failed(Outcome::Abandoned, "signature without randomness");
