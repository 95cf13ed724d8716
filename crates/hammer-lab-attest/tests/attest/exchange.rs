//! Exchanges as they were recorded, and what of an answer is another one each time.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

/// A request and its answer.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) method: String,
    /// With its query.
    pub(crate) path: String,
    /// Of the request, but for those of every request.
    pub(crate) headers: Vec<(String, String)>,
    /// The name of the file that was sent.
    pub(crate) sent: Option<String>,
    pub(crate) status: u16,
    pub(crate) answer_headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Exchange {
    pub(crate) fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\n< \n\n").or_else(|| text.split_once("\n< \n")).unwrap();
        let sent =
            head.split_once("--data-binary @").map(|(_, rest)| rest.split(' ').next().unwrap().to_owned());
        let lines = |mark: &'static str| head.lines().filter_map(move |line| line.strip_prefix(mark));
        let headers = |mark: &'static str| {
            let header = |line: &str| {
                let (name, value) = line.split_once(": ")?;
                Some((name.to_ascii_lowercase(), value.to_owned()))
            };
            lines(mark).skip(1).filter_map(header).collect::<Vec<_>>()
        };
        let mut request = lines("> ").next().unwrap().split(' ');
        let status = lines("< ").next().unwrap().split(' ').nth(1).unwrap();
        let usual = ["host", "user-agent", "content-length"];
        let mut sent_headers = headers("> ");
        sent_headers.retain(|(name, _)| !usual.contains(&name.as_str()));
        Self {
            method: request.next().unwrap().to_owned(),
            path: request.next().unwrap().to_owned(),
            headers: sent_headers,
            sent,
            status: status.parse().unwrap(),
            answer_headers: headers("< "),
            body: body.trim_end_matches('\n').to_owned(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.answer_headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// An answer's text with lists in order, times in whole seconds, results in the open, and without keys.
pub(crate) fn normal(text: &str) -> String {
    let mut text = text.to_owned();
    for list in ["accept", "media-types", "attestation-schemes"] {
        text = replaced(&text, &format!("\"{list}\":["), "]", |list| {
            let mut list: Vec<&str> = list.split("\",").map(|item| item.trim_end_matches('"')).collect();
            list.sort_unstable();
            list.join("\",") + "\""
        });
    }
    text = replaced(&text, "\"expiry\":\"", "Z\"", |time| time.split('.').next().unwrap().to_owned());
    for half in ["x", "y"] {
        text = replaced(&text, &format!("\"{half}\":\""), "\"", |_| String::new());
    }
    replaced(&text, "\"result\":\"", "\"", |token| {
        let mut parts = token.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).unwrap());
        let (header, claims) = (parts.next().unwrap(), parts.next().unwrap());
        assert_eq!((parts.next().unwrap().len(), parts.next()), (64, None));
        [header, claims].map(|part| String::from_utf8(part).unwrap()).concat()
    })
}

/// The text with what stands between `start` and `end` replaced, where that is there.
fn replaced(text: &str, start: &str, end: &str, replace: impl Fn(&str) -> String) -> String {
    let Some((before, rest)) = text.split_once(start) else { return text.to_owned() };
    let (inside, behind) = rest.split_once(end).unwrap();
    format!("{before}{start}{}{end}{behind}", replace(inside))
}
