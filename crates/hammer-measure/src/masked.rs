//! A text in which no secret can be read, however it is written there.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;

use crate::obeyed::is_obeyed;

/// The secrets that the process was given where its plan says so.
static GIVEN: RwLock<Vec<GivenSecret>> = RwLock::new(Vec::new());

/// A secret with its encodings, which are looked for as often as anything is told.
struct GivenSecret {
    plain: Arc<str>,
    encoded: Vec<String>,
}

/// Has a secret that the process was given masked in whatever peers write from then on ([`without_secrets`]).
pub fn keep_secret(secret: &str) {
    keep(&mut GIVEN.write().unwrap_or_else(PoisonError::into_inner), secret);
}

/// Adds a secret that is not among them yet: files may be read again each time that they change. What is in use came last, so that of too
/// many the first goes.
fn keep(given: &mut Vec<GivenSecret>, secret: &str) {
    if secret.len() < LEAST_SECRET || given.iter().any(|known| *known.plain == *secret) {
        return;
    }
    if given.len() == MOST_SECRETS {
        given.remove(0);
    }
    given.push(GivenSecret { plain: secret.into(), encoded: encodings(secret) });
}

/// The text with `***` in the place of every secret that the process was given, as [`masked`] has it.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    let given = GIVEN.read().unwrap_or_else(PoisonError::into_inner);
    if given.is_empty() {
        return text.into();
    }
    let is_encoded = may_be_encoded(text);
    let forms = given.iter().flat_map(|secret| {
        let encoded = secret.encoded.iter().filter(|_| is_encoded).map(String::as_str);
        std::iter::once(&*secret.plain).chain(encoded)
    });
    masked_forms(text, &forms.collect::<Vec<_>>()).into()
}

/// The text with `***` in the place of every secret in it: as it is, in letters of another case, percent-encoded wholly, in part or
/// more than once (RFC 3986 section 2.1), with pluses for spaces as forms have them, with the escapes of JSON (RFC 8259
/// section 7) and those of strings of bytes in Rust, with the character references of HTML, in base64 or hexadecimal digits, and with characters between
/// that are not shown as they are. So is a long start or end of a secret, and one of any length that the end of the text cuts off.
pub fn masked(text: &str, secrets: &[&str]) -> String {
    let is_encoded = may_be_encoded(text);
    let encoded: Vec<String> =
        secrets.iter().filter(|_| is_encoded).flat_map(|secret| encodings(secret)).collect();
    let forms: Vec<&str> = secrets.iter().copied().chain(encoded.iter().map(String::as_str)).collect();
    masked_forms(text, &forms)
}

/// As [`masked`], of secrets in forms that are looked for as they are.
fn masked_forms(text: &str, secrets: &[&str]) -> String {
    let mut hidden = vec![false; text.len()];
    let whole: Vec<EncodedByte> = text.bytes().enumerate().map(EncodedByte::plain).collect();
    // A secret that a line break or a mark of direction splits can be put together again.
    let visible = shown_places(text).flat_map(|place| whole[place].iter().cloned()).collect();
    for (read, is_visible) in [(whole, false), (visible, true)] {
        secrets.iter().for_each(|secret| hide(&read, secret.as_bytes(), &mut hidden));
        for marks in ENCODINGS {
            let mut read = Cow::Borrowed(&read);
            for _ in 0..MOST_ENCODED {
                if !read.iter().any(|byte| marks.contains(&byte.byte)) {
                    break;
                }
                let mut meant = decoded(&read, marks);
                meant.retain(|byte| !is_visible || !byte.byte.is_ascii_control());
                secrets.iter().for_each(|secret| hide(&meant, secret.as_bytes(), &mut hidden));
                read = Cow::Owned(meant);
            }
        }
    }
    let mut shown = String::with_capacity(text.len());
    let mut was_hidden = false;
    for (at, symbol) in text.char_indices() {
        if !hidden[at] {
            shown.push(symbol);
        } else if !was_hidden {
            shown.push_str(MASK);
        }
        was_hidden = hidden[at];
    }
    shown
}

/// Where the characters of a text are that are seen: none that is obeyed, and nothing of a sequence that a terminal takes as a whole or of
/// the white space by which a line goes on behind its break (RFC 9110 section 5.5).
fn shown_places(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_shown = |symbol: char| !is_obeyed(symbol) && symbol != char::REPLACEMENT_CHARACTER;
    let mut hidden_to = 0;
    text.char_indices().filter_map(move |(at, symbol)| {
        let rest = &text[at + symbol.len_utf8()..];
        match symbol {
            '\u{1b}' | '\u{9b}' => {
                hidden_to = hidden_to.max(text.len() - behind_sequence(symbol, rest).len());
            }
            '\n' => hidden_to = hidden_to.max(text.len() - rest.trim_start_matches([' ', '\t']).len()),
            _ => {}
        }
        (at >= hidden_to && is_shown(symbol)).then(|| at..at + symbol.len_utf8())
    })
}

/// What stands behind a control sequence that `introducer` starts (ECMA-48 section 5.4): all of `rest` where there is none.
fn behind_sequence(introducer: char, rest: &str) -> &str {
    let body = if introducer == '\u{1b}' { rest.strip_prefix('[') } else { Some(rest) };
    let behind = body.and_then(|body| {
        let body = body.trim_start_matches(|letter| matches!(letter, '\u{20}'..='\u{3f}'));
        body.strip_prefix(|letter| matches!(letter, '\u{40}'..='\u{7e}'))
    });
    behind.unwrap_or(rest)
}

/// The text with `***` in the place of every JSON Web Token in it (RFC 7519): its first part starts with `eyJ`, as every object that starts
/// with a name does in base64url.
pub fn without_tokens(text: &str) -> String {
    let is_of_token =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '=');
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(TOKEN_START) {
        let (before, token) = rest.split_at(start);
        let end = token.find(|letter| !is_of_token(letter)).unwrap_or(token.len());
        shown.push_str(before);
        shown.push_str(if token[..end].contains('.') { MASK } else { &token[..end] });
        rest = &token[end..];
    }
    shown + rest
}

/// A byte that is written in a text, and where.
#[derive(Clone)]
struct EncodedByte {
    byte: u8,
    at: Range<usize>,
}

impl EncodedByte {
    fn plain((at, byte): (usize, u8)) -> Self {
        Self { byte, at: at..at + 1 }
    }

    /// A form has a plus for a space.
    fn is(&self, wanted: u8) -> bool {
        self.byte.eq_ignore_ascii_case(&wanted) || (self.byte == b'+' && wanted == b' ')
    }

    /// The number that some bytes write in hexadecimal digits.
    fn number(digits: &[Self]) -> Option<u32> {
        let digit = |byte: &Self| char::from(byte.byte).to_digit(16);
        digits.iter().try_fold(0, |number, byte| Some(number << 4 | digit(byte)?))
    }
}

/// As base64 has the secret whatever stands before it (RFC 4648 sections 4 and 5), without the letters that say something of its neighbours as well,
/// and in hexadecimal digits.
fn encodings(secret: &str) -> Vec<String> {
    let hex = secret.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let in_base64 = (0..3).flat_map(|before| {
        let placed: Vec<u8> = vec![0; before].into_iter().chain(secret.bytes()).collect();
        let [from, to] = [(before * 8).div_ceil(6), placed.len() * 8 / 6];
        let plain = BASE64_STANDARD_NO_PAD.encode(&placed)[from..to].to_owned();
        let of_urls = plain.replace('+', "-").replace('/', "_");
        let is_other = of_urls != plain;
        [Some(plain), is_other.then_some(of_urls)]
    });
    in_base64.flatten().chain([hex]).filter(|encoded| encoded.len() >= LEAST_ENCODED).collect()
}

/// Whether a text has so many letters and digits in a row as encoded bytes have.
fn may_be_encoded(text: &str) -> bool {
    let is_of_base64 =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/' | '-' | '_');
    text.split(|letter| !is_of_base64(letter)).any(|run| run.len() >= LEAST_ENCODED)
}

fn hide(read: &[EncodedByte], secret: &[u8], hidden: &mut [bool]) {
    let mut cover = |from: &EncodedByte, to: &EncodedByte| hidden[from.at.start..to.at.end].fill(true);
    for at in 0..read.len() {
        let found = read[at..].iter().zip(secret).take_while(|(byte, wanted)| byte.is(**wanted)).count();
        let is_cut_off = found >= LONG_START || (found >= SHORT_START && at + found == read.len());
        if found > 0 && (found == secret.len() || is_cut_off) {
            cover(&read[at], &read[at + found - 1]);
        }
        let before = read[..=at].iter().rev().zip(secret.iter().rev());
        let found = before.take_while(|(byte, wanted)| byte.is(**wanted)).count();
        if found >= LONG_START {
            cover(&read[at + 1 - found], &read[at]);
        }
    }
}

/// What is left once each `%XX`, each escape of JSON or of bytes and each character reference that starts with one of the `marks` is what
/// it stands for.
fn decoded(read: &[EncodedByte], marks: &[u8]) -> Vec<EncodedByte> {
    let mut decoded = Vec::with_capacity(read.len());
    let mut rest = read;
    while let Some(first) = rest.first() {
        let escape = Some(rest).filter(|_| marks.contains(&first.byte)).and_then(escape);
        let (length, symbol) = escape.unwrap_or((1, Escaped::Byte(first.byte)));
        let at = first.at.start..rest[length - 1].at.end;
        match symbol {
            Escaped::Byte(byte) => decoded.push(EncodedByte { byte, at }),
            Escaped::Symbol(symbol) => {
                let mut bytes = [0; 4];
                for byte in symbol.encode_utf8(&mut bytes).bytes() {
                    decoded.push(EncodedByte { byte, at: at.clone() });
                }
            }
        }
        rest = &rest[length..];
    }
    decoded
}

/// What an escape stands for.
enum Escaped {
    Byte(u8),
    Symbol(char),
}

/// The length of the escape that `read` starts with, and what it stands for.
fn escape(read: &[EncodedByte]) -> Option<(usize, Escaped)> {
    let number = |digits: Range<usize>| EncodedByte::number(read.get(digits)?);
    match (read.first()?.byte, read.get(1)?.byte) {
        (b'%', _) => Some((3, Escaped::Byte(number(1..3)? as u8))),
        (b'\\', letter @ (b'"' | b'\'' | b'\\' | b'/')) => Some((2, Escaped::Byte(letter))),
        (b'\\', b't') => Some((2, Escaped::Byte(b'\t'))),
        (b'\\', b'n') => Some((2, Escaped::Byte(b'\n'))),
        (b'\\', b'r') => Some((2, Escaped::Byte(b'\r'))),
        (b'\\', b'0') => Some((2, Escaped::Byte(0))),
        (b'\\', b'x') => Some((4, Escaped::Byte(number(2..4)? as u8))),
        (b'\\', b'u') => Some((6, Escaped::Symbol(char::from_u32(number(2..6)?)?))),
        (b'&', _) => reference(read),
        _ => None,
    }
}

/// The length of the character reference of HTML that `read` starts with, and what it stands for.
fn reference(read: &[EncodedByte]) -> Option<(usize, Escaped)> {
    let length = read.iter().take(LONGEST_REFERENCE).position(|byte| byte.byte == b';')?;
    let name: String =
        read[1..length].iter().map(|byte| char::from(byte.byte).to_ascii_lowercase()).collect();
    let symbol = match (name.strip_prefix("#x"), name.strip_prefix('#')) {
        (Some(digits), _) => char::from_u32(u32::from_str_radix(digits, 16).ok()?)?,
        (None, Some(digits)) => char::from_u32(digits.parse().ok()?)?,
        (None, None) => REFERENCES.into_iter().find(|(known, _)| *known == name)?.1,
    };
    Some((length + 1, Escaped::Symbol(symbol)))
}

/// Those that pages write in place of what HTML itself is written in, and of what tokens and paths hold.
const REFERENCES: [(&str, char); 10] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("equals", '='),
    ("plus", '+'),
    ("sol", '/'),
    ("percnt", '%'),
    ("nbsp", ' '),
];
/// What escapes start with that are decoded together. Whoever escapes in the way of JSON or HTML leaves what a secret has of the others as
/// it is.
const ENCODINGS: [&[u8]; 3] = [br"%\&", br"\", b"&"];
/// Bytes, with both ends.
const LONGEST_REFERENCE: usize = 10;

/// How the base64url of an object starts whose first byte behind the brace is the quotation mark of a name.
const TOKEN_START: &str = "eyJ";
/// Shorter ones would spoil any text.
pub const LEAST_SECRET: usize = 6;
/// More would cost milliseconds of whoever tells a failure.
const MOST_SECRETS: usize = 128;
/// As a secret prints everywhere.
pub const MASK: &str = "***";
/// So often, at most, what a server says again was encoded on its way: by us, by the server, by what stands before it, and once more.
const MOST_ENCODED: usize = 4;
/// Bytes of a secret whose rest is missing.
const LONG_START: usize = 16;
/// As many where the text ends.
const SHORT_START: usize = 6;
/// Letters of an encoded secret, at least.
const LEAST_ENCODED: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_more_secrets_than_are_kept_the_first_go() {
        let mut given = Vec::new();
        for number in 0..=MOST_SECRETS {
            keep(&mut given, &format!("token-{number}"));
            keep(&mut given, "short");
        }
        assert_eq!((given.len(), &*given[0].plain), (MOST_SECRETS, "token-1"));
        assert_eq!(*given.last().unwrap().plain, format!("token-{MOST_SECRETS}"));
    }

    #[test]
    fn a_token_is_masked_wherever_it_stands_and_nothing_else_is() {
        let token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJtZSJ9.c2ln-_s=";
        assert_eq!(without_tokens(&format!("key=\"{token}\", or {token}")), "key=\"***\", or ***");
        assert_eq!(
            without_tokens("eyJ, eyJhbGciOiJub25lIn0 and a.b/eyJx at host.example.org"),
            "eyJ, eyJhbGciOiJub25lIn0 and a.b/eyJx at host.example.org"
        );
    }

    #[test]
    fn a_secret_is_masked_however_it_is_written() {
        let secrets = ["Se cr\u{e9}t%&\"/"];
        let masked = |text: &str| masked(text, &secrets);
        for written in [
            "Se cr\u{e9}t%&\"/",
            "SE CR\u{e9}T%&\"/",
            "Se+cr%C3%A9t%25%26%22/",
            "se%20cr%c3%a9t%25%26%22%2f",
            "%53e%20cr\u{e9}t%&\"/",
            "%53%65%20%63%72%C3%A9%74%25%26%22%2F",
            // Twice.
            "Se%2520cr%25C3%25A9t%2525%2526%2522%252F",
            r#"Se cr\u00e9t%\u0026\"\/"#,
            r#"Se cr\\u00E9t%&\\\"/"#,
            "Se cr&#233;t%&amp;&quot;/",
            "Se&#x20;cr&#xE9;t&percnt;&AMP;&#34;&sol;",
            // A page that shows a query.
            "Se+cr%C3%A9t%25&amp;&quot;%2F",
        ] {
            assert_eq!(
                masked(&format!("you sent \u{e9} {written}, 100% wrong")),
                "you sent \u{e9} ***, 100% wrong"
            );
        }
        for plain in ["no secret: %zz % \\ \\u12 \\ud800", "a & b; &#xd800; &#; &none; &", "&#99999999999;"] {
            assert_eq!(masked(plain), plain);
        }
        assert_eq!(masked(""), "");
    }

    #[test]
    fn a_secret_is_masked_in_base64_wherever_it_starts_and_in_hexadecimal_digits() {
        let secret = "s3cr3t~>??TOKEN-Zq9x7.Kk81";
        for before in ["", "a", "ab", "Bearer "] {
            for after in ["", "z", "zz"] {
                let encoded = BASE64_STANDARD_NO_PAD.encode(format!("{before}{secret}{after}"));
                for written in [encoded.replace('+', "-").replace('/', "_"), encoded] {
                    let told = masked(&format!("got {written}=="), &[secret]);
                    assert!(told.contains(MASK) && told.len() < "got ***==".len() + 16, "{told}");
                }
            }
        }
        let hex: String = secret.bytes().map(|byte| format!("{byte:02X}")).collect();
        assert_eq!(masked(&format!("<{hex}>"), &[secret]), "<***>");
        assert_eq!(masked("shorter", &["s3cr3t"]), "shorter");
    }

    #[test]
    fn the_end_of_a_secret_is_masked_as_its_start_is() {
        let secret = "0123456789abcdefghij";
        for (text, told) in [
            ("<123456789abcdefghij>", "<***>"),
            ("<0123456789abcdefghi>", "<***>"),
            ("<456789abcdefghij and more", "<*** and more"),
            ("<56789abcdefghij and more", "<56789abcdefghij and more"),
        ] {
            assert_eq!(masked(text, &[secret]), told);
        }
    }

    #[test]
    fn a_secret_is_masked_in_the_debug_text_of_bytes() {
        let secrets = ["it's \"p\u{e4}ss\\w\0rd"];
        let bytes = secrets[0].as_bytes();
        for written in [bytes.escape_ascii().to_string(), format!("{secrets:?}"), format!("{:?}", secrets[0])]
        {
            let told = masked(&format!("b\"{written}\" came"), &secrets);
            assert!(told.contains(MASK) && !told.contains("it") && !told.contains("rd"), "{told}");
        }
        let secrets = ["pa%41&amp;ss'\"word"];
        for written in [r#"pa%41&amp;ss'\"word"#, r#"pa%41&amp;ss\'\"word"#, "pa%41&amp;amp;ss'&quot;word"] {
            assert_eq!(masked(written, &secrets), MASK);
        }
        let plain = r"no secret: \x \xz1 \x1 \' \0";
        assert_eq!(masked(plain, &secrets), plain);
    }

    #[test]
    fn what_the_process_was_given_is_masked_in_what_peers_write() {
        for secret in ["given-canary-of-a-run", "given-canary-of-a-run", "abc"] {
            keep_secret(secret);
        }
        assert_eq!(without_secrets("key given-canary-of-a-run, abc"), "key ***, abc");
        assert_eq!(crate::peer_text(&("x".repeat(290) + "given-canary-of-a-run")), "x".repeat(290) + "***");
        assert_eq!(
            crate::peer_bytes(&[b"x".repeat(297).as_slice(), b"given-canary-of-a-run"].concat()),
            "x".repeat(297) + "***"
        );
    }

    #[test]
    fn a_secret_is_masked_whatever_splits_it_that_is_not_shown() {
        let secret = "0123456789/abcdefghij";
        for between in
            ["\n", "\r\n\t", "\0", "\u{202e}", "\u{200b}", "\u{feff}", "\u{fffd}", "%0A", "\\n", "\\u000a"]
        {
            for split in 1..secret.len() {
                let (start, end) = secret.split_at(split);
                let written = format!("bad {start}{between}{end}{between} of yours");
                assert_eq!(masked(&written, &[secret]), format!("bad ***{between} of yours"), "{written:?}");
            }
        }
        assert_eq!(masked("01234\n5, 6789 no", &[secret]), "01234\n5, 6789 no");
    }

    #[test]
    fn a_secret_is_masked_whatever_a_terminal_takes_as_a_whole_within_it() {
        let secret = "0123456789/abcdefghij";
        for between in [
            "\u{ad}",
            "\u{1b}[31m",
            "\u{1b}[0;1m\u{1b}[K",
            "\u{9b}2J",
            "\u{1b}",
            "\r\n  ",
            "\n\t ",
            "\r\n\r\n \t",
        ] {
            for split in 1..secret.len() {
                let (start, end) = secret.split_at(split);
                let written = format!("bad {start}{between}{end} of yours");
                assert_eq!(masked(&written, &[secret]), "bad *** of yours", "{written:?}");
            }
        }
        for plain in ["0123456789 abcdefghij", "0123\u{1b}[31m 456789", "\u{1b}[", "\u{9b}", "a\n "] {
            assert_eq!(masked(plain, &[secret]), plain);
        }
    }

    #[test]
    fn a_secret_that_was_cut_off_is_masked() {
        let secret = "0123456789abcdefghij";
        assert_eq!(masked("bad 0123456789abcdefgh... of yours", &[secret]), "bad ***... of yours");
        assert_eq!(masked("bad 0123456", &[secret]), "bad ***");
        assert_eq!(masked("0123456 is no part, nor is 0123", &[secret]), "0123456 is no part, nor is 0123");
    }
}
