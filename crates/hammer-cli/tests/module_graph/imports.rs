//! The paths of a file that name something of its own crate.

use std::collections::BTreeSet;

use crate::crate_files::Module;
use crate::tokens::Token;

/// What a file names of its crate.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Imports {
    /// Every path, from the crate's root on.
    pub(crate) paths: BTreeSet<Vec<String>>,
    /// The names that its `use` declarations bring in from the crate.
    pub(crate) names: BTreeSet<String>,
}

/// What the file of `module` names of its crate; `children` are the modules that it declares.
pub(crate) fn imports(module: &Module, tokens: &[Token], children: &[String]) -> Imports {
    let mut reader = Reader { inline: vec![(module.clone(), -1)], children, found: Imports::default() };
    let (mut at, mut depth) = (0, 0);
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Word(word) if word == "use" => {
                let end = at + tokens[at..].iter().position(|token| token.is(';')).unwrap_or(1);
                reader.declaration(&tokens[at + 1..end]);
                at = end;
            }
            Token::Word(word) if word == "mod" && tokens.get(at + 2).is_some_and(|next| next.is('{')) => {
                reader.enter(tokens[at + 1].word().unwrap_or_default(), depth);
                (at, depth) = (at + 3, depth + 1);
            }
            Token::Word(_) => at = reader.path(tokens, at),
            Token::Mark(mark) => {
                depth += i32::from(*mark == '{') - i32::from(*mark == '}');
                reader.inline.retain(|(_, outside)| depth > *outside);
                at += 1;
            }
        }
    }
    reader.found
}

struct Reader<'a> {
    /// The modules that the place lies in, the file's first, and the depth of braces outside of each, which is
    /// less than any for the file.
    inline: Vec<(Module, i32)>,
    children: &'a [String],
    found: Imports,
}

impl Reader<'_> {
    fn enter(&mut self, name: &str, depth: i32) {
        let module = [self.module(), vec![name.to_owned()]].concat();
        self.inline.push((module, depth));
    }

    fn module(&self) -> Module {
        self.inline.last().map(|(module, _)| module.clone()).unwrap_or_default()
    }

    /// The path from the crate's root on; none where it leads out of the crate.
    fn absolute(&self, path: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        let mut module = self.module();
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([&module, rest].concat()),
            "super" => {
                module.pop();
                let more = rest.iter().take_while(|word| *word == "super").count();
                module.truncate(module.len().saturating_sub(more));
                Some([&module, &rest[more..]].concat())
            }
            first if self.children.iter().any(|child| child == first) => Some([&module, path].concat()),
            _ => None,
        }
    }

    /// Takes a `use` declaration, without the word and the semicolon.
    fn declaration(&mut self, tree: &[Token]) {
        for (path, alias) in leaves(tree, &[]) {
            let Some(path) = self.absolute(&path) else { continue };
            if self.inline.len() == 1 {
                self.found.names.extend(alias.or_else(|| path.last().cloned()));
            }
            self.found.paths.insert(path);
        }
    }

    /// Takes the path that starts there, if one does; the place after it.
    fn path(&mut self, tokens: &[Token], start: usize) -> usize {
        let (mut path, mut at) = (Vec::new(), start);
        while let Some(word) = tokens.get(at).and_then(Token::word) {
            path.push(word.to_owned());
            at += 1;
            match tokens.get(at..at + 3) {
                Some([Token::Mark(':'), Token::Mark(':'), Token::Word(_)]) => at += 2,
                _ => break,
            }
        }
        let before = |marks: usize| start.checked_sub(marks).map(|at| &tokens[at]);
        // `pub(in crate::a)` imports nothing.
        let is_visibility =
            before(1).and_then(Token::word) == Some("in") && before(2).is_some_and(|t| t.is('('));
        let continues = before(1).is_some_and(|token| token.is(':')) && before(2).is_some_and(|t| t.is(':'));
        if path.len() > 1 && !is_visibility && !continues {
            self.found.paths.extend(self.absolute(&path));
        }
        at
    }
}

/// The paths of a `use` tree, and the other names that they get.
fn leaves(tree: &[Token], above: &[String]) -> Vec<(Vec<String>, Option<String>)> {
    let (mut path, mut alias, mut at) = (above.to_vec(), None, 0);
    while let Some(token) = tree.get(at) {
        match token {
            Token::Mark('{') => return branches(&tree[at + 1..tree.len() - 1], &path),
            Token::Word(word) if word == "as" => {
                alias = tree.get(at + 1).and_then(Token::word).map(str::to_owned);
                break;
            }
            Token::Word(word) if word == "self" && !path.is_empty() => {}
            Token::Word(word) => path.push(word.clone()),
            Token::Mark(_) => {}
        }
        at += 1;
    }
    vec![(path, alias)]
}

fn branches(list: &[Token], above: &[String]) -> Vec<(Vec<String>, Option<String>)> {
    let mut depth = 0;
    let each = list.split(|token| {
        depth += i32::from(token.is('{')) - i32::from(token.is('}'));
        depth == 0 && token.is(',')
    });
    each.filter(|branch| !branch.is_empty()).flat_map(|branch| leaves(branch, above)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokens;

    fn found(module: &str, text: &str) -> (Vec<String>, Vec<String>) {
        let module: Module = module.split('/').map(str::to_owned).collect();
        let Imports { paths, names } = imports(&module, &tokens(text), &["child".to_owned()]);
        (paths.iter().map(|path| path.join("::")).collect(), names.into_iter().collect())
    }

    #[test]
    fn trees_of_use_are_read_to_their_leaves() {
        let text =
            "use std::fmt; pub(crate) use crate::{a::{B, c::D as E}, f}; use super::{self, G}; use child::H;";
        let (paths, names) = found("x/y", text);
        assert_eq!(paths, ["a::B", "a::c::D", "f", "x", "x::G", "x::y::child::H"]);
        assert_eq!(names, ["B", "E", "G", "H", "f", "x"]);
    }

    #[test]
    fn paths_in_code_count_and_visibilities_do_not() {
        let text =
            "pub(in crate::a) fn b(c: &crate::d::E) { child::f(); other::child::g(); for h in super::I {} }";
        assert_eq!(found("x/y", text).0, ["d::E", "x::I", "x::y::child::f"]);
    }

    #[test]
    fn a_path_in_an_inline_module_starts_there() {
        let text = "mod inner { use super::A; fn b() { super::super::c(); } } fn d() { super::e(); }";
        assert_eq!(found("x/y", text).0, ["x::c", "x::e", "x::y::A"]);
    }
}
