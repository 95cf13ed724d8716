//! Who signs in tests.

use hammer_cms::signature::KnownSigner;
use hammer_lab_authority::certificate::name;
use hammer_lab_authority::der::UTF8_STRING;
use hammer_lab_authority::timestamp::{ImprintHash, Stamp, TokenSigner};
use hammer_lab_authority::{Authority, CertifiedUse, LabSigner};
use hammer_lab_pki::advanced_signature::SigningCertificate;
use hammer_tlog::hash::sha256;
use hammer_tlog::keys::chain::TrustedAuthorities;

/// 2026-11-27.
pub(crate) const NOW: u64 = 1_795_737_600;

/// A signer, and an authority of timestamps.
pub(crate) struct Signers {
    pub(crate) signer: Authority,
    timestamps: TokenSigner,
}

impl Signers {
    pub(crate) fn new() -> Self {
        let named = |common_name| name(UTF8_STRING, "test", common_name);
        let key = |purpose| LabSigner::p256(purpose, 1).unwrap();
        let root = Authority::root(key("tsa root"), named("TSA root"), None, NOW);
        let tsa = root.certify(key("tsa"), named("TSA"), CertifiedUse::TimeStamping, NOW);
        let signer = Authority::root(key("signer"), named("signer"), None, NOW);
        Self { signer, timestamps: TokenSigner::new(tsa, true).unwrap() }
    }

    pub(crate) fn certificate(&self) -> SigningCertificate {
        SigningCertificate::new(self.signer.certificate().to_vec()).unwrap()
    }

    pub(crate) fn known(&self) -> KnownSigner {
        KnownSigner::new(self.signer.certificate().to_vec()).unwrap()
    }

    /// The token of a timestamp over these bytes.
    pub(crate) fn timestamp(&self, stamped: &[u8]) -> Vec<u8> {
        let stamp = Stamp {
            policy: &[0x2a, 0x03, 0x04],
            hash: ImprintHash::Sha256,
            imprint: &sha256(stamped).0,
            serial: &[7],
            time: NOW,
            nonce: None,
        };
        self.timestamps.token(&stamp, true, |signature| signature)
    }

    /// Who is trusted with timestamps.
    pub(crate) fn trusted(&self) -> TrustedAuthorities {
        let pem = self.timestamps.authority().pem().join("\n");
        TrustedAuthorities::from_pem(&pem).unwrap()
    }
}
