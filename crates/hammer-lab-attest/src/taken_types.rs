//! The media types of requests.

use http::{HeaderMap, header::CONTENT_TYPE};

use crate::{media_type::MediaType, problem::Problem};

/// The media types that a service takes.
#[derive(Debug)]
pub(crate) struct TakenTypes {
    texts: &'static [&'static str],
    parsed: Vec<MediaType>,
    /// The service, as its problems call it.
    service: &'static str,
}

impl TakenTypes {
    pub(crate) fn new(texts: &'static [&'static str], service: &'static str) -> Self {
        let parsed = texts.iter().filter_map(|text| MediaType::parse(text).ok()).collect();
        Self { texts, parsed, service }
    }

    /// The type that is written so, where it is taken.
    ///
    /// # Errors
    /// 400 of what is no media type, and 415 of one that is not taken.
    pub(crate) fn read(&self, text: &str) -> Result<MediaType, Problem> {
        let parsed = MediaType::parse(text).map_err(|error| {
            let service = self.service;
            Problem::bad_request(format!(
                "could not check media type with {service}: invalid input parameter: validation failed for {text} ({error})"
            ))
        })?;
        let is_taken = self.parsed.contains(&parsed);
        is_taken.then_some(parsed).ok_or_else(|| Problem::unsupported(text, self.texts))
    }
}

/// The text of `Content-Type`, empty without one.
pub(crate) fn content_type(headers: &HeaderMap) -> &str {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
