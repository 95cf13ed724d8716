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
            // What would be dropped in silence.
            (Some((_, path)), Some(_)) if path != "/" => Err(UsageError::PathBesideUrls { path }),
            (own, file) => {
                Self::of_file(own.as_ref().map(|(endpoint, _)| endpoint), file.unwrap_or(Path::new("")))
            }
        }
    }

    fn of_file(own: Option<&Uri>, file: &Path) -> Result<Self, UsageError> {
        let refused = |source| UsageError::FlaggedFile { flag: "--urls", path: file.to_owned(), source };
        let text = fs::read_to_string(file).map_err(refused)?;
        let read = PlaceLines::read(&text, own);
        let PlaceLines { endpoint, paths, has_comment, are_urls } =
            read.map_err(|(line, reason)| UsageError::UrlLine { path: file.to_owned(), line, reason })?;
        let endpoint = endpoint.ok_or_else(|| refused(std::io::Error::other("it has no URL")))?;
        let is_list = are_urls || has_comment;
        Ok(Self::several(endpoint, if is_list { json!({ "list": paths }) } else { json!({ "lines": file }) }))
    }

    fn several(endpoint: Uri, values: Value) -> Self {
        Self { endpoint, path: placeholder(PATHS), values: Some(values) }
    }
}

/// The lines of a file: URLs of one server, or paths.
struct PlaceLines {
    /// That of the URLs, or the one that is given.
    endpoint: Option<Uri>,
    paths: Vec<String>,
    /// Whether there are lines that are no values.
    has_comment: bool,
    are_urls: bool,
}

impl PlaceLines {
    /// Reads them; an error is the number of a line, and what is wrong with it.
    fn read(text: &str, own: Option<&Uri>) -> Result<Self, (usize, String)> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines =
            (1..).zip(text.lines()).filter(|(_, line)| !line.is_empty() && !is_comment(line)).peekable();
        let first = lines.peek().copied();
        let are_urls = first.is_some_and(|(_, line)| !is_path(line));
        let has_comment = text.lines().any(is_comment);
        let mut read = Self { endpoint: own.cloned(), paths: Vec::new(), has_comment, are_urls };
        for (line, written) in lines {
            let kind = |is_path| if is_path { "a path" } else { "a URL" };
            if is_path(written) == are_urls {
                let (of_first, own) = (first.map_or(0, |(line, _)| line), kind(are_urls));
                let other = kind(!are_urls);
                return Err((line, format!("it is {own}, and line {of_first} {other}; a file has either")));
            }
            let path = read.path(written).map_err(|reason| (line, reason))?;
            read.paths.push(path);
        }
        Ok(read)
    }

    /// The path that a line asks for.
    fn path(&mut self, written: &str) -> Result<String, String> {
        usable(written)?;
        if !self.are_urls {
            let no_server = "it is a path, and no URL says of which server: hammer http get URL --urls FILE";
            return self.endpoint.as_ref().map(|_| written.to_owned()).ok_or_else(|| no_server.to_owned());
        }
        let (server, path) = split_url(written).map_err(|error| format!("failed to {error}"))?;
        let expected = self.endpoint.get_or_insert_with(|| server.clone());
        if (server.scheme(), server.authority()) == (expected.scheme(), expected.authority()) {
            Ok(path)
        } else {
            Err(format!("it is of another server than {expected}; a plan has several"))
        }
    }
}

fn is_path(line: &str) -> bool {
    line.starts_with('/')
}

fn is_comment(line: &str) -> bool {
    line.starts_with('#')
}

/// Refuses what no URL that is asked for has (RFC 9110 section 4.2, RFC 3986 section 2), instead of sending another one.
fn usable(written: &str) -> Result<(), String> {
    let is_unfit =
        |letter: char| letter.is_whitespace() || letter.is_control() || matches!(letter, '<' | '>' | '#');
    match written.chars().find(|letter| is_unfit(*letter)) {
        None => Ok(()),
        Some('#') => {
            Err("it has a fragment (#...), which is never sent; a `#` of the path itself is %23".to_owned())
        }
        Some(letter) => {
            let mut bytes = [0; 4];
            let encoded: String =
                letter.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")).collect();
            Err(format!("it has a character that stands in no URL; it is written {encoded}"))
        }
    }
}

/// What stands in a text for a value of that name.
pub(super) fn placeholder(name: &str) -> String {
    format!("${{{name}}}")
}

/// The name of the values that are paths.
pub(super) const PATHS: &str = "path";
