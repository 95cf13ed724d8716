//! What of a plan is a secret: no report shows it, nor a mistake beside it.

use std::ops::Range;

use hammer_measure::credential::{CREDENTIAL_WORDS, credentials_of_body, credentials_of_text, is_credential};
use serde_json::Value;

use super::path::{PathSegment, PlanPath};

/// Where headers, and what is expected of answers by names, stand in whatever section they are.
const HEADERS: [&str; 3] = ["headers", "expect_headers", "json"];
/// Where values stand that texts have placeholders for.
const VALUES: &str = "values";
/// Where a text is sent as a body.
const BODY: &str = "body";
/// Where a plan has values themselves.
const LIST: &str = "list";
/// What keys end with that say where a token is.
const TOKEN_KEYS: [&str; 4] = ["bearer", "token", "password", "secret"];
/// Schemes of authentication whose words stand before what is secret (RFC 6750, RFC 7617, RFC 9449, and those of products).
const SCHEMES: [&str; 10] =
    ["Bearer", "Basic", "Token", "Key", "ApiKey", "DPoP", "Negotiate", "SSWS", "GenieKey", "Splunk"];
/// Names of headers that are nothing else, whatever stands around them.
const NAMES: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "x-api-key"];

/// Leaves out of a plan what its headers, its bodies and the queries of its URLs carry as secrets, in whichever of its sections they stand.
pub(super) fn mask(plan: &mut Value) {
    let named = named_in_credentials(plan);
    each_credential(plan, &named, &mut |found| match found {
        Found::Whole(value) => hide(value),
        Found::Within(text, places) => {
            for at in places.into_iter().rev() {
                text.replace_range(at, MASK);
            }
        }
    });
}

/// Whether a plan holds a header, a body or a query that carries a secret.
pub(super) fn holds_credential(plan: &Value) -> bool {
    let (mut found, named) = (false, named_in_credentials(plan));
    each_credential(&mut plan.clone(), &named, &mut |_| found = true);
    found
}

/// Where a plan has what a report or a printed plan shows in the place of a secret, which nobody put back: a mask that would be masked
/// itself, were it the secret.
pub(super) fn masked_place(plan: &Value) -> Option<PlanPath> {
    fn put_back(value: &mut Value) {
        match value {
            Value::String(text) if text.contains(MASK) => *text = text.replace(MASK, PUT_BACK),
            Value::Array(values) => values.iter_mut().for_each(put_back),
            Value::Object(map) => map.values_mut().for_each(put_back),
            _ => {}
        }
    }
    fn search(plan: &Value, at: &PlanPath) -> Option<PlanPath> {
        match plan {
            Value::Object(map) => map.iter().find_map(|(key, value)| search(value, &at.clone().key(key))),
            Value::Array(items) => {
                items.iter().enumerate().find_map(|(place, item)| search(item, &at.clone().item(place)))
            }
            Value::String(text) => (text == TAKEN).then(|| at.clone()),
            _ => None,
        }
    }
    if !plan.to_string().contains(MASK) {
        return None;
    }
    let mut plan = plan.clone();
    put_back(&mut plan);
    let named = named_in_credentials(&plan);
    // What is found is marked, and so can be found by its place.
    each_credential(&mut plan, &named, &mut |found| match found {
        Found::Whole(value) if value.to_string().contains(PUT_BACK) => *value = TAKEN.into(),
        Found::Within(text, places) if places.iter().any(|at| text[at.clone()].contains(PUT_BACK)) => {
            TAKEN.clone_into(text);
        }
        _ => {}
    });
    search(&plan, &PlanPath::default())
}

/// A secret of any form, in the place of a mask.
const PUT_BACK: &str = "canary0123456789";
/// What no plan has as a text.
const TAKEN: &str = "\0";

const MASK: &str = "***";

/// Where a plan carries a secret.
enum Found<'a> {
    /// The value is nothing else.
    Whole(&'a mut Value),
    /// It stands at these places of the text, which are in order and apart.
    Within(&'a mut String, Vec<Range<usize>>),
}

fn each_credential(plan: &mut Value, named: &[String], told: &mut impl FnMut(Found<'_>)) {
    match plan {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::Object(headers) if HEADERS.contains(&key.as_str()) => {
                        for (name, value) in headers {
                            match is_credential(name) && !is_filled(value) {
                                true => told(Found::Whole(value)),
                                false => each_credential(value, named, told),
                            }
                        }
                    }
                    Value::Object(values) if key == VALUES => {
                        for (name, value) in values {
                            match value.get_mut(LIST) {
                                Some(list) if is_credential(name) || named.contains(name) => {
                                    told(Found::Whole(list));
                                }
                                _ => each_credential(value, named, told),
                            }
                        }
                    }
                    Value::String(text) if key == BODY => {
                        let places = credentials_of_body(text);
                        told_within(text, places, told);
                    }
                    value => each_credential(value, named, told),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each_credential(item, named, told)),
        Value::String(text) => {
            let places = credentials_of_text(text);
            told_within(text, places, told);
        }
        _ => {}
    }
}

/// Whether a value is nothing but placeholders, behind the word of a scheme or the names of cookies at most: what they stand for is masked where
/// it is.
fn is_filled(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            let scheme = text.split_once(' ').filter(|(word, _)| SCHEMES.contains(word));
            let is_pair = |pair: &str| pair.split_once('=').is_some_and(|(_, value)| is_placeholder(value));
            is_placeholder(scheme.map_or(text.as_str(), |(_, rest)| rest)) || text.split("; ").all(is_pair)
        }
        Value::Array(values) => values.iter().all(is_filled),
        _ => false,
    }
}

fn is_placeholder(text: &str) -> bool {
    text.strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|name| !name.contains(['$', '{', '}']))
}

fn told_within(text: &mut String, mut places: Vec<Range<usize>>, told: &mut impl FnMut(Found<'_>)) {
    places.retain(|at| !is_placeholder(&text[at.clone()]));
    if !places.is_empty() {
        told(Found::Within(text, places));
    }
}

/// The values that a header, a body or a query which carries a secret has placeholders for there, in whichever section: `${NAME}`, `${NAME.COLUMN}`.
fn named_in_credentials(plan: &Value) -> Vec<String> {
    fn add(plan: &Value, is_in: bool, names: &mut Vec<String>) {
        match plan {
            Value::Object(map) => {
                for (key, value) in map {
                    let headers = value.as_object().filter(|_| HEADERS.contains(&key.as_str()));
                    headers
                        .into_iter()
                        .flatten()
                        .for_each(|(name, value)| add(value, is_credential(name), names));
                    match value {
                        Value::String(text) if key == BODY && !is_in => {
                            credentials_of_body(text).into_iter().for_each(|at| add_of(&text[at], names));
                        }
                        value => add(value, is_in, names),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| add(item, is_in, names)),
            Value::String(text) if is_in => add_of(text, names),
            Value::String(text) => {
                credentials_of_text(text).into_iter().for_each(|at| add_of(&text[at], names));
            }
            _ => {}
        }
    }
    fn add_of(text: &str, names: &mut Vec<String>) {
        let placeholders = text.split("${").skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
        let of = placeholders.map(|of| of.rsplit(':').next().unwrap_or(of));
        names.extend(of.map(|of| of.split('.').next().unwrap_or(of).to_owned()));
    }
    let mut names = Vec::new();
    add(plan, false, &mut names);
    names
}

fn hide(value: &mut Value) {
    match value {
        Value::Object(map) => map.values_mut().for_each(hide),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Null => {}
        shown => *shown = Value::String("***".to_owned()),
    }
}

/// Whether a header that carries a secret is named anywhere in `text`, or a URL with a user or with a secret in its query. The block may be
/// misspelt.
pub(super) fn names_credential(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let has_header = || text.contains("header") && CREDENTIAL_WORDS.iter().any(|word| text.contains(word));
    NAMES.iter().any(|name| text.contains(name))
        || has_header()
        || names_user(&text)
        || !credentials_of_text(&text).is_empty()
        || has_inline_token(&text)
}

/// Whether a URL in `text` has a user, and so perhaps a password.
fn names_user(text: &str) -> bool {
    let hosts = text.split("://").skip(1);
    let mut authorities = hosts.filter_map(|rest| rest.split(['/', '"', '\'', '\n', ' ', '?', '#']).next());
    authorities.any(|authority| authority.contains('@'))
}

/// Whether what is at that path is the value of such a header, or a part of it.
pub(super) fn leads_into_credential(at: &PlanPath) -> bool {
    let is = |segment: &PathSegment, says: &dyn Fn(&str) -> bool| matches!(segment, PathSegment::Key(key) if says(key));
    let mut pairs = at.segments().windows(2);
    pairs.any(|pair| {
        is(&pair[0], &|key| key == VALUES || HEADERS.contains(&key)) && is(&pair[1], &is_credential)
    })
}

/// Whether what is at that path says where a token is, and so may be one by mistake.
pub(super) fn leads_to_token(at: &PlanPath) -> bool {
    matches!(at.segments().last(), Some(PathSegment::Key(key)) if is_token_key(key))
}

fn is_token_key(key: &str) -> bool {
    TOKEN_KEYS.iter().any(|token| key.ends_with(token))
}

/// Whether a token stands in `text`, in lower case, where a map should say where it is: `bearer: canary`.
fn has_inline_token(text: &str) -> bool {
    let after = |key: &'static str| text.match_indices(key).map(move |(at, _)| &text[at + key.len()..]);
    let values = TOKEN_KEYS.iter().flat_map(|key| after(key));
    let mut values = values.filter_map(|rest| rest.trim_start_matches(['"', '\'']).strip_prefix([':', '=']));
    values.any(|value| {
        let value = value.trim_start_matches(' ');
        match value.strip_prefix('{') {
            Some(map) => {
                let keys = map.split(['}', '\n']).next().unwrap_or_default().split(',');
                let mut keys = keys.map(|pair| pair.split(':').next().unwrap_or_default().trim());
                // A grant has keys of its own for its secrets, each of which is looked at by itself; what mints has none.
                let is_map = matches!(keys.clone().next(), Some("grant" | "minted"));
                !is_map && keys.any(|key| !["", "file", "env"].contains(&key))
            }
            None => !value.is_empty() && !value.starts_with(['\n', '\r', '#', '}', '`']),
        }
    })
}

/// A change `key=value` without its value, where that may hold a secret.
pub(super) fn without_credential(change: &str) -> String {
    match change.split_once('=') {
        Some((key, _)) if names_credential(change) => format!("{key}=***"),
        _ => change.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn headers_and_queries_alone_are_masked_and_by_what_their_names_say() {
        let mut plan = json!({
            "services": { "authorization": { "url": "http://127.0.0.1" }, "cookie": { "log": {} } },
            "workloads": [{ "http": { "headers": {
                "Authorization": "canary", "X-Auth-Token": ["canary", "canary"], "private-token": "canary", "accept": "*/*",
                "Cookie": "a?key=b&canary", "Referer": ["http://a/?sig=canary&page=1", "http://b/"],
            }, "paths": ["/a?page=2&sig=canary", "/b?token=canary&c=d"] } }],
        });
        assert!(holds_credential(&json!({ "headers": { "Referer": "http://a/?sig=canary" } })));
        mask(&mut plan);
        assert!(!plan.to_string().contains("canary"), "{plan}");
        assert_eq!(plan["services"]["authorization"]["url"], "http://127.0.0.1");
        assert_eq!(plan["workloads"][0]["http"]["headers"]["accept"], "*/*");
        assert_eq!(
            plan["workloads"][0]["http"]["headers"]["Referer"],
            json!(["http://a/?sig=***&page=1", "http://b/"])
        );
        assert_eq!(plan["workloads"][0]["http"]["paths"], json!(["/a?page=2&sig=***", "/b?token=***&c=d"]));
    }

    #[test]
    fn what_is_secret_in_bodies_is_masked_and_such_a_plan_has_it_to_be_put_back() {
        for body in [
            "user=ann&password=canary",
            r#"{"user":"ann","password":"canary"}"#,
            r#"{"next":"/a?token=canary"}"#,
        ] {
            let mut plan = json!({ "flows": [{ "http": { "body": body } }] });
            assert!(holds_credential(&plan) && masked_place(&plan).is_none());
            mask(&mut plan);
            assert!(!plan.to_string().contains("canary"), "{plan}");
            assert!(masked_place(&plan).is_some(), "{plan}");
        }
    }

    #[test]
    fn whatever_a_plan_is_printed_with_in_the_place_of_a_secret_is_refused() {
        for http in [
            json!({ "headers": { "authorization": "Bearer canary12345" } }),
            json!({ "headers": { "Referer": "http://u:canary@h/", "x-note": "Basic Y2FuYXJ5Om9mYQ==" } }),
            json!({ "body": "Authorization: Bearer canary12345" }),
            json!({ "body": "password=canary&user=ann" }),
            json!({ "path": "/a?next=%2Fb%3Fkey%3Dcanary" }),
            json!({ "body": "{\"password\":\"${pw}\"}", "values": { "pw": { "list": ["canary1", "canary2"] } } }),
        ] {
            let mut plan = json!({ "workloads": [{ "http": http }] });
            assert_eq!(masked_place(&plan), None, "{plan}");
            mask(&mut plan);
            assert!(!plan.to_string().contains("canary"), "{plan}");
            assert!(
                masked_place(&plan).is_some_and(|at| at.to_string().starts_with("workloads[0].http")),
                "{plan}"
            );
        }
        for honest in ["*** urgent ***", "{\"note\":\"*** urgent ***\"}", "'***'", "a=***"] {
            let plan = json!({ "http": { "body": honest, "contains": honest } });
            assert_eq!(masked_place(&plan), None, "{plan}");
        }
    }

    #[test]
    fn what_is_filled_in_is_no_secret_where_it_is_named() {
        let shown = json!({
            "headers": { "authorization": "Bearer ${token}", "x-api-key": ["${key.of}"], "cookie": "${json:a}" },
            "body": r#"{"password":"${password}"}"#, "path": "/a?token=${token}", "form": { "body": "password=${a}" },
        });
        let mut plan = shown.clone();
        assert!(!holds_credential(&plan));
        mask(&mut plan);
        assert_eq!(plan, shown);
        for written in ["Bearer ${a}canary", "canary${a}", "${a}canary${b}", "Bearer  canary", "$${canary}"] {
            let mut plan = json!({ "headers": { "authorization": written } });
            mask(&mut plan);
            assert_eq!(plan["headers"]["authorization"], MASK, "{written}");
        }
    }

    #[test]
    fn values_that_credentials_are_filled_with_are_masked_as_these_are() {
        let mut plan = json!({
            "values": { "api-token": { "list": ["canary"] }, "page": { "list": ["shown"] }, "one": { "list": ["canary"], "order": "random" } },
            "flows": [{ "http": { "headers": { "authorization": "Bearer ${one}", "x-page": "${page}" }, "expect_headers": { "set-cookie": "canary" }, "json": { "$.access_token": "canary", "id": "shown" } } }],
        });
        assert!(holds_credential(&json!({ "values": { "password": { "list": ["a"] } } })));
        mask(&mut plan);
        assert!(!plan.to_string().contains("canary"), "{plan}");
        assert_eq!(plan["values"]["page"]["list"], json!(["shown"]));
        assert!(leads_into_credential(&PlanPath::of("workloads[0].http.values.password.list")));
    }

    #[test]
    fn a_path_leads_into_a_header_and_not_into_what_has_its_name() {
        for (path, leads) in [
            ("workloads[0].http.headers.Authorization", true),
            ("workloads[0].http.headers.x-api-key[1]", true),
            ("workloads[0].http.headers.accept", false),
            ("target.services.cookie.connection.streams", false),
        ] {
            assert_eq!(leads_into_credential(&PlanPath::of(path)), leads, "{path}");
        }
    }

    #[test]
    fn a_text_names_a_credential_where_it_has_such_a_header_or_a_user_in_a_url() {
        for (text, names) in [
            ("hedders: { Authorization: Bearer x }", true),
            ("headers: { Private-Token: x }", true),
            ("url: http://me:secret@host/", true),
            ("paths: [/a?page=2&Access_Token=canary]", true),
            ("paths: [/a?page=2&logIndex=7]", false),
            ("url: \"ftp://me:secret@no host/\"", true),
            ("bearer: canary", true),
            ("http: { bearer: canary }", true),
            ("token: { value: canary }", true),
            ("submission_token: canary", true),
            ("grant: { client_id: a, client_secret: canary }", true),
            ("grant: { password: canary }", true),
            ("grant: { token_url: http://a/token, client_secret: { env: SECRET }, tokens: 3 }", false),
            ("bearer: { grant: { client_id: a, client_secret: { env: SECRET } } }", false),
            ("token: { grant: { client_id: a, client_secret: canary } }", true),
            ("bearer: { env: TOKEN }\ntoken: { file: a, }\n", false),
            ("bearer:\n  file: a\n", false),
            ("submission_token_file: a\nurl: http://host/a@b", false),
            ("contact: me@example.com\nurl: http://host", false),
        ] {
            assert_eq!(names_credential(text), names, "{text}");
        }
    }
}
