//! A type's name stands for one type of its crate, so that a search for it finds what it says.
//!
//! A type is a `struct`, an `enum`, a `union`, a `trait`, or a `type` of a module; one of an `impl` or of a trait has its
//! name from there.

use std::collections::{BTreeMap, BTreeSet};

use crate::crate_files::{CrateFiles, Module};
use crate::tokens::Token;

/// Files that stand for others where a processor lacks what those need, by crate: each of their types has the name of the
/// one that it stands for.
const MIRRORS: [(&str, &str); 1] = [("hammer-p256", "wide/absent")];

#[test]
fn no_two_types_of_a_crate_share_a_name() {
    let mut problems = Vec::new();
    for (name, folder) in crate::crates() {
        let mut types = types(&CrateFiles::read(&folder.join("src")));
        types.retain(|(_, file)| !is_mirror(&name, file));
        println!("{name}: {} types", types.len());
        problems.extend(shared(&types).into_iter().map(|problem| format!("{name}: {problem}")));
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn every_type_of_a_mirror_has_the_name_of_the_one_that_it_stands_for() {
    for (name, folder) in crate::crates() {
        let types = types(&CrateFiles::read(&folder.join("src")));
        let (mirrors, others): (Vec<_>, Vec<_>) = types.iter().partition(|(_, file)| is_mirror(&name, file));
        let files: BTreeSet<_> = mirrors.iter().map(|(_, file)| file).collect();
        let listed = MIRRORS.iter().filter(|(of, _)| *of == name).count();
        assert_eq!(files.len(), listed, "{name}: a file without types is no mirror; take it from the list");
        for (mirror, file) in mirrors {
            let is_there = others.iter().any(|(other, _)| other == mirror);
            assert!(is_there, "{name}: {file} has {mirror}, which stands for nothing");
        }
    }
}

fn is_mirror(name: &str, file: &str) -> bool {
    MIRRORS.contains(&(name, file))
}

/// The types of a crate, each with its file.
fn types(files: &CrateFiles) -> Vec<(String, String)> {
    let of_file = |(module, code): (&Module, &Vec<Token>)| {
        let file = if module.is_empty() { "the root".to_owned() } else { module.join("/") };
        declared(code).into_iter().map(move |name| (name, file.clone())).collect::<Vec<_>>()
    };
    files.code.iter().flat_map(of_file).collect()
}

/// The names of the types that a file declares.
fn declared(code: &[Token]) -> Vec<String> {
    let mut names = Vec::new();
    // Whether the braces that the place lies in are of modules alone.
    let mut braces: Vec<bool> = Vec::new();
    for (at, token) in code.iter().enumerate() {
        let next = || code.get(at + 1).and_then(Token::word);
        match token {
            Token::Mark('{') => {
                let is_module = at > 1 && code[at - 2].word() == Some("mod");
                braces.push(is_module && braces.last().is_none_or(|outside| *outside));
            }
            Token::Mark('}') => drop(braces.pop()),
            Token::Word(word) => match word.as_str() {
                "struct" | "enum" | "union" | "trait" => names.extend(next().map(str::to_owned)),
                "type" if braces.last().is_none_or(|of_modules| *of_modules) => {
                    names.extend(next().map(str::to_owned));
                }
                _ => {}
            },
            Token::Mark(_) => {}
        }
    }
    names
}

/// The names that more than one type has, with their files.
fn shared(types: &[(String, String)]) -> Vec<String> {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, file) in types {
        by_name.entry(name).or_default().push(file);
    }
    let shared = by_name.into_iter().filter(|(_, files)| files.len() > 1);
    shared.map(|(name, files)| format!("{name} is a type of {}", files.join(" and of "))).collect()
}

#[test]
fn a_name_is_told_wherever_its_second_type_stands() {
    let files = [
        ("", "pub struct A; pub(crate) enum B<'a> { C } mod d { pub trait E {} pub type F = u8; }"),
        ("g", "fn h() { struct A(u8); } union B { i: u8 } mod j { type E = u8; }"),
        ("g/k", "impl Iterator for A { type F = u8; } trait L { type F; type A; } use crate::g::B;"),
        ("g/m", "pub struct Macro; macro_rules! n { ($t:ident) => { struct $t; } } // struct A;"),
        ("g/o", "#[cfg(test)] mod tests { struct A; }"),
        ("p", "type F = fn(&str) -> &'static str; const UNIONS: &str = \"struct A;\";"),
    ];
    let module = |path: &str| path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let texts = files.iter().map(|(path, text)| (module(path), (*text).to_owned()));
    let expected = [
        "A is a type of the root and of g",
        "B is a type of the root and of g",
        "E is a type of the root and of g",
        "F is a type of the root and of p",
    ];
    assert_eq!(shared(&types(&CrateFiles::of(texts.collect()))), expected);
}
