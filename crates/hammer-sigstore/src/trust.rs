//! What the services' answers are held to: the chains, and the keys of the logs.

mod trusted_root;

use std::path::Path;
use std::time::Duration;

use hammer_tlog::hash::Hash;
use hammer_tlog::keys::chain::{Authority, TrustedAuthorities};
use hammer_tlog::keys::key::{KeyAlgorithm, LogKey};
use hammer_tlog::logs::note::{NoteError, Verifier, is_name};
use http::Uri;

pub use trusted_root::TrustedRoot;

use crate::error::SigstoreError;
use crate::plan::{SigstoreTargetPlan, TrustSource};

/// What answers are held to.
#[derive(Clone, Debug)]
pub struct Trust {
    /// Who says it.
    source: TrustSource,
    /// Fulcio's roots and what stands between them and its certificates.
    fulcio: Option<TrustedAuthorities>,
    /// The CT logs whose SCTs count.
    pub(crate) ct_logs: Vec<LogKey>,
    /// The ids of trusted logs of either kind whose keys are of an algorithm that is not verified here.
    unread: Vec<Hash>,
    /// Whether a certificate without an SCT breaks a promise.
    pub(crate) require_sct: bool,
    /// Keys of Rekor v1, each of another shard.
    rekor: Vec<LogKey>,
    /// Whoever signs the checkpoints of Rekor v2.
    rekor_tiles: Option<Verifier>,
    /// The chains of the timestamp authority.
    timestamp: Option<TrustedAuthorities>,
    /// How far the services' clocks may be off.
    pub(crate) skew: Duration,
    /// How long Rekor v2 may take to publish what it accepted.
    pub(crate) publication_delay: Duration,
}

impl Trust {
    /// What a plan says is trusted: its trusted root (`root`, where the caller has one at hand, else the file), and each file of a chain
    /// or key in place of that.
    ///
    /// # Errors
    /// A file that cannot be read, or holds something else.
    pub fn of(plan: &SigstoreTargetPlan, root: Option<&TrustedRoot>) -> Result<Self, SigstoreError> {
        let from_file = plan.trusted_root.as_deref().map(TrustedRoot::from_file).transpose()?;
        let root = root.or(from_file.as_ref());
        let read_chain = |key, path: &Option<_>| path.as_deref().map(|path| chain(key, path)).transpose();
        let read_key =
            |key_name, path: &Option<_>| path.as_deref().map(|path| key(key_name, path)).transpose();
        let ct_logs: Vec<LogKey> = match read_key("ct_log_key", &plan.ct_log_key)? {
            Some(key) => vec![key],
            None => root.map_or_else(Vec::new, TrustedRoot::ct_logs),
        };
        let rekor = match read_key("rekor_key", &plan.rekor_key)? {
            Some(key) => vec![key],
            None => root.map_or_else(Vec::new, TrustedRoot::log_keys),
        };
        let tiles_url = plan.rekor_tiles_url.as_slice().first().map(hammer_values::ServiceUrl::url);
        let rekor_tiles = match read_key("rekor_tiles_key", &plan.rekor_tiles_key)? {
            Some(key) => Some((key, tiles_url.cloned())),
            None => root.and_then(|root| root.log_on_tiles(tiles_url)),
        };
        let origin = plan.rekor_tiles_origin.as_deref();
        let unread = root.map_or_else(Vec::new, |root| root.unread_logs().to_vec());
        Ok(Self {
            source: plan.trust,
            fulcio: match read_chain("fulcio_chain", &plan.fulcio_chain)? {
                None => root.and_then(|root| root.fulcio.clone()),
                chain => chain,
            },
            require_sct: plan.require_sct.unwrap_or(!ct_logs.is_empty()),
            ct_logs,
            unread,
            rekor,
            rekor_tiles: rekor_tiles
                .map(|(key, url)| checkpoint_verifier(key, origin, url.as_ref()))
                .transpose()?,
            timestamp: match read_chain("timestamp_chain", &plan.timestamp_chain)? {
                None => root.and_then(|root| root.timestamp.clone()),
                chain => chain,
            },
            skew: plan.skew.duration(),
            publication_delay: plan.publication_delay.duration(),
        })
    }

    /// What a trusted root says, of all its logs on tiles.
    pub(crate) fn of_root(root: &TrustedRoot) -> (Self, Vec<Verifier>) {
        let ct_logs = root.ct_logs();
        let trust = Self {
            source: TrustSource::Plan,
            fulcio: root.fulcio.clone(),
            require_sct: !ct_logs.is_empty(),
            ct_logs,
            unread: root.unread_logs().to_vec(),
            rekor: root.log_keys(),
            rekor_tiles: None,
            timestamp: root.timestamp.clone(),
            skew: Duration::ZERO,
            publication_delay: Duration::ZERO,
        };
        (trust, root.log_verifiers().collect())
    }

    /// Whoever signs checkpoints of Rekor v2.
    ///
    /// # Errors
    /// When no key of it is known.
    pub fn expect_rekor_tiles(&self) -> Result<&Verifier, SigstoreError> {
        self.rekor_tiles.as_ref().ok_or_else(|| self.lacks("rekor_tiles_key"))
    }

    /// Whether that is a trusted log whose key is of an algorithm that is not verified here.
    pub(crate) fn is_unread(&self, log_id: &Hash) -> bool {
        self.unread.contains(log_id)
    }

    /// The same of a log by its id in hexadecimal digits, as entries of Rekor v1 name it.
    pub(crate) fn is_unread_log(&self, log_id: &str) -> bool {
        Hash::from_hex(log_id).is_some_and(|id| self.is_unread(&id))
    }

    /// Whether SCTs can be verified.
    #[must_use]
    pub fn knows_ct_logs(&self) -> bool {
        !self.ct_logs.is_empty()
    }

    pub(crate) fn expect_fulcio(&self) -> Result<(), SigstoreError> {
        self.fulcio.as_ref().map(drop).ok_or_else(|| self.lacks("fulcio_chain"))
    }

    pub(crate) fn expect_rekor(&self) -> Result<(), SigstoreError> {
        if self.rekor.is_empty() { Err(self.lacks("rekor_key")) } else { Ok(()) }
    }

    pub(crate) fn expect_timestamp_chain(&self) -> Result<(), SigstoreError> {
        self.timestamp.as_ref().map(drop).ok_or_else(|| self.lacks("timestamp_chain"))
    }

    /// What the key of a file, `fulcio_chain`, `rekor_key`, `rekor_tiles_key` or `timestamp_chain`, would name is not known.
    #[cold]
    fn lacks(&self, key: &'static str) -> SigstoreError {
        let (what, service, url) = match key {
            "fulcio_chain" => ("chain of Fulcio", "Fulcio", Some("fulcio_url")),
            "rekor_key" => ("key of Rekor v1", "Rekor v1", Some("rekor_url")),
            "rekor_tiles_key" => ("key of Rekor v2", "Rekor v2", None),
            _ => ("chain of the timestamp authority", "the timestamp authority", Some("timestamp_url")),
        };
        match (self.source, url) {
            (TrustSource::Plan, _) => missing(key, what),
            (TrustSource::Servers, Some(key)) => SigstoreError::Unasked { key, what, service },
            (TrustSource::Servers, None) => SigstoreError::Unsaid { what, service },
        }
    }

    pub(crate) fn fulcio(&self) -> Option<&TrustedAuthorities> {
        self.fulcio.as_ref()
    }

    pub(crate) fn timestamp(&self) -> Option<&TrustedAuthorities> {
        self.timestamp.as_ref()
    }

    /// Whether the authorities of timestamps that are trusted are roots, and no other.
    pub(crate) fn has_timestamp_roots_alone(&self) -> bool {
        self.timestamp.as_ref().is_some_and(|chain| chain.authorities().iter().all(Authority::is_root))
    }

    pub(crate) fn rekor_tiles(&self) -> Option<&Verifier> {
        self.rekor_tiles.as_ref()
    }

    #[cfg(test)]
    pub(crate) fn trust_timestamps_of(&mut self, chain: TrustedAuthorities) {
        self.timestamp = Some(chain);
    }

    #[cfg(test)]
    pub(crate) fn leave_unread(&mut self, logs: Vec<Hash>) {
        self.unread = logs;
    }

    /// How Rekor v1 is named by those who keep its entries: the SHA-256 of each of its keys, as its entries name it.
    pub(crate) fn rekor_ids(&self) -> Vec<String> {
        // A trusted root does not say which of its logs are on tiles; those are of Ed25519, which no Rekor v1 of a trusted root is.
        let is_its = |key: &&LogKey| key.algorithm() != KeyAlgorithm::Ed25519;
        let are_told_apart = self.rekor.iter().any(|key| is_its(&key));
        let its = self.rekor.iter().filter(|key| !are_told_apart || is_its(key));
        its.map(|key| key.log_id().to_hex()).collect()
    }

    /// How Rekor v2 is named: by the origin and the key id of its checkpoints.
    pub(crate) fn rekor_tiles_ids(&self) -> Vec<String> {
        let name = |key: &Verifier| format!("{}+{:08x}", key.name(), key.key_id());
        self.rekor_tiles.iter().map(name).collect()
    }

    /// Whether any key of Rekor v1 is trusted.
    pub fn has_rekor_keys(&self) -> bool {
        !self.rekor.is_empty()
    }

    /// The keys of Rekor v1.
    pub(crate) fn rekor_keys(&self) -> &[LogKey] {
        &self.rekor
    }

    /// The key of Rekor v1 that an entry names: the SHA-256 of its `SubjectPublicKeyInfo` in hexadecimal digits.
    pub(crate) fn rekor(&self, log_id: &str) -> Option<&LogKey> {
        self.rekor.iter().find(|key| key.log_id().to_hex() == log_id)
    }
}

/// Ed25519 is signed with as C2SP says, everything else as Rekor v2 does.
fn checkpoint_verifier(
    key: LogKey,
    origin: Option<&str>,
    url: Option<&Uri>,
) -> Result<Verifier, SigstoreError> {
    let host = url.and_then(Uri::host);
    let origin = origin.or(host).ok_or(missing("rekor_tiles_origin", "origin of Rekor v2's checkpoints"))?;
    if !is_name(origin) {
        let what = "no key has such a name: it is one word without a plus";
        return Err(SigstoreError::Origin(NoteError::Verifier { what }));
    }
    match <&[u8; 32]>::try_from(key.bytes()) {
        Ok(bytes) if key.algorithm() == KeyAlgorithm::Ed25519 => {
            Verifier::ed25519(origin, bytes).map_err(|why: NoteError| SigstoreError::Origin(why))
        }
        _ => Ok(Verifier::rekor_tiles(origin, key)),
    }
}

/// Whoever signs by the key of `verifier` under that origin; none where that can be nobody.
pub(crate) fn renamed(verifier: &Verifier, origin: &str) -> Option<Verifier> {
    let (Verifier::Rfc6962 { key, .. } | Verifier::Ed25519 { key, .. } | Verifier::Spki { key, .. }) =
        verifier;
    checkpoint_verifier(key.clone(), Some(origin), None).ok()
}

fn chain(key: &'static str, path: &Path) -> Result<TrustedAuthorities, SigstoreError> {
    let refused = |source| SigstoreError::Chain { key, path: path.to_owned(), source };
    TrustedAuthorities::from_pem(&text(key, path)?).map_err(refused)
}

fn key(key: &'static str, path: &Path) -> Result<LogKey, SigstoreError> {
    let refused = |source| SigstoreError::Key { key, path: path.to_owned(), source };
    text(key, path)?.parse().map_err(refused)
}

fn text(key: &'static str, path: &Path) -> Result<String, SigstoreError> {
    std::fs::read_to_string(path).map_err(|source| SigstoreError::Read { key, path: path.to_owned(), source })
}

const fn missing(key: &'static str, what: &'static str) -> SigstoreError {
    SigstoreError::Missing { key, what }
}
