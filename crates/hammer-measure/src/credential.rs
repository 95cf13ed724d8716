//! Which headers, parameters of a URL's query, members of JSON and words of a text carry a credential, as far as their names and forms say.

use std::ops::Range;

use crate::masked::{MASK, without_secrets, without_tokens};
use crate::recorder::start_of;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;

mod query;

use query::{MOST_ENCODED, find_in_query};
pub use query::{credentials_of_queries, is_credential_parameter};

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

/// The text as it may be told: without the secrets that the process was given, JSON Web Tokens, and what reads as a credential otherwise.
pub fn without_any_secret(text: &str) -> String {
    without_tokens(&without_credentials(&without_secrets(text)))
}

/// The text with `***` in the place of every value that [`credentials_of_text`] finds.
pub fn without_credentials(text: &str) -> String {
    let (mut masked, mut from) = (String::with_capacity(text.len()), 0);
    for at in credentials_of_text(text) {
        masked.push_str(&text[from..at.start]);
        masked.push_str(MASK);
        from = at.end;
    }
    masked + &text[from..]
}

/// Where in `text` the values are, in bytes, in order and apart, that [`credentials_of_queries`] finds, those of every text that is a member of
/// JSON by the name of a credential (`"access_token":"..."`), also where it is cut off or stands in a text of JSON itself, that elements of XML by such
/// a name hold, what follows the word `Bearer` or `Basic` as a token does, lines of cookies and API keys, what is assigned to such a name (`PASSWORD=...`), and passwords in URLs
/// (`http://user:password@host/`) and behind flags (`-u user:password`).
pub fn credentials_of_text(text: &str) -> Vec<Range<usize>> {
    let mut found = credentials_of_queries(text);
    found.extend(credentials_of_members(text));
    found.extend(credentials_of_elements(text));
    found.extend(SCHEMES.iter().flat_map(|scheme| credentials_of_scheme(text, scheme)));
    found.extend(passwords_of_urls(text));
    found.extend(credentials_of_lines(text));
    found.extend(credentials_of_assignments(text));
    found.extend(passwords_of_flags(text));
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
        // So a space is written in a URL.
        let value = value.strip_prefix("%20").unwrap_or(value);
        let start = text.len() - value.len();
        let is_of_token = |letter: char| letter.is_ascii_alphanumeric() || "-._~+/%".contains(letter);
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
    // Such is a version, too (`HTTP/1.1`), and a name of several words.
    let least = if token.contains('/') { 2 * LEAST_TOKEN } else { LEAST_TOKEN };
    letters.len() >= least && (is_padded || rises > MOST_RISES || letters.iter().any(u8::is_ascii_digit))
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
        let value = start_of(value, MOST_AHEAD);
        let length = value.find(is_end).unwrap_or(value.len());
        let word = value[..length].split(char::is_whitespace).next().unwrap_or_default();
        let is_pair = word.contains('=') || word.starts_with('"');
        (is_pair || is_no_word(word, false)).then_some(start..start + length)
    })
}

/// Where the values are that are assigned to the name of such a member, as in a shell, an attribute of XML or a form: up to white space or what
/// separates such pairs, or the end of the marks that they stand in. What a shell puts there (`$TOKEN`) is no secret itself.
fn credentials_of_assignments(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    text.match_indices('=').filter_map(|(at, _)| {
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        let name = &text[text[..at].trim_end_matches(is_of_name).len()..at];
        if !is_credential_member(name.trim_start_matches('-')) {
            return None;
        }
        let value = &text[at + 1..];
        let mark = value.chars().next().filter(|mark| matches!(mark, '"' | '\''));
        let start = at + 1 + mark.map_or(0, char::len_utf8);
        let is_end = |letter: char| match mark {
            Some(mark) => letter == mark,
            None => letter.is_whitespace() || "&;,\"'`<>()[]{}\\".contains(letter),
        };
        let ahead = start_of(&text[start..], MOST_AHEAD);
        let value = &ahead[..ahead.find(is_end).unwrap_or(ahead.len())];
        // Shorter ones, and counters, would spoil what a command says (`pass=12 fail=0`).
        let is_secret = value.len() >= LEAST_ASSIGNED && !value.bytes().all(|byte| byte.is_ascii_digit());
        (is_secret && !value.starts_with(['$', '='])).then_some(start..start + value.len())
    })
}

/// Where the passwords are behind flags for a name and a password, as curl has them: `-u name:password`, `--user=name:password`.
fn passwords_of_flags(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let flags = FLAGS_OF_USERS.into_iter().flat_map(|flag| text.match_indices(flag));
    flags.filter_map(|(at, flag)| {
        // Of others it is a date, a group, a branch.
        let is_of_client = CLIENTS.iter().any(|client| text[..at].contains(client));
        let is_word = is_of_client && text[..at].ends_with(char::is_whitespace);
        let user = text[at + flag.len()..].trim_start_matches([' ', '"', '\'']);
        let start = text.len() - user.len();
        let length =
            user.find(|letter: char| letter.is_whitespace() || "\"'".contains(letter)).unwrap_or(user.len());
        let password = user[..length].find(':')? + 1;
        let is_told = is_word && password < length && !user[password..].starts_with('$');
        is_told.then_some(start + password..start + length)
    })
}

/// As [`credentials_of_text`], of what is sent as a body, which may be a form (`application/x-www-form-urlencoded`) as well: `user=ann&password=...`.
pub fn credentials_of_body(body: &str) -> Vec<Range<usize>> {
    let mut found = credentials_of_text(body);
    // Lines of a form are none of the standard's, and are written all the same.
    let is_plain = !body.trim_start().starts_with(['{', '[', '<']);
    let mut start = 0;
    for line in body.split_inclusive('\n').filter(|_| is_plain) {
        if line.contains('=') {
            find_in_query(line.trim_end(), MOST_ENCODED, &mut |at| {
                found.push(start + at.start..start + at.end);
            });
        }
        // As YAML has it.
        if let Some((name, value)) =
            line.trim_end().split_once(": ").filter(|(name, _)| is_credential_member(name.trim()))
            && !value.trim().is_empty()
        {
            let value_start = start + name.len() + ": ".len();
            found.push(value_start..value_start + value.len());
        }
        start += line.len();
    }
    joined(found)
}

/// Where the values of members are that carry a credential: behind every colon, texts between the same quotation marks as the name before it,
/// those of a list, and numbers.
fn credentials_of_members(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    text.match_indices(':').flat_map(|(colon, _)| values_of_member(text, colon).unwrap_or_default())
}

fn values_of_member(text: &str, colon: usize) -> Option<Vec<Range<usize>>> {
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
    let value = text[colon + 1..].trim_start();
    let start = text.len() - value.len();
    let digits = value.len() - value.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let Some(mut items) = value.strip_prefix('[') else {
        let number = (digits >= LEAST_ASSIGNED).then(|| start..start + digits);
        return Some(number.or_else(|| marked_text(text, start, &mark)).into_iter().collect());
    };
    let mut found = Vec::new();
    while let Some(at) = marked_text(text, text.len() - items.trim_start().len(), &mark) {
        let behind = text[at.end..].strip_prefix(&mark).unwrap_or_default().trim_start();
        found.push(at);
        let Some(next) = behind.strip_prefix(',') else { break };
        items = next;
    }
    Some(found)
}

/// Where what stands from `start` on between such marks is, up to the end where it is cut off, unless nothing does.
fn marked_text(text: &str, start: usize, mark: &str) -> Option<Range<usize>> {
    let value = start_of(text[start..].strip_prefix(mark)?, MOST_AHEAD);
    let start = start + mark.len();
    // Each level doubles the backslashes: a mark that is meant as a letter has an odd share of them before it.
    let is_end = |at: usize| {
        let before = value[..at].len() - value[..at].trim_end_matches('\\').len();
        before.is_multiple_of(2 * mark.len())
    };
    let end = value.match_indices(mark).map(|(at, _)| at).find(|at| is_end(*at));
    let end = end.unwrap_or(value.len());
    (end > 0).then(|| start..start + end)
}

/// Where what elements of XML hold is whose names are those of such members, whatever stands before a colon in them (`<wsse:Password Type="...">`).
fn credentials_of_elements(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    text.match_indices('<').filter_map(|(at, _)| {
        let tag = &text[at + 1..];
        let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | ':' | '.');
        let name = &tag[..tag.len() - tag.trim_start_matches(is_of_name).len()];
        if !is_credential_member(name.rsplit(':').next()?) {
            return None;
        }
        let (attributes, _) = start_of(&tag[name.len()..], MOST_AHEAD).split_once('>')?;
        let start = at + 1 + name.len() + attributes.len() + 1;
        let held = start_of(&text[start..], MOST_AHEAD);
        let length = held.find('<').unwrap_or(held.len());
        let holds_nothing = attributes.ends_with('/') || held[..length].trim().is_empty();
        (!holds_nothing).then_some(start..start + length)
    })
}

/// Commands that send requests.
const CLIENTS: [&str; 4] = ["curl", "wget", "http", "xh"];
const FLAGS_OF_USERS: [&str; 3] = ["-u ", "--user ", "--user="];
/// Schemes of authentication whose credentials are one token (RFC 7617, RFC 6750).
const SCHEMES: [&str; 2] = ["bearer", "basic"];
/// Starts of lines of a head, in lower case.
const LINES: [&str; 3] = ["cookie:", "set-cookie:", "x-api-key:"];
/// Parameters of challenges (RFC 6750 section 3, RFC 7616 section 3.3), behind which a quotation mark is no padding's.
const PARAMETERS: [&str; 7] =
    ["realm", "error", "error_description", "error_uri", "scope", "charset", "resource_metadata"];
/// Letters of a credential, at least.
const LEAST_TOKEN: usize = 8;
/// Letters of what is assigned to the name of a secret, and digits of a number that is one, at least.
const LEAST_ASSIGNED: usize = 6;
/// Bytes that are looked at for the end of a value, which may never come.
const MOST_AHEAD: usize = 16 << 10;
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

#[cfg(test)]
mod tests;
