//! Where the requests of a line go: to one URL, or to those in a file.

use std::fs;
use std::path::Path;

use hammer_http::split_url;
use http::Uri;
use serde_json::{Value, json};

use crate::error::UsageError;

/// Where they go.
pub(super) struct RequestPlace {
    /// The server.
    pub(super) endpoint: Uri,
    /// The path, or the placeholder of several.
    pub(super) path: String,
    /// The paths, where there are several, as values of a plan.
    pub(super) values: Option<Value>,
}

impl RequestPlace {
    /// That of a URL, or of a file of them, or of a file of paths of the server of a URL.
    pub(super) fn of(url: Option<&str>, file: Option<&Path>) -> Result<Self, UsageError> {
        let own = url.map(split_url).transpose()?;
        match (own, file) {
            (Some((endpoint, path)), None) => Ok(Self { endpoint, path, values: None }),
            (own, file) => Self::of_file(own.map(|(endpoint, _)| endpoint), file.unwrap_or(Path::new(""))),
        }
    }

    fn of_file(own: Option<Uri>, file: &Path) -> Result<Self, UsageError> {
        let refused = |source| UsageError::FlaggedFile { flag: "--urls", path: file.to_owned(), source };
        let text = fs::read_to_string(file).map_err(refused)?;
        let lines = || (1..).zip(text.lines()).filter(|(_, line)| !line.is_empty());
        let of_paths = lines().all(|(_, line)| line.starts_with('/'));
        if let (true, Some(endpoint)) = (of_paths, &own) {
            return Ok(Self::several(endpoint.clone(), json!({ "lines": file })));
        }
        let (mut endpoint, mut paths) = (own, Vec::new());
        for (line, url) in lines() {
            let unfit = |reason: String| UsageError::UrlLine { path: file.to_owned(), line, reason };
            let (server, path) = split_url(url).map_err(|error| unfit(format!("failed to {error}")))?;
            let expected = endpoint.get_or_insert_with(|| server.clone());
            if (server.scheme(), server.authority()) != (expected.scheme(), expected.authority()) {
                return Err(unfit(format!("it is of another server than {expected}; a plan has several")));
            }
            paths.push(path);
        }
        let endpoint = endpoint.ok_or_else(|| refused(std::io::Error::other("it has no URL")))?;
        Ok(Self::several(endpoint, json!({ "list": paths })))
    }

    fn several(endpoint: Uri, values: Value) -> Self {
        Self { endpoint, path: placeholder(PATHS), values: Some(values) }
    }
}

/// What stands in a text for a value of that name.
pub(super) fn placeholder(name: &str) -> String {
    format!("${{{name}}}")
}

/// The name of the values that are paths.
pub(super) const PATHS: &str = "path";
