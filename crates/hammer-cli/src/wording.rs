//! What libraries say of numbers, files, JSON and PEM, in plain words.

use std::borrow::Cow;

/// The same without the words of the libraries that this program is made of.
pub(crate) fn in_plain_words(said: &str) -> String {
    let said = PLAIN.iter().fold(Cow::from(said), |said, (words, plain)| match said.contains(words) {
        true => said.replace(words, plain).into(),
        false => said,
    });
    let said = with_places(&said);
    with_ranges(&of_base64(&without_numbers(&said)))
}

/// Without the numbers by which the kernel calls its errors.
fn without_numbers(said: &str) -> String {
    let mut parts = said.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |said, part| match part.split_once(')') {
        Some((number, rest)) if number.bytes().all(|digit| digit.is_ascii_digit()) => said + rest,
        _ => said + " (os error " + part,
    })
}

/// Without what a reader of base64 calls what is none.
fn of_base64(said: &str) -> String {
    match said.split_once("base64 decode error: ") {
        Some((before, rest)) => {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            format!("{before}what stands between BEGIN and END is no base64{}", &rest[end..])
        }
        None => said.to_owned(),
    }
}

/// With `expected 1 to 65535` in place of `0 is not in 1..65536`.
fn with_ranges(said: &str) -> String {
    let Some((before, rest)) = said.split_once(" is not in ") else { return said.to_owned() };
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | '='));
    let (range, rest) = rest.split_at(end.unwrap_or(rest.len()));
    let start = before.rfind(' ').map_or(0, |space| space + 1);
    let expected = match range.split_once("..").map(|(least, most)| (least, most.trim_start_matches('='))) {
        Some((least, "" | "18446744073709551615" | "4294967295")) => format!("it must be {least} at least"),
        Some((least, most)) => format!("expected {least} to {most}"),
        None => return said.to_owned(),
    };
    format!("{}{expected}{rest}", &before[..start])
}

/// With a comma and no `at` before a place in JSON, and of an empty text without one.
fn with_places(said: &str) -> String {
    said.replace(" at line 1 column 0", "").replace(" at line ", ", line ")
}

/// What is said, and what is said instead.
const PLAIN: [(&str, &str); 22] = [
    ("missing field `", "it lacks `"),
    ("invalid digit found in string", "expected a whole number"),
    ("cannot parse integer from empty string", "expected a whole number"),
    ("invalid float literal", "expected a number"),
    ("cannot parse float from empty string", "expected a number"),
    ("number too large to fit in target type", "no number here is as large"),
    ("number too small to fit in target type", "no number here is as small"),
    ("stream did not contain valid UTF-8", "it is no text in UTF-8"),
    ("EOF while parsing a value at line 1 column 0", "it is empty"),
    ("EOF while parsing a value", "it ends in the middle"),
    ("EOF while parsing a list", "it ends in the middle"),
    ("EOF while parsing an object", "it ends in the middle"),
    ("EOF while parsing a string", "it ends in the middle"),
    ("expected value at line", "it is no JSON at line"),
    ("expected ident at line", "it is no JSON at line"),
    ("key must be a string at line", "it is no JSON at line"),
    ("trailing characters at line", "more than one value at line"),
    ("I/O error: ", ""),
    ("no items found", "there is none in it"),
    ("keys may not be consistent: KeyMismatch", "the key is that of another certificate"),
    ("as a URL: empty string", "as a URL: it is empty"),
    ("invalid uri character", "it has a character that no URL has, as a space"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libraries_say_is_told_without_types_and_numbers_of_errors() {
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap_err().to_string();
        for (said, plain) in [
            ("x".parse::<u8>().unwrap_err().to_string(), "expected a whole number"),
            ("300".parse::<u8>().unwrap_err().to_string(), "no number here is as large"),
            ("x".parse::<f64>().unwrap_err().to_string(), "expected a number"),
            (std::io::Error::from_raw_os_error(2).to_string(), "No such file or directory"),
            (format!("a: {}; b", std::io::Error::from_raw_os_error(2)), "a: No such file or directory; b"),
            ("0 is not in 1..18446744073709551615".to_owned(), "it must be 1 at least"),
            ("for '-p': 300 is not in 0..=255\n".to_owned(), "for '-p': expected 0 to 255\n"),
            (
                "a: base64 decode error: InvalidCharacter(33)\nb".to_owned(),
                "a: what stands between BEGIN and END is no base64\nb",
            ),
            (json(""), "it is empty"),
            (json("{\"a\": "), "it ends in the middle, line 1 column 6"),
            (json("words"), "it is no JSON, line 1 column 1"),
        ] {
            assert_eq!(in_plain_words(&said), plain, "{said}");
        }
    }
}
