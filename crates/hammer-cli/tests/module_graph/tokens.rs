//! Rust as far as imports need it: words and marks, without comments, literals and tests.

use std::iter::Peekable;
use std::str::Chars;

/// A word, or a single mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Word(String),
    Mark(char),
}

impl Token {
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Mark(_) => None,
        }
    }

    pub(crate) fn is(&self, mark: char) -> bool {
        *self == Self::Mark(mark)
    }
}

/// The words and marks of a source.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '/' if rest.peek() == Some(&'/') => while rest.next_if(|c| *c != '\n').is_some() {},
            '/' if rest.peek() == Some(&'*') => skip_comment(&mut rest),
            '"' => skip_string(&mut rest),
            '\'' => skip_character(&mut rest),
            _ if next.is_alphanumeric() || next == '_' => {
                let mut word = next.to_string();
                while let Some(more) = rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    word.push(more);
                }
                match (word.as_str(), rest.peek()) {
                    ("r" | "br" | "cr", Some('"' | '#')) => skip_raw_string(&mut rest),
                    _ => tokens.push(Token::Word(word)),
                }
            }
            _ if next.is_whitespace() => {}
            _ => tokens.push(Token::Mark(next)),
        }
    }
    tokens
}

fn skip_comment(rest: &mut Peekable<Chars<'_>>) {
    let mut before = ' ';
    for next in rest.skip(1) {
        if before == '*' && next == '/' {
            return;
        }
        before = next;
    }
}

fn skip_string(rest: &mut Peekable<Chars<'_>>) {
    while let Some(next) = rest.next() {
        match next {
            '\\' => drop(rest.next()),
            '"' => return,
            _ => {}
        }
    }
}

/// Skips `#"..."#` with as many marks as there are. A raw identifier (`r#type`) is skipped up to its word.
fn skip_raw_string(rest: &mut Peekable<Chars<'_>>) {
    let mut marks = 0;
    while rest.next_if_eq(&'#').is_some() {
        marks += 1;
    }
    if rest.next_if_eq(&'"').is_none() {
        return;
    }
    let mut found = None;
    while found != Some(marks) {
        let Some(next) = rest.next() else { return };
        found = match (next, found) {
            ('"', _) => Some(0),
            ('#', Some(found)) => Some(found + 1),
            _ => None,
        };
    }
}

/// Skips the rest of a character, or of a lifetime.
fn skip_character(rest: &mut Peekable<Chars<'_>>) {
    let Some(first) = rest.next() else { return };
    if first == '\\' {
        rest.next();
        for next in rest {
            if next == '\'' {
                return;
            }
        }
    } else if rest.next_if_eq(&'\'').is_none() {
        while rest.next_if(|c| c.is_alphanumeric() || *c == '_').is_some() {}
    }
}

/// The tokens without the items under `#[cfg(test)]`, and the names of the modules among those that are files.
pub(crate) fn without_tests(tokens: &[Token]) -> (Vec<Token>, Vec<String>) {
    let (mut kept, mut modules, mut at) = (Vec::new(), Vec::new(), 0);
    while at < tokens.len() {
        let Some(after) = attribute(tokens, at) else {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        };
        if !is_for_tests(&tokens[at..after]) {
            kept.extend_from_slice(&tokens[at..after]);
            at = after;
            continue;
        }
        at = after;
        while let Some(after) = attribute(tokens, at) {
            at = after;
        }
        let end = item_end(tokens, at);
        let item = &tokens[at..end];
        let place = item.iter().position(|token| token.word() == Some("mod"));
        if let (Some(place), Some(Token::Mark(';'))) = (place, item.last()) {
            modules.extend(item[place + 1].word().map(str::to_owned));
        }
        at = end;
    }
    (kept, modules)
}

/// The end of the attribute that starts there, where one does.
fn attribute(tokens: &[Token], at: usize) -> Option<usize> {
    let is_one = tokens.get(at)?.is('#') && tokens.get(at + 1)?.is('[');
    is_one.then(|| closing(tokens, at + 1))
}

fn is_for_tests(attribute: &[Token]) -> bool {
    let has = |word| attribute.iter().any(|token| token.word() == Some(word));
    has("cfg") && has("test") && !has("not")
}

/// The end of an item: after its block, or its semicolon; a field or variant ends with its comma.
fn item_end(tokens: &[Token], mut at: usize) -> usize {
    let mut head = tokens[at..].iter().take_while(|token| !token.is('{') && !token.is(';'));
    let is_use = head.any(|token| token.word() == Some("use"));
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Mark('{') if !is_use => return closing(tokens, at),
            Token::Mark('(' | '[' | '{') => at = closing(tokens, at),
            Token::Mark(';' | ',') => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// The place after the bracket that closes the one at `at`.
fn closing(tokens: &[Token], mut at: usize) -> usize {
    let mut depth = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    at
}

#[test]
fn comments_literals_and_tests_are_left_out() {
    let text = r##"
        // crate::a
        /* crate::b */ use crate::c; const D: &str = "crate::d \" crate::d"; const E: &str = r#"crate::e" "#;
        fn f<'a>(g: &'a str) -> char { '"' }
        #[cfg(test)] mod h;
        #[cfg(test)] #[expect(x)] mod i { use crate::i; }
        #[cfg(test)] use crate::{j, k};
        #[cfg(not(test))] use crate::l;
    "##;
    let (kept, modules) = without_tests(&tokens(text));
    let words: Vec<_> = kept.iter().filter_map(Token::word).collect();
    let expected = "use crate c const D str const E str fn f g str char cfg not test use crate l";
    assert_eq!((words.join(" ").as_str(), modules), (expected, vec!["h".to_owned()]));
}
