//! The service's timestamp authority.

use hammer_lab::LabError;
use hammer_lab_authority::certificate::name;
use hammer_lab_authority::der::UTF8_STRING;
use hammer_lab_authority::timestamp::{ImprintHash, Stamp, TokenSigner};
use hammer_lab_authority::{Authority, CertifiedUse, LabSigner};
use hammer_tlog::hash::sha256;
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::plan::PkiLieKind;
use crate::refusal::Refusal;

/// What makes timestamps.
#[derive(Debug)]
pub(crate) struct Timestamps {
    signer: TokenSigner,
    random: SystemRandom,
}

impl Timestamps {
    /// The authority of a seed, as of a time in seconds since 1970.
    pub(crate) fn new(seed: u64, now: u64) -> Result<Self, LabError> {
        let named = |common_name| name(UTF8_STRING, "hammer-lab", common_name);
        let root = LabSigner::p256("pki tsa root", seed)?;
        let root = Authority::root(root, named("hammer-lab PKI TSA root"), None, now);
        let leaf = LabSigner::p256("pki tsa", seed)?;
        let leaf = root.certify(leaf, named("hammer-lab PKI TSA"), CertifiedUse::TimeStamping, now);
        let unusable = |error: &dyn std::fmt::Display| LabError::Plan {
            key: "key_seed".into(),
            reason: error.to_string(),
        };
        let signer = TokenSigner::new(leaf, true).map_err(|error| unusable(&error))?;
        Ok(Self { signer, random: SystemRandom::new() })
    }

    /// The leaf and its root.
    pub(crate) fn authority(&self) -> &Authority {
        self.signer.authority()
    }

    /// A token over a signature at that time in seconds since 1970, or what a lie says of it; none where that is the lie.
    pub(crate) fn over(
        &self,
        signature: &[u8],
        now: u64,
        lie: Option<PkiLieKind>,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let stamped = match lie {
            Some(PkiLieKind::TimestampOverAnotherImprint) => sha256(b"something else"),
            _ => sha256(signature),
        };
        let time = match lie {
            Some(PkiLieKind::NoTimestamp) => return Ok(None),
            Some(PkiLieKind::StaleTimestamp) => now.saturating_sub(AN_HOUR),
            _ => now,
        };
        self.of(ImprintHash::Sha256, &stamped.0, time).map(Some)
    }

    /// A token of that imprint.
    pub(crate) fn of(&self, hash: ImprintHash, imprint: &[u8], time: u64) -> Result<Vec<u8>, Refusal> {
        let mut serial = [0; 16];
        let random = self.random.fill(&mut serial);
        random.map_err(|_| Refusal::code("InternalError", "there is no randomness"))?;
        let stamp = Stamp { policy: POLICY, hash, imprint, serial: &serial, time, nonce: None };
        Ok(self.signer.token(&stamp, true, |signature| signature))
    }
}

const AN_HOUR: u64 = 3600;
/// 1.3.6.1.4.1.99999.1, of nobody.
const POLICY: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x86, 0x8d, 0x1f, 0x01];
