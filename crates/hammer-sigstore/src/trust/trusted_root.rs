//! `trusted_root.json` (sigstore/protobuf-specs, `sigstore_trustroot.proto`), in the versions 0.1 and 0.2.

use std::path::Path;

use hammer_messages::json;
use hammer_tlog::hash::{Hash, sha256};
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
    unread_logs: Vec<Hash>,
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
            unread_logs: written.tlogs.iter().chain(&written.ctlogs).filter_map(WrittenLog::unread).collect(),
            fulcio: authorities(&written.certificate_authorities)?,
            timestamp: authorities(&written.timestamp_authorities)?,
        })
    }

    /// Trusts that log too, which is where the plan says.
    pub(crate) fn add_log(&mut self, key: LogKey) {
        self.logs.push(TrustedLog { key, url: None });
    }

    /// The ids of logs whose keys are left out.
    pub(super) fn unread_logs(&self) -> &[Hash] {
        &self.unread_logs
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
    let all = written.iter().flat_map(|authority| &authority.cert_chain.certificates);
    let certificates: Vec<Vec<u8>> = all.map(|certificate| certificate.raw_bytes.clone()).collect();
    if certificates.is_empty() {
        return Ok(None);
    }
    let read = TrustedAuthorities::from_der(certificates);
    read.map(Some).map_err(|why| format!("failed to {why}"))
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WrittenRoot {
    #[serde(alias = "media_type", deserialize_with = "json::or_default")]
    media_type: String,
    #[serde(deserialize_with = "json::or_default")]
    tlogs: Vec<WrittenLog>,
    #[serde(alias = "certificate_authorities", deserialize_with = "json::or_default")]
    certificate_authorities: Vec<WrittenAuthority>,
    #[serde(deserialize_with = "json::or_default")]
    ctlogs: Vec<WrittenLog>,
    #[serde(alias = "timestamp_authorities", deserialize_with = "json::or_default")]
    timestamp_authorities: Vec<WrittenAuthority>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WrittenLog {
    #[serde(alias = "base_url", deserialize_with = "json::or_default")]
    base_url: String,
    #[serde(alias = "public_key", deserialize_with = "json::or_default")]
    public_key: RawBytes,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WrittenAuthority {
    #[serde(alias = "cert_chain", deserialize_with = "json::or_default")]
    cert_chain: WrittenChain,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WrittenChain {
    #[serde(deserialize_with = "json::or_default")]
    certificates: Vec<RawBytes>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawBytes {
    #[serde(alias = "raw_bytes", deserialize_with = "json::bytes::deserialize")]
    raw_bytes: Vec<u8>,
}

impl WrittenLog {
    fn log(&self) -> Option<TrustedLog> {
        let key = LogKey::from_der(&self.public_key.raw_bytes).ok()?;
        Some(TrustedLog { key, url: self.base_url.parse().ok() })
    }

    /// The log's id, where its key may well be one of an algorithm that is not verified here.
    fn unread(&self) -> Option<Hash> {
        let key = &self.public_key.raw_bytes;
        LogKey::from_der(key).is_err_and(|why| why.is_unknown()).then(|| sha256(key))
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
    fn a_root_in_the_words_of_its_definition_says_the_same() {
        let text = ["mediaType", "certificateAuthorities", "timestampAuthorities", "baseUrl", "publicKey"]
            .into_iter()
            .chain(["certChain", "rawBytes"])
            .fold(ROOT.to_owned(), |text, name| {
                let snake: String = name
                    .chars()
                    .flat_map(|letter| {
                        let is_capital = letter.is_ascii_uppercase();
                        is_capital.then_some('_').into_iter().chain([letter.to_ascii_lowercase()])
                    })
                    .collect();
                text.replace(&format!("\"{name}\""), &format!("\"{snake}\""))
            });
        let url_safe: serde_json::Value = serde_json::from_str(&text).unwrap();
        let raw = url_safe["tlogs"][0]["public_key"]["raw_bytes"].as_str().unwrap();
        let unpadded = raw.trim_end_matches('=').replace('+', "-").replace('/', "_");
        let text = text.replacen(raw, &unpadded, 1);
        let (read, usual) = (TrustedRoot::parse(&text).unwrap(), TrustedRoot::parse(ROOT).unwrap());
        assert_eq!(format!("{read:?}"), format!("{usual:?}"));
        let empty =
            format!("{{\"mediaType\":\"{MEDIA_TYPE}\",\"tlogs\":null,\"ctlogs\":[{{\"publicKey\":null}}]}}");
        assert!(TrustedRoot::parse(&empty).unwrap().ct_logs.is_empty());
    }

    #[test]
    fn a_log_on_a_curve_that_is_not_verified_here_is_known_by_its_id() {
        let key = include_str!("../../../hammer-tlog/testdata/openssl/secp256k1.pem");
        let digits: String = key.lines().filter(|line| !line.starts_with('-')).collect();
        let text = format!(
            "{{\"mediaType\":\"{MEDIA_TYPE}\",\"ctlogs\":[{{\"publicKey\":{{\"rawBytes\":\"{digits}\"}}}}]}}"
        );
        let root = TrustedRoot::parse(&text).unwrap();
        let id = sha256(&hammer_tlog::encoding::from_base64(&digits).unwrap());
        assert_eq!((root.ct_logs.len(), root.unread_logs()), (0, &[id][..]));
    }

    #[test]
    fn what_is_no_trusted_root_is_refused() {
        assert!(TrustedRoot::parse("[]").is_err());
        let error = TrustedRoot::parse("{}").unwrap_err();
        assert!(error.contains("mediaType"), "{error}");
    }
}
