//! What a peer wrote, as it may stand in a report and on a terminal: short, and without a character that a terminal obeys.

use std::borrow::Cow;

use crate::credential::without_credentials;
use crate::masked::without_secrets;
use crate::obeyed::is_obeyed;
use crate::recorder::start_of;

/// What a peer wrote, in [`MOST_PEER_TEXT`] bytes at most. In the place of each character that a terminal obeys (C0, C1), that has no
/// width, or that turns the direction of what stands around it, there is U+FFFD, and `***` in that of each secret that the process was given and of
/// what reads as a credential ([`without_credentials`]).
pub fn peer_text(text: &str) -> String {
    let masked = without_secrets(start_of(text, MOST_LOOKED_AT));
    shown(&without_credentials(&masked), MOST_PEER_TEXT).into_owned()
}

/// As [`peer_text`], of bytes that may be no text.
pub fn peer_bytes(bytes: &[u8]) -> String {
    peer_text(&String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_LOOKED_AT)]))
}

/// How a body starts that is not what it should be, as it may be shown, on one line: a fragment that completes "what is there ...".
pub fn peer_start(bytes: &[u8]) -> String {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_STARTED)]);
    match start.split_whitespace().collect::<Vec<_>>().join(" ") {
        empty if empty.is_empty() => "is empty".to_owned(),
        start => format!("starts with: {}", peer_text(&start)),
    }
}

/// So much of such a body is told, in bytes.
const MOST_STARTED: usize = 60;

/// `text` as it may be shown, in so many bytes at most: as [`peer_text`] has it, of another length.
pub fn shown(text: &str, most: usize) -> Cow<'_, str> {
    let start = start_of(text, most);
    if start.len() == text.len() && !text.contains(is_obeyed) {
        return text.into();
    }
    let visible: String = start
        .chars()
        .map(|letter| if is_obeyed(letter) { char::REPLACEMENT_CHARACTER } else { letter })
        .collect();
    if start.len() == text.len() && visible.len() <= most {
        return visible.into();
    }
    (start_of(&visible, most.saturating_sub(CUT.len())).to_owned() + CUT).into()
}

/// Lines as they may be printed, of whatever length: as [`shown`] has each of them, and with their tabs.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    let is_replaced = |letter| !matches!(letter, '\n' | '\t') && is_obeyed(letter);
    match text.contains(is_replaced) {
        true => text.replace(is_replaced, REPLACEMENT).into(),
        false => text.into(),
    }
}

/// Bytes of what a peer wrote that are shown.
pub const MOST_PEER_TEXT: usize = 300;
/// More than is shown, so that a secret at the end of that is recognised.
const MOST_LOOKED_AT: usize = 2 << 10;
const CUT: &str = "...";
const REPLACEMENT: &str = "\u{fffd}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_and_harmless_stays_as_it_is() {
        for text in ["", "log.example/2026h1", "größer ≠ 中文 🦀", &"x".repeat(MOST_PEER_TEXT)] {
            assert_eq!(peer_text(text), text);
            assert!(matches!(shown(text, MOST_PEER_TEXT), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn no_character_that_a_terminal_obeys_is_left() {
        assert_eq!(
            peer_text("a\u{1b}[2Jb\u{9b}31mc\r\n\td\u{7f}"),
            "a\u{fffd}[2Jb\u{fffd}31mc\u{fffd}\u{fffd}\u{fffd}d\u{fffd}"
        );
        for letter in [
            '\u{ad}', '\u{61c}', '\u{200b}', '\u{200f}', '\u{2028}', '\u{202e}', '\u{2060}', '\u{2066}',
            '\u{2069}', '\u{feff}',
        ] {
            assert_eq!(peer_text(&format!("a{letter}b")), "a\u{fffd}b", "{letter:?}");
        }
    }

    #[test]
    fn of_lines_nothing_but_their_ends_is_obeyed() {
        assert_eq!(shown_lines("a\n\n\tb\n"), "a\n\n\tb\n");
        assert_eq!(shown_lines("a\r\n\u{1b}[2J\n\u{202e}b"), "a\u{fffd}\n\u{fffd}[2J\n\u{fffd}b");
    }

    #[test]
    fn what_is_long_is_cut_between_two_characters() {
        for letter in ["x", "ä", "中", "🦀", "\u{1b}", "\u{202e}"] {
            for before in 0..4 {
                let told = peer_text(&("y".repeat(before) + &letter.repeat(1_000)));
                assert!(told.ends_with("...") && told.len() <= MOST_PEER_TEXT, "{letter:?} {told}");
                assert!(told.len() > MOST_PEER_TEXT - 7, "{letter:?} {}", told.len());
            }
        }
        // What takes its place is longer than a control character.
        let told = peer_text(&"\u{1b}".repeat(150));
        assert!(told.ends_with("...") && told.len() <= MOST_PEER_TEXT, "{told}");
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_what_is_left_of_them() {
        assert_eq!(peer_bytes(b"{\"ok\":true}"), "{\"ok\":true}");
        assert_eq!(peer_bytes(&[b'a', 0xff, 0]), "a\u{fffd}\u{fffd}");
        let told = peer_bytes(&[b'x'; 1 << 20]);
        assert!(told.ends_with("...") && told.len() == MOST_PEER_TEXT, "{}", told.len());
    }
}
