//! What is found of services before the first arrival: whether they are those that answers are held to.

use std::rc::Rc;

use hammer_core::runtime::Clock;
use hammer_measure::{Nanos, peer_text};
use hammer_net::ClientConfig;
use hammer_tlog::hash::sha256;
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::chain::{Authority, TrustedAuthorities};
use hammer_tlog::keys::key::LogKey;
use hammer_tlog::logs::note::{Note, Verifier};

use crate::fulcio::{trust_bundle, trust_bundle_message};
use crate::pem;
use crate::served_trust;
use crate::target::SigstoreService;
use crate::trust::Trust;

/// Why a service is not the one that is trusted: a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrustMismatch {
    /// Rekor v1 signs by a key that is not trusted.
    #[error("Rekor at {url} signs by the key of log ID {signs}, and trusted is {trusts}")]
    RekorKey {
        /// Where it says so.
        url: String,
        /// The SHA-256 of its `SubjectPublicKeyInfo`, as its entries name it.
        signs: String,
        /// Those of the trusted keys.
        trusts: String,
    },
    /// The checkpoints of Rekor v2 have another first line.
    #[error("the log of Rekor v2 at {url} signs as {signs}, and trusted is {trusts}")]
    Origin {
        /// Where it says so.
        url: String,
        /// Its origin, as it may be shown.
        signs: String,
        /// That of the trusted key.
        trusts: String,
    },
    /// The checkpoints of Rekor v2 are signed by another key.
    #[error(
        "the log of Rekor v2 at {url} signs as {origin} with the key of id {signs:08x}, and the trusted one has the id {trusts:08x}"
    )]
    CheckpointKey {
        /// Where it says so.
        url: String,
        /// Its origin.
        origin: String,
        /// The key id in the line of that name (C2SP signed-note).
        signs: u32,
        /// That of the trusted key.
        trusts: u32,
    },
    /// A service shows chains of which nothing is trusted.
    #[error("{service} at {url} has the chain of root {shows} (SHA-256), and trusted is {trusts}")]
    Chain {
        /// Which.
        service: &'static str,
        /// Where it says so.
        url: String,
        /// The SHA-256 of the last certificate of its first chain.
        shows: String,
        /// Those of the trusted roots.
        trusts: String,
    },
}

impl TrustMismatch {
    /// The keys of a target that say whom to trust there: a file of its own, or one for all.
    pub fn keys(&self) -> [&'static str; 2] {
        let own = match self {
            Self::RekorKey { .. } => "rekor_key",
            Self::Origin { .. } => "rekor_tiles_origin",
            Self::CheckpointKey { .. } => "rekor_tiles_key",
            Self::Chain { service: FULCIO, .. } => "fulcio_chain",
            Self::Chain { .. } => "timestamp_chain",
        };
        [own, "trusted_root"]
    }
}

impl Trust {
    /// Asks a service at the client's first URL who it is, and holds that against whom answers are held to. What says otherwise once is
    /// asked again, since a cache or a lie of a service may be in it; nothing is said where nobody is trusted of it.
    ///
    /// # Errors
    /// Why it does not say it: the run shows what is of that.
    pub async fn look(
        &self,
        service: SigstoreService,
        client: ClientConfig,
        clock: Rc<dyn Clock>,
    ) -> Result<Option<TrustMismatch>, String> {
        let url = client.endpoints.first().map(ToString::to_string).unwrap_or_default();
        let url = url.trim_end_matches('/');
        let mut found = None;
        for _ in 0..LOOKS {
            let body = served_trust::read(client.clone(), Rc::clone(&clock), service, PATIENCE).await?;
            found = self.held(service, &body, url)?;
            if found.is_none() {
                break;
            }
        }
        Ok(found)
    }

    /// What is wrong with what such a service answered at `url`.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn held(
        &self,
        service: SigstoreService,
        body: &[u8],
        url: &str,
    ) -> Result<Option<TrustMismatch>, String> {
        match service {
            SigstoreService::Fulcio | SigstoreService::FulcioGrpc => {
                let is_grpc = service.is_grpc();
                let chains = if is_grpc { trust_bundle_message(body)? } else { trust_bundle(body)? };
                Ok(self.fulcio().and_then(|trusted| of_chains(trusted, &chains, (FULCIO, url))))
            }
            SigstoreService::Rekor => self.of_rekor(body, url),
            SigstoreService::RekorTilesRead => {
                Ok(self.rekor_tiles().and_then(|trusted| of_checkpoint(trusted, body, url)))
            }
            SigstoreService::Timestamp => {
                let text = std::str::from_utf8(body).map_err(|_| "the chain is no text".to_owned())?;
                let chain = pem::certificates(text).ok_or_else(|| "the chain is no PEM".to_owned())?;
                Ok(self.timestamp().and_then(|trusted| of_chains(trusted, &[chain], (TIMESTAMP, url))))
            }
            SigstoreService::RekorTiles | SigstoreService::RekorTilesGrpc | SigstoreService::Tuf => Ok(None),
        }
    }

    fn of_rekor(&self, body: &[u8], url: &str) -> Result<Option<TrustMismatch>, String> {
        let text = std::str::from_utf8(body).map_err(|_| "the key is no text".to_owned())?;
        let key = LogKey::from_pem(text).map_err(|why| format!("failed to {why}"))?;
        let id = key.log_id();
        if self.rekor_keys().is_empty() || self.is_unread(&id) {
            return Ok(None);
        }
        let is_trusted = self.rekor_keys().iter().any(|trusted| trusted.log_id() == id);
        Ok((!is_trusted).then(|| TrustMismatch::RekorKey {
            url: url.to_owned(),
            signs: id.to_hex(),
            trusts: self.rekor_ids().join(", "),
        }))
    }
}

/// Chains are those that are trusted where one certificate of them is, or bears the key of one that is, or is issued by one: a trusted root
/// need not have what stands between, nor a service show its root.
fn of_chains(
    trusted: &TrustedAuthorities,
    shown: &[Vec<Vec<u8>>],
    (service, url): (&'static str, &str),
) -> Option<TrustMismatch> {
    let is_known = |der: &Vec<u8>| {
        let Ok(certificate) = Certificate::parse(der) else { return false };
        let bears = |authority: &Authority| authority.key().spki() == certificate.spki;
        trusted.certificates().any(|known| known == der)
            || trusted.authorities().iter().any(bears)
            || trusted.issuer_of(&certificate).is_some_and(|issuer| is_signed_by(issuer, &certificate))
    };
    let root = shown.first()?.last()?;
    if shown.iter().flatten().any(is_known) {
        return None;
    }
    let roots = trusted.authorities().iter().filter(|authority| authority.is_root());
    let trusts: Vec<String> = roots.map(|root| sha256(root.certificate()).to_hex()).collect();
    Some(TrustMismatch::Chain {
        service,
        url: url.to_owned(),
        shows: sha256(root).to_hex(),
        trusts: trusts.join(", "),
    })
}

/// Whether the signature is the issuer's, as far as it can be verified.
fn is_signed_by(issuer: &Authority, certificate: &Certificate<'_>) -> bool {
    issuer.signed(certificate).map_or_else(|why| why.is_unverified(), |()| true)
}

fn of_checkpoint(trusted: &Verifier, body: &[u8], url: &str) -> Option<TrustMismatch> {
    let note = Note::parse(body).ok()?;
    let origin = note.text.lines().next()?;
    let url = url.to_owned();
    if origin != trusted.name() {
        return Some(TrustMismatch::Origin {
            url,
            signs: peer_text(origin),
            trusts: trusted.name().to_owned(),
        });
    }
    let mut own = note.signatures.iter().filter(|line| line.name == origin).map(|line| line.key_id);
    let signs = own.clone().next()?;
    let is_its = own.any(|id| id == trusted.key_id());
    (!is_its).then(|| TrustMismatch::CheckpointKey {
        url,
        origin: peer_text(origin),
        signs,
        trusts: trusted.key_id(),
    })
}

/// What says otherwise as often is told.
const LOOKS: usize = 2;
/// How long an answer is waited for.
const PATIENCE: Nanos = Nanos::from_secs(3);
const FULCIO: &str = "Fulcio";
const TIMESTAMP: &str = "the timestamp authority";
