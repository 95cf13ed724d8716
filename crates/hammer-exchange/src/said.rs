//! What a server said with a failure, as it may stand in a report: short, on one line, without what was secret.

use std::borrow::Cow;

use hammer_core::record::StepGuard;
use hammer_measure::recorder::{MOST_ANSWER_BYTES, start_of};

/// Tells `step` what the server said with its failure. None of the `secrets` is in it, nor a JSON Web Token.
pub fn tell_said(step: &mut StepGuard<'_>, said: &[u8], secrets: &[&[u8]]) {
    let text = excerpt(said, secrets);
    if !text.is_empty() {
        step.says(text);
    }
}

/// The start of what was said.
fn excerpt(said: &[u8], secrets: &[&[u8]]) -> String {
    // More than is kept, so that a secret at the end of that is recognised.
    let text = String::from_utf8_lossy(&said[..said.len().min(MOST_LOOKED_AT)]);
    if text.chars().take(MOST_ANSWER_BYTES).filter(|letter| *letter == char::REPLACEMENT_CHARACTER).count()
        > 3
    {
        return format!("{} bytes that are no text", said.len());
    }
    let text = secrets.iter().fold(text, |text, secret| match std::str::from_utf8(secret) {
        Ok(secret) if secret.len() >= LEAST_SECRET && text.contains(secret) => {
            Cow::Owned(text.replace(secret, MASK))
        }
        _ => text,
    });
    let text = without_tokens(&text);
    let mut line = String::with_capacity(MOST_ANSWER_BYTES);
    for word in text.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > MOST_ANSWER_BYTES {
            line.truncate(start_of(&line, MOST_ANSWER_BYTES - CUT.len()).len());
            line.push_str(CUT);
            break;
        }
    }
    line
}

/// The text, with a mask in the place of each JSON Web Token: `eyJ`, which is `{"` in base64url, and a dot.
fn without_tokens(text: &str) -> String {
    let is_of_token =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '=');
    let (mut masked, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find("eyJ") {
        let token = &rest[start..];
        let end = token.find(|letter| !is_of_token(letter)).unwrap_or(token.len());
        masked.push_str(&rest[..start]);
        // One that was cut off by the end of what is looked at may have lost its dots.
        let is_token = token[..end].contains('.') || end > LONGEST_WORD;
        masked.push_str(if is_token { MASK } else { &token[..end] });
        rest = &token[end..];
    }
    masked + rest
}

/// As a secret prints everywhere.
const MASK: &str = "***";
const CUT: &str = "...";
/// Bytes of an answer.
const MOST_LOOKED_AT: usize = 16 << 10;
/// Shorter ones would spoil any text.
const LEAST_SECRET: usize = 6;
const LONGEST_WORD: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_stands_on_one_line_and_is_short() {
        assert_eq!(
            excerpt(b"{\"code\":3,\n  \"message\":\"no\\n\"}\r\n", &[]),
            r#"{"code":3, "message":"no\n"}"#
        );
        assert_eq!(excerpt(b"  \n", &[]), "");
        assert_eq!(excerpt(&[0xff, 0xfe, 0x80, 0x81, 0x30], &[]), "5 bytes that are no text");
        let long = excerpt("ä word ".repeat(200).as_bytes(), &[]);
        assert!(long.len() <= MOST_ANSWER_BYTES && long.ends_with("..."), "{long}");
    }

    #[test]
    fn no_token_and_no_secret_is_told() {
        let token = format!("eyJhbGciOiJFUzI1NiJ9.{}.c2ln", "eyJp".repeat(8_000));
        for said in [format!("bad token {token} of yours"), format!("\"{token}\""), token] {
            let told = excerpt(said.as_bytes(), &[]);
            assert!(told.contains("***") && !told.contains("eyJ"), "{told}");
        }
        assert_eq!(excerpt(b"key eyJ is short", &[]), "key eyJ is short");
        assert_eq!(excerpt(b"opaque-secret: not opaque-secret", &[b"opaque-secret"]), "***: not ***");
        assert_eq!(excerpt(b"a b", &[b"a"]), "a b");
    }
}
