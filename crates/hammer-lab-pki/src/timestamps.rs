//! The service's timestamp authority.

use hammer_lab::LabError;
use hammer_lab_authority::certificate::name;
use hammer_lab_authority::der::UTF8_STRING;
use hammer_lab_authority::timestamp::{ImprintHash, Stamp, TokenSigner, granted};
use hammer_lab_authority::timestamp_query::StampRequest;
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
        if lie == Some(PkiLieKind::NoTimestamp) {
            return Ok(None);
        }
        let imprint = sha256(signature).0.to_vec();
        let asked = StampRequest { hash: ImprintHash::Sha256, imprint, nonce: None, certificates: true };
        self.token(&asked, now, lie).map(Some)
    }

    /// `TimeStampResp`, granted, with the token that is asked for; without one where that is the lie.
    pub(crate) fn response(
        &self,
        asked: &StampRequest,
        now: u64,
        lie: Option<PkiLieKind>,
    ) -> Result<Vec<u8>, Refusal> {
        match lie {
            Some(PkiLieKind::NoTimestamp) => Ok(granted(&[])),
            _ => Ok(granted(&self.token(asked, now, lie)?)),
        }
    }

    /// The token that is asked for, or what a lie says in it.
    pub(crate) fn token(
        &self,
        asked: &StampRequest,
        now: u64,
        lie: Option<PkiLieKind>,
    ) -> Result<Vec<u8>, Refusal> {
        let mut serial = [0; 16];
        let random = self.random.fill(&mut serial);
        random.map_err(|_| Refusal::code("InternalError", "there is no randomness"))?;
        let mut asked = asked.clone();
        let mut time = now;
        match lie {
            Some(PkiLieKind::StaleTimestamp) => time = now.saturating_sub(AN_HOUR),
            Some(PkiLieKind::TimestampOverAnotherImprint) => {
                asked.imprint.iter_mut().for_each(|byte| *byte = !*byte);
            }
            Some(PkiLieKind::TimestampWithAnotherNonce) => {
                asked
                    .nonce
                    .get_or_insert_with(|| vec![1])
                    .iter_mut()
                    .rev()
                    .take(1)
                    .for_each(|last| *last ^= 1);
            }
            _ => {}
        }
        let StampRequest { hash, imprint, nonce, certificates } = &asked;
        let nonce = nonce.as_deref();
        let stamp = Stamp { policy: POLICY, hash: *hash, imprint, serial: &serial, time, nonce };
        Ok(self.signer.token(&stamp, *certificates, |signature| signature))
    }
}

const AN_HOUR: u64 = 3600;
/// 1.3.6.1.4.1.99999.1, of nobody.
pub(crate) const POLICY: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x86, 0x8d, 0x1f, 0x01];
