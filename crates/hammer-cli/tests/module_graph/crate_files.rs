//! The sources of a crate by module.

use std::collections::BTreeMap;
use std::path::Path;

use crate::tokens::{Token, tokens, without_tests};

/// A module by its path from the crate's root, which is empty.
pub(crate) type Module = Vec<String>;

/// The code of each file outside of tests. Modules that only tests have are left out.
pub(crate) struct CrateFiles {
    pub(crate) code: BTreeMap<Module, Vec<Token>>,
}

impl CrateFiles {
    /// Reads a folder whose `lib.rs`, or else `main.rs`, is the root.
    pub(crate) fn read(folder: &Path) -> Self {
        let mut texts = BTreeMap::new();
        read_folder(folder, &Module::new(), &mut texts);
        Self::of(texts)
    }

    /// The crate of these texts.
    pub(crate) fn of(texts: BTreeMap<Module, String>) -> Self {
        let mut code = BTreeMap::new();
        let mut of_tests = Vec::new();
        for (module, text) in texts {
            let (tokens, modules) = without_tests(&tokens(&text));
            of_tests.extend(modules.into_iter().map(|name| [module.clone(), vec![name]].concat()));
            code.insert(module, tokens);
        }
        code.retain(|module, _| !of_tests.iter().any(|test| module.starts_with(test)));
        Self { code }
    }

    /// The longest start of a path that is the module of a file, and what the path names in there.
    pub(crate) fn split<'a>(&self, path: &'a [String]) -> (Module, &'a [String]) {
        let length = (0..=path.len()).rev().find(|length| self.code.contains_key(&path[..*length]));
        let (module, rest) = path.split_at(length.unwrap_or_default());
        (module.to_vec(), rest)
    }

    /// Whether the module has a folder of its own.
    pub(crate) fn has_folder(&self, module: &[String]) -> bool {
        self.code.keys().any(|other| other.len() > module.len() && other.starts_with(module))
    }
}

fn read_folder(folder: &Path, above: &Module, texts: &mut BTreeMap<Module, String>) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let module = [above.clone(), vec![name.clone()]].concat();
        // Each file of `src/bin` is a crate of its own.
        if path.is_dir() && module != ["bin"] {
            read_folder(&path, &module, texts);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let is_root = above.is_empty() && (name == "lib" || name == "main");
            texts.insert(
                if is_root { Module::new() } else { module },
                std::fs::read_to_string(&path).unwrap(),
            );
        }
    }
}
