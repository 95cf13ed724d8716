//! References to other resources, as a `Location` holds one (RFC 3986, sections 4.1 and 5).

use http::uri::PathAndQuery;

/// The components of a URI reference, without its fragment, which is not sent.
#[derive(Clone, Copy)]
pub(crate) struct Reference<'a> {
    pub(crate) scheme: Option<&'a str>,
    pub(crate) authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Reference<'a> {
    /// Takes `text` apart as the expression of RFC 3986, appendix B, does.
    pub(crate) fn new(text: &'a str) -> Self {
        let text = text.split('#').next().unwrap_or_default();
        let (rest, query) = match text.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (text, None),
        };
        let (scheme, rest) = match rest.split_once(':') {
            Some((scheme, rest)) if !scheme.is_empty() && !scheme.contains('/') => (Some(scheme), rest),
            _ => (None, rest),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                (Some(authority), path)
            }
            None => (None, rest),
        };
        Self { scheme, authority, path, query }
    }

    /// Path and query that it leads to from `base` (RFC 3986, section 5.2.2).
    pub(crate) fn target(self, base: &PathAndQuery) -> String {
        let is_within = self.scheme.is_none() && self.authority.is_none();
        let is_same_path = is_within && self.path.is_empty();
        let path = if is_same_path {
            base.path().to_owned()
        } else if !is_within || self.path.starts_with('/') {
            without_dots(self.path)
        } else {
            let folder = base.path().rfind('/').map_or("/", |end| &base.path()[..=end]);
            without_dots(&format!("{folder}{}", self.path))
        };
        match self.query.or_else(|| base.query().filter(|_| is_same_path)) {
            Some(query) => format!("{path}?{query}"),
            None => path,
        }
    }
}

/// An absolute path without `.` and `..` (RFC 3986, section 5.2.4); an empty one is `/`.
fn without_dots(path: &str) -> String {
    let mut kept = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            name => kept.push(name),
        }
    }
    // What such a segment ends in is a folder.
    if path.ends_with("/.") || path.ends_with("/..") {
        kept.push("");
    }
    format!("/{}", kept.join("/"))
}
