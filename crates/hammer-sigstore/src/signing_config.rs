//! `signing_config.json` (sigstore/protobuf-specs, `sigstore_trustroot.proto`), in the version 0.2: where the services of an instance are.

use std::borrow::Cow;
use std::path::Path;

use hammer_messages::json;
use hammer_values::{Date, OneOrMany, ServiceUrl};
use serde::Deserialize;

use crate::error::SigstoreError;
use crate::plan::SigstoreTargetPlan;
use crate::timestamp::TIMESTAMP;

/// Where clients of an instance sign, at the time at which it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SigningConfig {
    fulcio: Option<ServiceUrl>,
    rekor: Option<ServiceUrl>,
    rekor_tiles: Option<ServiceUrl>,
    /// What stands before the path of a request for a timestamp.
    timestamp: Option<ServiceUrl>,
}

/// A plan whose services were found.
#[derive(Clone, Debug)]
pub struct LocatedPlan<'a> {
    /// The plan, with the URLs that its signing configuration has and it has not itself.
    pub plan: Cow<'a, SigstoreTargetPlan>,
    /// What is said of the URLs that come from there.
    pub note: Option<String>,
}

impl SigningConfig {
    /// Reads one from text; of several services of one kind and version the newest counts that is valid at `unix_seconds`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str, unix_seconds: u64) -> Result<Self, String> {
        let written: WrittenConfig = serde_json::from_str(text).map_err(|why| why.to_string())?;
        if written.media_type != MEDIA_TYPE {
            return Err(format!("its mediaType is {:?}, not {MEDIA_TYPE}", written.media_type));
        }
        let of = |services: &[WrittenService], versions: &[u32]| newest(services, versions, unix_seconds);
        Ok(Self {
            fulcio: of(&written.ca_urls, &[1, 2])?,
            rekor: of(&written.rekor_tlog_urls, &[1])?,
            rekor_tiles: of(&written.rekor_tlog_urls, &[2])?,
            timestamp: of(&written.tsa_urls, &[1])?.map(|url| before_path(&url)).transpose()?,
        })
    }

    /// Its URLs, by the keys of the target that they stand for.
    fn urls(&self) -> [(&'static str, Option<&ServiceUrl>); 4] {
        let Self { fulcio, rekor, rekor_tiles, timestamp } = self;
        [
            ("fulcio_url", fulcio.as_ref()),
            ("rekor_url", rekor.as_ref()),
            ("rekor_tiles_url", rekor_tiles.as_ref()),
            ("timestamp_url", timestamp.as_ref()),
        ]
    }
}

impl SigstoreTargetPlan {
    /// The plan with the URLs of its signing configuration, at `unix_seconds`; those that it has itself stay.
    ///
    /// # Errors
    /// When the configuration cannot be read, or is none.
    pub fn located(&self, unix_seconds: u64) -> Result<LocatedPlan<'_>, SigstoreError> {
        let Some(path) = &self.signing_config else {
            return Ok(LocatedPlan { plan: Cow::Borrowed(self), note: None });
        };
        let config = read(path, unix_seconds)?;
        let mut plan = self.clone();
        let mut found = Vec::new();
        for (key, url) in config.urls() {
            let urls = match key {
                "fulcio_url" => &mut plan.fulcio_url,
                "rekor_url" => &mut plan.rekor_url,
                "rekor_tiles_url" => &mut plan.rekor_tiles_url,
                _ => &mut plan.timestamp_url,
            };
            if let Some(url) = url.filter(|_| urls.is_empty()) {
                *urls = OneOrMany::One(url.clone());
                found.push(format!("{key} is {url}"));
            }
        }
        let finds_tiles = found.iter().any(|found| found.starts_with("rekor_tiles_url"));
        // Such a configuration has no place for it, and a server that writes its tiles to a folder answers 501 there.
        let reads = if finds_tiles && plan.rekor_tiles_read_url.is_empty() { TILES_ARE_READ } else { "" };
        let says = || format!("as {} says, {}{reads}", path.display(), found.join(", "));
        let note = (!found.is_empty()).then(says);
        Ok(LocatedPlan { plan: Cow::Owned(plan), note })
    }
}

fn read(path: &Path, unix_seconds: u64) -> Result<SigningConfig, SigstoreError> {
    let key = "signing_config";
    let failed = |source| SigstoreError::Read { key, path: path.to_owned(), source };
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let refused = |reason| SigstoreError::SigningConfig { path: path.to_owned(), reason };
    SigningConfig::parse(&text, unix_seconds).map_err(refused)
}

const TILES_ARE_READ: &str = "; checkpoint and tiles are read below rekor_tiles_url, at /api/v2, unless rekor_tiles_read_url says otherwise";

/// The service of one of those versions whose validity began last.
fn newest(services: &[WrittenService], versions: &[u32], now: u64) -> Result<Option<ServiceUrl>, String> {
    let mut best: Option<(u64, &WrittenService)> = None;
    for service in services.iter().filter(|service| versions.contains(&service.major_api_version)) {
        let seconds = |text: &str| {
            let read =
                text.parse::<Date>().map_err(|_| format!("`{text}` in validFor is no date of RFC 3339"));
            read.map(Date::unix_seconds)
        };
        let start = service.valid_for.start.as_deref().map_or(Ok(0), seconds)?;
        let end = service.valid_for.end.as_deref().map_or(Ok(u64::MAX), seconds)?;
        // Of two that began at once, the first counts.
        if start <= now && now < end && best.is_none_or(|(before, _)| start > before) {
            best = Some((start, service));
        }
    }
    best.map(|(_, service)| service.url.parse().map_err(|why| format!("{why}"))).transpose()
}

/// The URL of a timestamp authority has the path of requests in it, which hammer knows by itself.
fn before_path(url: &ServiceUrl) -> Result<ServiceUrl, String> {
    let text = url.to_string();
    let before = text.trim_end_matches('/').strip_suffix(TIMESTAMP);
    let before = before
        .ok_or_else(|| format!("`{text}` does not end with {TIMESTAMP}, where timestamps are asked for"))?;
    before.parse().map_err(|why| format!("{why}"))
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WrittenConfig {
    #[serde(alias = "media_type", deserialize_with = "json::or_default")]
    media_type: String,
    #[serde(alias = "ca_urls", deserialize_with = "json::or_default")]
    ca_urls: Vec<WrittenService>,
    #[serde(alias = "rekor_tlog_urls", deserialize_with = "json::or_default")]
    rekor_tlog_urls: Vec<WrittenService>,
    #[serde(alias = "tsa_urls", deserialize_with = "json::or_default")]
    tsa_urls: Vec<WrittenService>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WrittenService {
    #[serde(deserialize_with = "json::or_default")]
    url: String,
    #[serde(alias = "major_api_version", deserialize_with = "json::uint32")]
    major_api_version: u32,
    #[serde(alias = "valid_for", deserialize_with = "json::or_default")]
    valid_for: WrittenValidity,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WrittenValidity {
    start: Option<String>,
    end: Option<String>,
}

const MEDIA_TYPE: &str = "application/vnd.dev.sigstore.signingconfig.v0.2+json";

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: &str = include_str!("../testdata/signing_config.json");
    /// 2026-11-22.
    const NOW: u64 = 1_795_305_600;

    fn config(services: &str) -> Result<SigningConfig, String> {
        SigningConfig::parse(&format!(r#"{{"mediaType":"{MEDIA_TYPE}",{services}}}"#), NOW)
    }

    fn url(url: Option<&ServiceUrl>) -> Option<String> {
        url.map(ToString::to_string)
    }

    #[test]
    fn the_configuration_that_cosign_signs_by_says_where_the_services_are() {
        let config = SigningConfig::parse(RECORDED, NOW).unwrap();
        assert_eq!(url(config.fulcio.as_ref()).as_deref(), Some("http://127.0.0.1:15555"));
        assert_eq!(url(config.rekor_tiles.as_ref()).as_deref(), Some("http://127.0.0.1:13003"));
        assert_eq!(url(config.timestamp.as_ref()).as_deref(), Some("http://127.0.0.1:13004"));
        assert_eq!(config.rekor, None);
        assert_eq!(SigningConfig::parse(RECORDED, 0).unwrap(), SigningConfig::default(), "none is valid yet");
    }

    #[test]
    fn of_several_services_the_newest_that_is_valid_counts() {
        let read = config(
            r#""rekorTlogUrls":[
              {"url":"http://a","majorApiVersion":1,"validFor":{"start":"2020-01-01T00:00:00Z","end":"2026-01-01T00:00:00Z"}},
              {"url":"http://b","majorApiVersion":1,"validFor":{"start":"2021-01-01T00:00:00Z"}},
              {"url":"http://c","majorApiVersion":1,"validFor":{"start":"2022-01-01T00:00:00Z","end":"2027-01-01T00:00:00Z"}},
              {"url":"http://d","majorApiVersion":1,"validFor":{"start":"2022-01-01T00:00:00Z"}},
              {"url":"http://e","majorApiVersion":1,"validFor":{"start":"2027-01-01T00:00:00Z"}},
              {"url":"http://f","majorApiVersion":3}]"#,
        )
        .unwrap();
        assert_eq!(url(read.rekor.as_ref()).as_deref(), Some("http://c"));
        assert_eq!(read.rekor_tiles, None);
    }

    #[test]
    fn a_configuration_in_the_words_of_its_definition_says_the_same() {
        let text = format!(
            r#"{{"media_type":"{MEDIA_TYPE}","ca_urls":[{{"url":"http://a","major_api_version":"1","valid_for":null}}],"tsa_urls":null,
              "rekorTlogUrls":[{{"url":"http://b","majorApiVersion":2.0,"validFor":{{"start":"2022-01-01T00:00:00Z","end":null}}}}]}}"#
        );
        let read = SigningConfig::parse(&text, NOW).unwrap();
        assert_eq!(url(read.fulcio.as_ref()).as_deref(), Some("http://a"));
        assert_eq!(url(read.rekor_tiles.as_ref()).as_deref(), Some("http://b"));
    }

    #[test]
    fn what_is_no_signing_configuration_says_why() {
        for (text, why) in [
            ("{", "EOF"),
            ("{}", "mediaType"),
            (r#"{"mediaType":"application/vnd.dev.sigstore.signingconfig.v0.1+json"}"#, "v0.1"),
        ] {
            let error = SigningConfig::parse(text, NOW).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        for (services, why) in [
            (r#""caUrls":[{"url":"nowhere","majorApiVersion":1}]"#, "`nowhere` is no URL"),
            (r#""caUrls":[{"url":"http://a","majorApiVersion":1,"validFor":{"start":"soon"}}]"#, "`soon`"),
            (r#""tsaUrls":[{"url":"http://a/stamp","majorApiVersion":1}]"#, "does not end with"),
        ] {
            let error = config(services).unwrap_err();
            assert!(error.contains(why), "{services}: {error}");
        }
    }
}
