//! `trusted_root.json` (sigstore/protobuf-specs, `sigstore_trustroot.proto`), in the versions 0.1 and 0.2.

use std::path::Path;

use hammer_tlog::encoding::from_base64;
use hammer_tlog::keys::chain::TrustedAuthorities;
use hammer_tlog::keys::key::{KeyAlgorithm, LogKey};
use hammer_tlog::logs::note::Verifier;
use http::Uri;
use serde::Deserialize;

use crate::error::SigstoreError;

/// All that clients of an instance of Sigstore trust. Keys of algorithms that are not verified here are left out.
#[derive(Clone, Debug, Default)]
pub struct TrustedRoot {
    logs: Vec<TrustedLog>,
    ct_logs: Vec<LogKey>,
    pub(crate) fulcio: Option<TrustedAuthorities>,
    pub(crate) timestamp: Option<TrustedAuthorities>,
}

#[derive(Clone, Debug)]
struct TrustedLog {
    key: LogKey,
    url: Option<Uri>,
}

impl TrustedRoot {
    /// Reads one from a file.
    ///
    /// # Errors
    /// When there is none.
    pub fn from_file(path: &Path) -> Result<Self, SigstoreError> {
        let key = "trusted_root";
        let text = std::fs::read_to_string(path).map_err(|source| SigstoreError::Read {
            key,
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text).map_err(|reason| SigstoreError::TrustedRoot { path: path.to_owned(), reason })
    }

    /// Reads one from text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let written: WrittenRoot = serde_json::from_str(text).map_err(|why| why.to_string())?;
        if !written.media_type.starts_with(MEDIA_TYPE) {
            return Err(format!("its mediaType is {:?}, not {MEDIA_TYPE}...", written.media_type));
        }
        Ok(Self {
            logs: written.tlogs.iter().filter_map(WrittenLog::log).collect(),
            ct_logs: written.ctlogs.iter().filter_map(WrittenLog::log).map(|log| log.key).collect(),
            fulcio: authorities(&written.certificate_authorities)?,
            timestamp: authorities(&written.timestamp_authorities)?,
        })
    }

    /// Trusts that log too, which is where the plan says.
    pub(crate) fn add_log(&mut self, key: LogKey) {
        self.logs.push(TrustedLog { key, url: None });
    }

    pub(super) fn ct_logs(&self) -> Vec<LogKey> {
        self.ct_logs.clone()
    }

    /// Whoever signs checkpoints of logs on tiles whose URLs it has: their origin is the URL's host, as clients expect it.
    pub(super) fn log_verifiers(&self) -> impl Iterator<Item = Verifier> {
        self.logs
            .iter()
            .filter_map(|log| super::checkpoint_verifier(log.key.clone(), None, log.url.as_ref()).ok())
    }

    pub(super) fn log_keys(&self) -> Vec<LogKey> {
        self.logs.iter().map(|log| log.key.clone()).collect()
    }

    /// The log at that URL; else the only one with a key of Ed25519, as logs on tiles have it.
    pub(super) fn log_on_tiles(&self, url: Option<&Uri>) -> Option<(LogKey, Option<Uri>)> {
        let at = |log: &&TrustedLog| url.is_some() && log.url.as_ref().map(place) == url.map(place);
        let mut of_ed25519 = self.logs.iter().filter(|log| log.key.algorithm() == KeyAlgorithm::Ed25519);
        let found = match self.logs.iter().find(at) {
            None => of_ed25519.next().filter(|_| of_ed25519.next().is_none()),
            found => found,
        };
        found.map(|log| (log.key.clone(), log.url.clone()))
    }
}

/// Host, port and path, without the slash that some write at the end.
fn place(url: &Uri) -> (Option<&str>, &str) {
    (url.authority().map(http::uri::Authority::as_str), url.path().trim_end_matches('/'))
}

fn authorities(written: &[WrittenAuthority]) -> Result<Option<TrustedAuthorities>, String> {
    let mut certificates = Vec::new();
    for certificate in written.iter().flat_map(|authority| &authority.cert_chain.certificates) {
        certificates.push(from_base64(&certificate.raw_bytes).map_err(|why| why.to_string())?);
    }
    if certificates.is_empty() {
        return Ok(None);
    }
    let read = TrustedAuthorities::from_der(certificates);
    read.map(Some).map_err(|why| format!("failed to {why}"))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct WrittenRoot {
    media_type: String,
    tlogs: Vec<WrittenLog>,
    certificate_authorities: Vec<WrittenAuthority>,
    ctlogs: Vec<WrittenLog>,
    timestamp_authorities: Vec<WrittenAuthority>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WrittenLog {
    base_url: String,
    public_key: RawBytes,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WrittenAuthority {
    cert_chain: WrittenChain,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WrittenChain {
    certificates: Vec<RawBytes>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawBytes {
    raw_bytes: String,
}

impl WrittenLog {
    fn log(&self) -> Option<TrustedLog> {
        let key = LogKey::from_base64(&self.public_key.raw_bytes).ok()?;
        Some(TrustedLog { key, url: self.base_url.parse().ok() })
    }
}

const MEDIA_TYPE: &str = "application/vnd.dev.sigstore.trustedroot";

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = include_str!("../../testdata/trusted_root.json");

    #[test]
    fn the_root_that_cosign_wrote_is_read_whole() {
        let root = TrustedRoot::parse(ROOT).unwrap();
        assert_eq!((root.logs.len(), root.ct_logs.len()), (2, 1));
        assert!(root.fulcio.is_some() && root.timestamp.is_some());
        let (key, url) = root.log_on_tiles(Some(&"http://127.0.0.1:13003/".parse().unwrap())).unwrap();
        assert_eq!((key.algorithm(), url.unwrap().port_u16()), (KeyAlgorithm::Ed25519, Some(13003)));
        let (key, _) = root.log_on_tiles(Some(&"http://127.0.0.1:13000".parse().unwrap())).unwrap();
        assert_eq!(key.algorithm(), KeyAlgorithm::P256);
        let (key, _) = root.log_on_tiles(None).unwrap();
        assert_eq!(key.algorithm(), KeyAlgorithm::Ed25519);
    }

    #[test]
    fn what_is_no_trusted_root_is_refused() {
        assert!(TrustedRoot::parse("[]").is_err());
        let error = TrustedRoot::parse("{}").unwrap_err();
        assert!(error.contains("mediaType"), "{error}");
    }
}
