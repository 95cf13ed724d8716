//! What a server said with a failure, or why it said nothing, as it may stand in a report: short, on one line, without what was secret.

use std::net::SocketAddr;

use hammer_core::record::StepGuard;
use hammer_measure::credential::without_credentials;
use hammer_measure::masked::{LEAST_SECRET, MASK, masked, without_secrets};
use hammer_measure::recorder::MOST_ANSWER_BYTES;
use hammer_measure::shown;
use hammer_net::Failure;

/// Tells `step` what the server said with its failure. None of the `secrets` is in it, nor a JSON Web Token, nor
/// what its parameter's name says is a credential in the query of a URL.
pub(crate) fn tell_said(step: &mut StepGuard<'_>, said: &[u8], secrets: &[String]) {
    let text = excerpt(said, secrets);
    if !text.is_empty() {
        step.says(text);
    }
}

/// Tells `step` where and why there was no answer, likewise.
#[cold]
pub(crate) fn tell_failed(
    step: &mut StepGuard<'_>,
    failure: &Failure,
    peer: Option<SocketAddr>,
    secrets: &[String],
) {
    let peer = peer.map(|peer| peer.to_string()).filter(|peer| !failure.detail.contains(peer.as_str()));
    let at = peer.map_or_else(String::new, |peer| format!("{peer}: "));
    let mut told = excerpt(format!("{at}failed to {failure}").as_bytes(), secrets);
    if let Some(seen) = &failure.seen {
        // Masked by itself: a secret that its end cuts off is recognised at the end of a text alone.
        let seen = excerpt(escaped(seen, secrets).as_bytes(), secrets);
        told += &format!("; what came starts with \"{seen}\"");
    }
    step.says(shown(&told, MOST_ANSWER_BYTES).into_owned());
}

/// The start of what was said, as [`tell_said`] tells it.
pub(crate) fn excerpt(said: &[u8], secrets: &[String]) -> String {
    // More than is kept, so that a secret at the end of that is recognised.
    let text = String::from_utf8_lossy(&said[..said.len().min(MOST_LOOKED_AT)]);
    if text.chars().take(MOST_ANSWER_BYTES).filter(|letter| *letter == char::REPLACEMENT_CHARACTER).count()
        > 3
    {
        return format!("{} bytes or more that are no text", said.len());
    }
    // Where it leads a client to, as with a redirect, it gives that one a credential of its own.
    let text = without_credentials(&without_tokens(&without(&text, secrets)));
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
            break;
        }
    }
    shown(&line, MOST_ANSWER_BYTES).into_owned()
}

/// The text, without those secrets and those that the process was given.
fn without(text: &str, secrets: &[String]) -> String {
    let long_enough = |secret: &&str| secret.len() >= LEAST_SECRET;
    let mut secrets: Vec<&str> = secrets.iter().map(String::as_str).filter(long_enough).collect();
    secrets.dedup();
    without_secrets(&masked(text, &secrets)).into_owned()
}

/// The bytes, each that is not visible in ASCII as its escape. What is text among them is masked as it came: what a secret has that looks
/// like an escape would stand for something else, once there are others.
fn escaped(bytes: &[u8], secrets: &[String]) -> String {
    let escaped = bytes.utf8_chunks().flat_map(|chunk| {
        let text = without(chunk.valid(), secrets).as_bytes().escape_ascii().to_string();
        [text, chunk.invalid().escape_ascii().to_string()]
    });
    escaped.collect()
}

/// The text, with a mask in the place of each JSON Web Token (RFC 7519): words of base64url with dots between them.
fn without_tokens(text: &str) -> String {
    let is_of_token = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let (mut masked, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(is_of_token) {
        let words = &rest[start..];
        let words = &words[..words.find(|letter| !is_of_token(letter)).unwrap_or(words.len())];
        masked.push_str(&rest[..start]);
        rest = &rest[start + words.len()..];
        match token_in(words, rest.is_empty()) {
            Some(token) => {
                masked.push_str(&words[..token]);
                masked.push_str(MASK);
                rest = rest.trim_start_matches('=');
            }
            None => masked.push_str(words),
        }
    }
    masked + rest
}

/// Where a token starts in such words; `is_end` says that the text ends behind them, which may have cut it off.
fn token_in(words: &str, is_end: bool) -> Option<usize> {
    let mut each = words.split('.').map(str::len);
    let are_long = each.next() >= Some(LEAST_WORD) && each.next() >= Some(LEAST_WORD);
    let is_cut_off = is_end && words.len() > LONGEST_WORD && words.starts_with("ey");
    if is_cut_off || (are_long && each.next().is_some()) {
        return Some(0);
    }
    // An object that starts with a name at once, as nearly all do.
    let start = words.find("eyJ")?;
    let token = &words[start..];
    (token.contains('.') || token.len() > LONGEST_WORD).then_some(start)
}

/// Bytes of an answer.
const MOST_LOOKED_AT: usize = 2 << 10;
const LONGEST_WORD: usize = 40;
/// Letters of each part of a token before its signature; names of hosts and of classes have shorter ones.
const LEAST_WORD: usize = 16;

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
        assert_eq!(excerpt(&[0xff, 0xfe, 0x80, 0x81, 0x30], &[]), "5 bytes or more that are no text");
        let long = excerpt("ä word ".repeat(200).as_bytes(), &[]);
        assert!(long.len() <= MOST_ANSWER_BYTES && long.ends_with("..."), "{long}");
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_told() {
        assert_eq!(
            excerpt("no \u{1b}[2J\u{9b}31m\u{202e}way\u{200b}".as_bytes(), &[]),
            "no [2J 31m\u{fffd}way\u{fffd}"
        );
    }

    #[test]
    fn no_token_and_no_secret_is_told() {
        let token = format!("eyJhbGciOiJFUzI1NiJ9.{}.c2ln", "eyJp".repeat(8_000));
        for said in [format!("bad token {token} of yours"), format!("\"{token}\""), token] {
            let told = excerpt(said.as_bytes(), &[]);
            assert!(told.contains("***") && !told.contains("eyJ"), "{told}");
        }
        assert_eq!(excerpt(b"key eyJ is short", &[]), "key eyJ is short");
        assert_eq!(
            excerpt(b"opaque-secret: not opaque-secret", &["opaque-secret".to_owned()]),
            "***: not ***"
        );
        assert_eq!(excerpt(b"a b", &["a".to_owned()]), "a b");
    }

    #[test]
    fn what_is_told_of_bytes_has_no_secret_however_its_letters_are_escaped() {
        let secrets = ["it's-a-secret", "p\u{e4}'ss-w\u{f6}rt\"long", "back\\slash\\'ed", "pa%41ss'word"];
        let secrets = secrets.map(str::to_owned);
        for secret in &secrets {
            let told =
                excerpt(escaped(format!("HI {secret}\r\n\0").as_bytes(), &secrets).as_bytes(), &secrets);
            assert_eq!(told, r"HI ***\r\n\x00");
            let debugged = format!("GOAWAY: b\"{}\"", secret.as_bytes().escape_ascii());
            assert_eq!(excerpt(debugged.as_bytes(), &secrets), "GOAWAY: b\"***\"");
        }
        assert_eq!(escaped(b"\xff\x16it's-a-secret\xfe", &secrets), r"\xff\x16***\xfe");
    }

    #[test]
    fn a_url_that_a_server_says_has_no_credential_in_it() {
        assert_eq!(
            excerpt(b"<a href=\"http://a/b?page=2&amp;X-Goog-Signature=canary\">moved</a>", &[]),
            "<a href=\"http://a/b?page=2&amp;X-Goog-Signature=***\">moved</a>"
        );
        assert_eq!(
            excerpt(br#"{"location":"/b?page=2\u0026sig=canary", "code": 7}"#, &[]),
            r#"{"location":"/b?page=2\u0026sig=***", "code": 7}"#
        );
        assert_eq!(excerpt(b"see /b?sig=opaque-secret", &["opaque-secret".to_owned()]), "see /b?sig=***");
    }

    #[test]
    fn a_token_is_recognised_whatever_its_objects_start_with() {
        // `{ "alg"...`
        let header = "eyAiYWxnIjoiRVMyNTYifQ";
        for (said, told) in [
            (format!("bad {header}.{header}.c2ln, really"), "bad ***, really".to_owned()),
            (format!("token={header}.{header}.c2ln=="), "token=***".to_owned()),
            (format!("{header}.{}", "eyAi".repeat(8_000)), "***".to_owned()),
            (
                "no java.lang.IllegalArgumentException at fulcio.sigstore-system.svc.cluster.local"
                    .to_owned(),
                "no java.lang.IllegalArgumentException at fulcio.sigstore-system.svc.cluster.local"
                    .to_owned(),
            ),
        ] {
            assert_eq!(excerpt(said.as_bytes(), &[]), told);
        }
    }
}
