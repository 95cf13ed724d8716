//! Which headers, parameters of a URL's query, members of JSON and words of a text carry a credential, as far as their names and forms say.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;

use hammer_measure::masked::MASK;

/// Whether the header of that name carries a credential, however it is written: `Authorization`, `Cookie`, `X-Api-Key`,
/// `Private-Token`, `X-Amz-Security-Token`. A name says so by a word in it.
pub fn is_credential(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    CREDENTIAL_WORDS.iter().any(|word| header.contains(word))
}

/// What such names hold, in lower case.
pub const CREDENTIAL_WORDS: [&str; 14] = [
    "auth",
    "cookie",
    "token",
    "secret",
    "password",
    "api-key",
    "apikey",
    "credential",
    // Azure's gateways (Ocp-Apim-Subscription-Key) and functions, signed requests, sessions, proofs of a key (RFC 9449).
    "subscription-key",
    "functions-key",
    "access-key",
    "signature",
    "session",
    "dpop",
];

/// Where in `text` the values of those parameters are that carry a credential, in bytes, in order and apart: of every query that stands
/// in it (`?access_token=...`, `&sig=...`), and of what stands in the value of another parameter as a query does (`?next=/b?token=...`).
/// Names and values may be percent-encoded several times (RFC 3986 section 2.1), or have escapes of JSON. A query ends where a URL does:
/// at a space, a quotation mark or a `#`; a value at an `&`, and at a `;` that another pair follows.
pub fn credentials_of_queries(text: &str) -> Vec<Range<usize>> {
    let ends = |letter: char| letter.is_whitespace() || matches!(letter, '#' | '"' | '\'' | '`' | '<' | '>');
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(query) = text[from..].find('?') {
        let start = from + query + 1;
        let end = text[start..].find(ends).map_or(text.len(), |length| start + length);
        let mut add = |at: Range<usize>| found.push(start + at.start..start + at.end);
        find_in_query(&text[start..end], MOST_ENCODED, &mut add);
        from = end;
    }
    joined(found)
}

/// The text with `***` in the place of every value that [`credentials_of_text`] finds.
pub fn without_credentials(text: &str) -> String {
    let mut masked = text.to_owned();
    for at in credentials_of_text(text).into_iter().rev() {
        masked.replace_range(at, MASK);
    }
    masked
}

/// Where in `text` the values are, in bytes, in order and apart, that [`credentials_of_queries`] finds, those of every text that is a member of
/// JSON by the name of a credential (`"access_token":"..."`), also where it is cut off or stands in a text of JSON itself, what follows the
/// word `Bearer` or `Basic` as a token does, lines of cookies and API keys, and passwords in URLs (`http://user:password@host/`).
pub fn credentials_of_text(text: &str) -> Vec<Range<usize>> {
    let mut found = credentials_of_queries(text);
    found.extend(credentials_of_members(text));
    found.extend(SCHEMES.iter().flat_map(|scheme| credentials_of_scheme(text, scheme)));
    found.extend(passwords_of_urls(text));
    found.extend(credentials_of_lines(text));
    joined(found)
}

/// Where what follows that scheme of authentication is no word of a sentence (`Bearer authentication is required`) and no challenge
/// (`Bearer realm="..."`), but a credential (RFC 9110 section 11.4).
fn credentials_of_scheme<'a>(text: &'a str, scheme: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let ends = text.char_indices().filter_map(move |(at, _)| {
        let word = text.get(at..at + scheme.len())?;
        let is_within_word = text[..at].ends_with(char::is_alphanumeric);
        (word.eq_ignore_ascii_case(scheme) && !is_within_word).then_some(at + scheme.len())
    });
    ends.filter_map(move |end| {
        let joins = |letter: char| letter.is_whitespace() || matches!(letter, ':' | '=' | '"' | '\'');
        let value = text[end..].trim_start_matches(joins);
        let start = text.len() - value.len();
        let is_of_token = |letter: char| letter.is_ascii_alphanumeric() || "-._~+/".contains(letter);
        let token = &value[..value.len() - value.trim_start_matches(is_of_token).len()];
        let padding = value[token.len()..].chars().take_while(|letter| *letter == '=').count();
        let goes_on = value[token.len() + padding..]
            .starts_with(|letter: char| letter.is_alphanumeric() || letter == '\\');
        let is_parameter = PARAMETERS.contains(&token) || padding == 1 && goes_on;
        (start > end && !is_parameter && (is_no_word(token, padding > 0) || names_user(token, padding)))
            .then_some(start..start + token.len() + padding)
    })
}

/// Whether a token is a name and a password in base64 (RFC 7617).
fn names_user(token: &str, padding: usize) -> bool {
    let decoded = BASE64_STANDARD_NO_PAD.decode(token).ok().and_then(|pair| String::from_utf8(pair).ok());
    (token.len() + padding).is_multiple_of(4)
        && decoded.is_some_and(|pair| pair.contains(':') && !pair.contains(char::is_control))
}

/// Whether a token is none that is written in sentences: it is padded, or has digits, or goes from small to capital letters more often than names
/// in code do (`TokenExpiredException`).
fn is_no_word(token: &str, is_padded: bool) -> bool {
    let letters = token.as_bytes();
    let rises = letters
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        .count();
    letters.len() >= LEAST_TOKEN
        && (is_padded || rises > MOST_RISES || letters.iter().any(u8::is_ascii_digit))
}

/// Where the passwords are of users in URLs (RFC 3986 section 3.2.1), whose slashes may have a backslash before them as in JSON.
fn passwords_of_urls(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let starts = ["://", r":\/\/"].into_iter().flat_map(|start| text.match_indices(start));
    starts.filter_map(|(at, slashes)| {
        let start = at + slashes.len();
        let is_end = |letter: char| letter.is_whitespace() || "/?#\"'`<>\\".contains(letter);
        let authority = text[start..].split(is_end).next()?;
        let (user, _) = authority.rsplit_once('@')?;
        let (name, password) = user.split_once(':').filter(|(_, password)| !password.is_empty())?;
        let start = start + name.len() + 1;
        Some(start..start + password.len())
    })
}

/// Where the values are of lines of a head that are credentials and nothing else (`Cookie: session=...`), up to the end of the line, or of the
/// quotation marks that they stand in. What is no pair of a cookie, and no key, may be a sentence about one.
fn credentials_of_lines(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let lines = LINES.into_iter().flat_map(move |name| {
        let starts = text.char_indices().map(|(at, _)| at);
        starts.filter_map(move |at| {
            let is_line = text.get(at..at + name.len()).is_some_and(|here| here.eq_ignore_ascii_case(name));
            let is_whole = !text[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '-');
            (is_line && is_whole).then_some((at, at + name.len()))
        })
    });
    lines.filter_map(|(at, end)| {
        // The line ends where the quotation marks do that it stands in; those of a value are within it.
        let mark = text[..at].chars().next_back().filter(|mark| matches!(mark, '"' | '\''));
        let value = text[end..].trim_start_matches([' ', '\t']);
        let start = text.len() - value.len();
        let is_end = |letter: char| matches!(letter, '\r' | '\n' | '<') || Some(letter) == mark;
        let length = value.find(is_end).unwrap_or(value.len());
        let word = value[..length].split(char::is_whitespace).next().unwrap_or_default();
        let is_pair = word.contains('=') || word.starts_with('"');
        (is_pair || is_no_word(word, false)).then_some(start..start + length)
    })
}

/// As [`credentials_of_text`], of what is sent as a body, which may be a form (`application/x-www-form-urlencoded`) as well: `user=ann&password=...`.
pub fn credentials_of_body(body: &str) -> Vec<Range<usize>> {
    let mut found = credentials_of_text(body);
    // Lines of a form are none of the standard's, and are written all the same.
    let is_form = !body.trim_start().starts_with(['{', '[', '<']) && body.contains('=');
    let mut start = 0;
    for line in body.split_inclusive('\n').filter(|_| is_form) {
        find_in_query(line.trim_end(), MOST_ENCODED, &mut |at| found.push(start + at.start..start + at.end));
        start += line.len();
    }
    joined(found)
}

/// Where the values of members are that carry a credential: behind every colon, between the same quotation marks as the name before it.
fn credentials_of_members(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    text.match_indices(':').filter_map(|(colon, _)| {
        let name = text[..colon].trim_end();
        let mark = name.chars().next_back().filter(|mark| matches!(mark, '"' | '\''))?;
        let unmarked = name.strip_suffix(mark)?;
        let name = unmarked.trim_end_matches('\\');
        // A text of JSON within JSON has its marks behind backslashes.
        let mark = format!("{}{mark}", &unmarked[name.len()..]);
        let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
        if !is_credential_member(&name[name.trim_end_matches(is_of_name).len()..]) {
            return None;
        }
        let value = text[colon + 1..].trim_start().strip_prefix(&mark)?;
        let start = text.len() - value.len();
        // Each level doubles the backslashes: a mark that is meant as a letter has an odd share of them before it.
        let is_end = |at: usize| {
            let before = value[..at].len() - value[..at].trim_end_matches('\\').len();
            before % (2 * mark.len()) == 0
        };
        let end = value.match_indices(&mark).map(|(at, _)| at).find(|at| is_end(*at));
        let end = end.unwrap_or(value.len());
        (end > 0).then(|| start..start + end)
    })
}

/// Schemes of authentication whose credentials are one token (RFC 7617, RFC 6750).
const SCHEMES: [&str; 2] = ["bearer", "basic"];
/// Starts of lines of a head, in lower case.
const LINES: [&str; 3] = ["cookie:", "set-cookie:", "x-api-key:"];
/// Parameters of challenges (RFC 6750 section 3, RFC 7616 section 3.3), behind which a quotation mark is no padding's.
const PARAMETERS: [&str; 7] =
    ["realm", "error", "error_description", "error_uri", "scope", "charset", "resource_metadata"];
/// Letters of a credential, at least.
const LEAST_TOKEN: usize = 8;
/// So often, at most, a name in code goes from small to capital letters.
const MOST_RISES: usize = 3;

fn is_credential_member(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace(['_', '-'], "");
    CREDENTIAL_MEMBERS.contains(&name.as_str()) || ENDS_OF_MEMBERS.iter().any(|end| name.ends_with(end))
}

/// What names of such members end with, likewise: `new_password`, `aws_secret_key`.
const ENDS_OF_MEMBERS: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "secretkey",
    "accesskey",
    "apikey",
    "privatekey",
    "accesstoken",
    "authtoken",
];

/// Names of members of JSON that are credentials, without what joins their words (RFC 6749 section 5.1, RFC 7521 section 4.2, RFC 8693 section 2.1).
const CREDENTIAL_MEMBERS: [&str; 11] = [
    "refreshtoken",
    "idtoken",
    "subjecttoken",
    "actortoken",
    "sessiontoken",
    "token",
    "assertion",
    "clientassertion",
    "authorization",
    "pwd",
    "pass",
];

/// Tells `found` of every credential of a query that may be encoded so many times.
fn find_in_query(query: &str, encoded: usize, found: &mut dyn FnMut(Range<usize>)) {
    let mut start = 0;
    while start < query.len() {
        let end = start + pair_length(&query[start..]);
        let pair = &query[start..end];
        let mut add = |at: Range<usize>| found(start + at.start..start + at.end);
        let value = credential_of_pair(pair);
        if let Some(value) = value {
            add(value..pair.len());
        }
        let open = &pair[..value.unwrap_or(pair.len())];
        if encoded > 0 && has_escape(open) {
            // Nothing but another pair ends a value in there: a space is one that was encoded.
            let (inner, places) = decoded(open);
            find_in_query(&inner, encoded - 1, &mut |at| add(places[at.start]..places[at.end]));
        }
        start = end + 1;
    }
}

/// The bytes up to the separator behind the pair that `query` starts with.
fn pair_length(query: &str) -> usize {
    let mut separators = query.match_indices(['&', ';']);
    let first = separators.find(|(at, separator)| *separator == "&" || starts_with_pair(&query[at + 1..]));
    first.map_or(query.len(), |(at, _)| at)
}

/// Whether a name and a value are next, and not the padding of base64.
fn starts_with_pair(query: &str) -> bool {
    let is_of_name =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '~' | '%' | '[' | ']');
    let value = query.trim_start_matches(is_of_name).strip_prefix('=');
    !query.starts_with('=')
        && value.is_some_and(|value| !value.is_empty() && !value.starts_with(['=', '&', ';']))
}

/// Where the value starts of the first parameter in `pair` that carries a credential: a value may itself be a pair, or end with a query.
fn credential_of_pair(pair: &str) -> Option<usize> {
    let mut start = 0;
    for (at, _) in pair.match_indices('=') {
        if at + 1 < pair.len() && is_credential_parameter(&pair[start..at]) {
            return Some(at + 1);
        }
        start = at + 1;
    }
    None
}

/// The ranges in order, those that overlap as one.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let overlap = next.start <= last.end;
        if overlap {
            last.end = last.end.max(next.end);
        }
        overlap
    });
    ranges
}

fn is_credential_parameter(name: &str) -> bool {
    let mut name = Cow::Borrowed(name);
    for _ in 0..MOST_ENCODED {
        if !has_escape(&name) {
            break;
        }
        name = Cow::Owned(decoded(&name).0);
    }
    let name = name.rsplit('?').next().unwrap_or_default();
    is_credential(name)
        || name.to_ascii_lowercase().contains(SIGNATURE)
        || CREDENTIAL_PARAMETERS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn has_escape(text: &str) -> bool {
    text.contains(['%', '\\'])
}

/// The text with each escape of an ASCII letter as that letter, and where in `text` each of its bytes starts, and its end.
fn decoded(text: &str) -> (String, Vec<usize>) {
    let (mut letters, mut places) = (String::with_capacity(text.len()), Vec::with_capacity(text.len() + 1));
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let (letter, length) = escape(&text[at..]).unwrap_or((first, first.len_utf8()));
        letters.push(letter);
        places.extend(at..at + letter.len_utf8());
        at += length;
    }
    places.push(at);
    (letters, places)
}

/// The letter that `text` starts with as an escape (`%3D`, `\u003d`), and the length of that.
fn escape(text: &str) -> Option<(char, usize)> {
    let start = ["%", "\\u00"].into_iter().find(|start| text.starts_with(start))?;
    let length = start.len() + 2;
    let digits = text.get(start.len()..length)?;
    let number = digits.chars().try_fold(0, |number, digit| Some(number << 4 | digit.to_digit(16)?))?;
    let letter = char::from_u32(number).filter(char::is_ascii)?;
    Some((letter, length))
}

/// So often, at most, a query within a query is looked for behind its encoding.
const MOST_ENCODED: usize = 4;
/// What the names hold of parameters that make a URL a signed one (`X-Amz-Signature`), in lower case. In a header it is no credential:
/// it covers one message.
const SIGNATURE: &str = "signature";
/// Names of parameters that carry a credential without a word that says so: of API keys, signed URLs, and RFC 6749.
const CREDENTIAL_PARAMETERS: [&str; 11] =
    ["key", "api_key", "access_key", "sig", "code", "jwt", "assertion", "session", "sid", "pass", "pwd"];

#[cfg(test)]
mod tests {
    use hammer_mutate::{Mutator, cases};

    use super::*;

    #[test]
    fn the_credentials_of_a_query_are_found_by_the_names_of_their_parameters() {
        let found = |text: &'static str| -> Vec<&str> {
            credentials_of_queries(text).into_iter().map(|at| &text[at]).collect()
        };
        assert_eq!(found("/a?access_token=canary"), ["canary"]);
        assert_eq!(
            found("GET /a?q=1&sig=a%2Fb&x=2#key=3 and http://b/?Code=c&API_KEY=d"),
            ["a%2Fb", "c", "d"]
        );
        assert_eq!(found("path: \"/a?X-Amz-Security-Token=canary\", key=1"), ["canary"]);
        assert!(found("/a?logIndex=7&page=2, why? key=1 token=").is_empty());
        assert!(found("/a/token=1&key=2?").is_empty());
        assert_eq!(
            found("/a?X-Amz-Credential=a&X-Amz-Signature=b&X-Goog-Signature=c&Signature=d"),
            ["a", "b", "c", "d"]
        );
    }

    #[test]
    fn a_credential_is_found_in_a_query_within_a_query_and_however_it_is_encoded() {
        for (text, secret) in [
            ("/a?next=/b?token=canary", "canary"),
            ("/a?next=/b?key=canary&page=2", "canary"),
            ("/a?/b?key=canary", "canary"),
            ("/a?state=key=canary", "canary"),
            ("/a?to%6ben=canary", "canary"),
            ("/a?to%256Ben=canary", "canary"),
            ("/a?%6bey=can%26ary#end", "can%26ary"),
            ("/a?next=%2Fb%3Fq%3D1%26key%3Dcanary%26page%3D2&page=3", "canary"),
            ("/a?next=%2Fb%3Fto%256ben%3Dcan%2526ary", "can%2526ary"),
            ("/a?next=%2Fb%3Fkey%3Dcan%20ary", "can%20ary"),
            ("/a?%2Fb%3Fkey%3Dc\u{e9}nary", "c\u{e9}nary"),
            ("/a?c%C3%A9=%C3%A9&%6bey=%C3%A9", "%C3%A9"),
            ("/a?next=/b?q=%3Fkey%3Dcanary", "canary"),
            ("/a?next=%2Fb%3Fkey%3Dcan?token=ary", "can?token=ary"),
            (r"/a?page=1\u0026key=canary", "canary"),
            ("/a?page=1&amp;key=canary", "canary"),
        ] {
            let found = credentials_of_queries(text).into_iter().map(|at| &text[at]);
            assert_eq!(found.collect::<Vec<_>>(), [secret], "{text}");
        }
        for text in [
            "/a?next=%2Fb%3Fpage%3D2",
            "/a?ke%79%=1&ke%+1=2&ke%\u{e9}=3",
            "/a?next=/b?key=",
            "/%3Fkey%3D1?q=%",
        ] {
            assert!(credentials_of_queries(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_credential_ends_where_another_pair_follows() {
        for (text, secret) in [
            ("/a?token=a;b", "a;b"),
            ("/a?token=a;b;page=2", "a;b"),
            ("/a?page=1;token=a;b&page=2", "a;b"),
            ("/a?token=a;", "a;"),
            ("/a?token=a;b==", "a;b=="),
            ("/a?token=a;=b", "a;=b"),
            ("/a?token=abc=canary-secret", "abc=canary-secret"),
            ("/a?token=a?b=c&d=e", "a?b=c"),
        ] {
            let found = credentials_of_queries(text).into_iter().map(|at| &text[at]);
            assert_eq!(found.collect::<Vec<_>>(), [secret], "{text}");
        }
    }

    #[test]
    fn what_is_found_is_text_of_its_own_whatever_the_queries_hold() {
        let mut mutator = Mutator::new(1);
        for text in [
            "/a?next=%2Fb%3Fto%256ben%3Dc\u{e9}%2526ary;key=b",
            r"?a=?key=1\u0026sig=%3Fkey%3Db#c ?\u{e9}=1&pwd=2;3",
        ] {
            for _ in 0..cases(2_000) {
                let altered = mutator.bytes(text.as_bytes(), b"%3F?key=token%3D;&\\u003d#");
                let text = String::from_utf8_lossy(&altered).into_owned();
                let mut end = 0;
                for at in credentials_of_queries(&text) {
                    assert!(
                        at.start > end && !text.get(at.clone()).unwrap_or_default().is_empty(),
                        "{text} {at:?}"
                    );
                    end = at.end;
                }
            }
        }
    }

    #[test]
    fn what_is_found_of_members_is_text_whatever_stands_around_them() {
        let mut mutator = Mutator::new(1);
        for text in [
            "1 | \u{2026}`\u{2026}\":\"\u{e9}\", \"access_token\" : \"can\\\"ary\u{2026}\"",
            "{'\u{2026}token': '\u{f6}', \"{\\\"password\\\":\\\"can\\\\\\\"ary\u{2026}",
            "bearer \u{2026}Basic can12345== ://\u{e9}:ary@\u{2026} Bearer ar12345678",
        ] {
            let masked = without_credentials(text);
            assert!(masked.contains("***") && !masked.contains("ary"), "{masked}");
            for _ in 0..cases(2_000) {
                let altered = mutator.bytes(text.as_bytes(), "\"':\\token\u{2026}".as_bytes());
                let text = String::from_utf8_lossy(&altered).into_owned();
                for at in credentials_of_members(&text) {
                    assert!(!text.get(at.clone()).unwrap_or_default().is_empty(), "{text} {at:?}");
                }
                without_credentials(&text);
            }
        }
    }

    #[test]
    fn a_member_of_json_by_the_name_of_a_credential_is_masked_wherever_it_stands() {
        for (text, masked) in [
            (
                r#"{"access_token":"canary","token_type":"mac"}"#,
                r#"{"access_token":"***","token_type":"mac"}"#,
            ),
            (r#"{"a":{"clientSecret" : "can\"ary"},"b":1}"#, r#"{"a":{"clientSecret" : "***"},"b":1}"#),
            (r#"{"refresh-token":"canary, cut off"#, r#"{"refresh-token":"***"#),
            (r#""{\"id_token\":\"canary\",\"n\":1}""#, r#""{\"id_token\":\"***\",\"n\":1}""#),
            (r#"{"password":"can\\\"ary","n":1}"#, r#"{"password":"***","n":1}"#),
            (r#"{"password":"canary\\","n":"x"}"#, r#"{"password":"***","n":"x"}"#),
            (r#""{\"password\":\"can\\\"ary\",\"n\":1}""#, r#""{\"password\":\"***\",\"n\":1}""#),
            ("{'password': 'canary', 'user': 'ann'}", "{'password': '***', 'user': 'ann'}"),
            (
                r#"{"error":"invalid_token","token":null,"author":"ann"}"#,
                r#"{"error":"invalid_token","token":null,"author":"ann"}"#,
            ),
            ("\u{e4}\":\"\u{f6}: token: none", "\u{e4}\":\"\u{f6}: token: none"),
            (r#"{"password":""}"#, r#"{"password":""}"#),
        ] {
            assert_eq!(without_credentials(text), masked);
        }
    }

    #[test]
    fn what_follows_a_scheme_and_a_password_in_a_url_are_masked() {
        for (text, masked) in [
            ("no: Authorization: Bearer canary12", "no: Authorization: Bearer ***"),
            ("\"bearer abcdefghijklmnop.qrst==\", refused", "\"bearer ***\", refused"),
            ("Basic dXNlcjpjYW5hcnk= is not known", "Basic *** is not known"),
            (
                "Bearer realm=\"veraison\", error=\"invalid_token\"",
                "Bearer realm=\"veraison\", error=\"invalid_token\"",
            ),
            (r#"got "Basic am9lOnNlY3JldHM=" for joe"#, r#"got "Basic ***" for joe"#),
            (r#"{"h":"Bearer abc123def456="}"#, r#"{"h":"Bearer ***"}"#),
            ("Basic\tam9lOnNlY3JldHM=, Bearer: abc123def456", "Basic\t***, Bearer: ***"),
            ("Bearer abcDefGhiJklMno", "Bearer ***"),
            (r"https:\/\/joe:hunter22@host\/", r"https:\/\/joe:***@host\/"),
            ("GET /\r\nCookie: session=canary; a=b\r\nAccept: */*", "GET /\r\nCookie: ***\r\nAccept: */*"),
            (r#"["set-cookie: sid=canary", 1]"#, r#"["set-cookie: ***", 1]"#),
            ("x-api-key: abc12345", "x-api-key: ***"),
            ("Cookie: sid=\"canary\"; Path=/\nX-Api-Key: \"canary\"\n.", "Cookie: ***\nX-Api-Key: ***\n."),
            ("<p>Cookie: a='canary'</p>", "<p>Cookie: ***</p>"),
            ("headers.Cookie: it is no header's value", "headers.Cookie: it is no header's value"),
            ("Bearer authentication is required", "Bearer authentication is required"),
            ("Basic dXNlcjpwYXNz", "Basic ***"),
            (
                "/search?q=basic+chemistry101 or forbearer abc12345678",
                "/search?q=basic+chemistry101 or forbearer abc12345678",
            ),
            ("Bearer token-authentication failed", "Bearer token-authentication failed"),
            (
                r#"{"e":"Bearer error_description=\"expired\""}"#,
                r#"{"e":"Bearer error_description=\"expired\""}"#,
            ),
            ("Bearer authorization_uri=https://a", "Bearer authorization_uri=https://a"),
            ("Bearer insufficient_scope, JsonWebTokenError", "Bearer insufficient_scope, JsonWebTokenError"),
            ("bearer TokenExpiredException thrown", "bearer TokenExpiredException thrown"),
            ("Basic authentication/authorization", "Basic authentication/authorization"),
            ("basically, bearers of 12345678", "basically, bearers of 12345678"),
            (
                "from http://jane:can:ary@a.b/?c=d and https://a@b",
                "from http://jane:***@a.b/?c=d and https://a@b",
            ),
            ("at \u{e9}://\u{e9}:\u{e9}@ or http://a:80/@b:c", "at \u{e9}://\u{e9}:***@ or http://a:80/@b:c"),
        ] {
            assert_eq!(without_credentials(text), masked);
        }
    }

    #[test]
    fn a_body_may_be_a_form_and_what_is_none_has_no_pairs() {
        for (body, found) in [
            ("user=ann&password=can%26ary&remember=1\n", &["can%26ary"] as &[_]),
            ("password=canary", &["canary"]),
            (r#"{"user":"ann","password":"canary"}"#, &["canary"]),
            (r#"{"next":"/a?token=canary"}"#, &["canary"]),
            ("user=&password=canary", &["canary"]),
            ("csrf&password=canary", &["canary"]),
            ("a+b=1&password=canary", &["canary"]),
            ("user=jane doe&password=canary", &["canary"]),
            ("a=1\npassword=canary\n", &["canary"]),
            (r#"{"new_password":"canary","secret-key":"canary2"}"#, &["canary", "canary2"]),
            ("a text, in which no password stands", &[]),
            ("page=1&size=2", &[]),
        ] {
            let values: Vec<_> = credentials_of_body(body).into_iter().map(|at| &body[at]).collect();
            assert_eq!(values, found, "{body}");
        }
    }

    #[test]
    fn a_header_carries_a_credential_where_its_name_says_so() {
        for name in [
            "Authorization",
            "proxy-authorization",
            "Cookie",
            "X-Api-Key",
            "apikey",
            "X-Auth-Token",
            "Private-Token",
            "X-Client-Secret",
            "X-Password",
            "X-Credential",
            "Ocp-Apim-Subscription-Key",
            "x-functions-key",
            "X-Access-Key",
            "X-Hub-Signature-256",
            "X-Session-Id",
            "DPoP",
        ] {
            assert!(is_credential(name), "{name}");
        }
        for name in ["accept", "content-type", "user-agent", "x-request-id", "idempotency-key", "traceparent"]
        {
            assert!(!is_credential(name), "{name}");
        }
    }
}
