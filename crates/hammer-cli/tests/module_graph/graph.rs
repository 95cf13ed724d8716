//! Files and the arrows between them.

use std::collections::{BTreeMap, BTreeSet};

use crate::crate_files::{CrateFiles, Module};
use crate::imports::{Imports, imports};

/// An arrow between two files, and the name for which it is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrow {
    from: Module,
    to: Module,
    name: String,
}

/// Which file of a crate imports which.
pub(crate) struct ModuleGraph {
    arrows: BTreeSet<Arrow>,
    imports: BTreeMap<Module, Imports>,
    /// The modules with a folder of their own.
    folders: BTreeSet<Module>,
}

impl ModuleGraph {
    pub(crate) fn of(files: &CrateFiles) -> Self {
        let is_child =
            |module: &Module, other: &Module| other.len() == module.len() + 1 && other.starts_with(module);
        let imports: BTreeMap<_, _> = files
            .code
            .iter()
            .map(|(module, code)| {
                let children = files.code.keys().filter(|other| is_child(module, other));
                let children: Vec<_> = children.filter_map(|child| child.last().cloned()).collect();
                (module.clone(), imports(module, code, &children))
            })
            .collect();
        let arrows = imports.iter().flat_map(|(from, found)| {
            found.paths.iter().map(move |path| {
                let (to, rest) = files.split(path);
                Arrow { from: from.clone(), to, name: rest.first().cloned().unwrap_or_default() }
            })
        });
        let arrows = arrows.filter(|arrow| arrow.from != arrow.to).collect();
        let folders = files.code.keys().filter(|module| files.has_folder(module)).cloned().collect();
        Self { arrows, imports, folders }
    }

    pub(crate) fn files(&self) -> usize {
        self.imports.len()
    }

    pub(crate) fn arrows(&self) -> usize {
        self.arrows.len()
    }

    /// What the file names of its crate, from the crate's root on.
    pub(crate) fn paths(&self, module: &Module) -> impl Iterator<Item = &[String]> {
        self.imports.get(module).into_iter().flat_map(|found| &found.paths).map(Vec::as_slice)
    }

    /// The arrows that lead upward.
    pub(crate) fn upward(&self) -> Vec<String> {
        let passed_on = self.arrows.iter().filter(|arrow| self.is_passed_on(arrow));
        let told = |arrow: &Arrow, why: &str| {
            format!("{} imports {} from {}: {why}", text(&arrow.from), arrow.name, text(&arrow.to))
        };
        let mut upward: Vec<_> = passed_on
            .map(|arrow| told(arrow, "it belongs to another file, which is to be imported"))
            .collect();
        for (rooms, arrows) in self.rooms_in_circles() {
            let why =
                format!("the rooms {} import each other", rooms.into_iter().collect::<Vec<_>>().join(", "));
            upward.extend(arrows.into_iter().map(|arrow| told(arrow, &why)));
        }
        upward
    }

    /// Whether a file imports from the face of a room that it lies in what that face imports.
    fn is_passed_on(&self, Arrow { from, to, name }: &Arrow) -> bool {
        from.starts_with(to) && self.imports[to].names.contains(name)
    }

    /// Rooms of one parent that import each other, at least one of which has a folder, and the arrows between them.
    fn rooms_in_circles(&self) -> Vec<(BTreeSet<String>, Vec<&Arrow>)> {
        let mut between: BTreeMap<Module, BTreeMap<(Module, Module), Vec<&Arrow>>> = BTreeMap::new();
        for arrow in &self.arrows {
            let shared = arrow.from.iter().zip(&arrow.to).take_while(|(one, other)| one == other).count();
            // A room and its own face are no neighbours.
            if shared < arrow.from.len() && shared < arrow.to.len() {
                let rooms = (arrow.from[..=shared].to_vec(), arrow.to[..=shared].to_vec());
                let parent = arrow.from[..shared].to_vec();
                between.entry(parent).or_default().entry(rooms).or_default().push(arrow);
            }
        }
        let mut found = Vec::new();
        for arrows in between.into_values() {
            for circle in circles(arrows.keys().map(|(from, to)| (from, to))) {
                if circle.iter().any(|room| self.folders.contains(room)) {
                    let within =
                        arrows.iter().filter(|((from, to), _)| circle.contains(from) && circle.contains(to));
                    let within = within.flat_map(|(_, arrows)| arrows.iter().copied()).collect();
                    found.push((circle.iter().map(|room| text(room)).collect(), within));
                }
            }
        }
        found
    }

    /// The sets of files each of which imports every other one, directly or through others.
    pub(crate) fn circles(&self) -> Vec<BTreeSet<String>> {
        let circles = self.circles_of_modules().into_iter();
        circles.map(|circle| circle.iter().map(|module| text(module)).collect()).collect()
    }

    fn circles_of_modules(&self) -> Vec<BTreeSet<Module>> {
        circles(self.arrows.iter().map(|arrow| (&arrow.from, &arrow.to)))
    }

    /// The circles of more than three files, or of more than one room.
    pub(crate) fn wide_circles(&self) -> Vec<String> {
        let is_wide = |circle: &BTreeSet<Module>| {
            let rooms: BTreeSet<_> = circle.iter().map(|module| self.room_of(module)).collect();
            circle.len() > MOST_FILES || rooms.len() > 1
        };
        let wide = self.circles_of_modules().into_iter().filter(is_wide);
        wide.map(|circle| {
            let files: Vec<_> = circle.iter().map(|module| text(module)).collect();
            format!("a circle of {} files: {}", files.len(), files.join(", "))
        })
        .collect()
    }

    /// The room that a file lies in: that of its own folder, else that of the folder which it is in.
    fn room_of(&self, module: &Module) -> Module {
        match self.folders.contains(module) {
            true => module.clone(),
            false => module[..module.len() - 1].to_vec(),
        }
    }
}

/// The sets of more than one node that can all be reached from each other.
fn circles<'a>(arrows: impl Iterator<Item = (&'a Module, &'a Module)>) -> Vec<BTreeSet<Module>> {
    let mut next: BTreeMap<&Module, Vec<&Module>> = BTreeMap::new();
    for (from, to) in arrows {
        next.entry(from).or_default().push(to);
    }
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        next.keys().map(|start| (*start, reached_from(start, &next))).collect();
    let circle_of = |module: &Module| -> BTreeSet<Module> {
        let others = reached[module]
            .iter()
            .filter(|other| reached.get(*other).is_some_and(|back| back.contains(module)));
        others.map(|other| (*other).clone()).collect()
    };
    let found: BTreeSet<_> = next.keys().map(|module| circle_of(module)).collect();
    found.into_iter().filter(|circle| circle.len() > 1).collect()
}

fn reached_from<'a>(start: &'a Module, next: &BTreeMap<&'a Module, Vec<&'a Module>>) -> BTreeSet<&'a Module> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(module) = open.pop() {
        open.extend(next.get(module).into_iter().flatten().filter(|to| reached.insert(**to)));
    }
    reached
}

fn text(module: &[String]) -> String {
    if module.is_empty() { "the root".to_owned() } else { module.join("/") }
}

/// Files of a circle that may be.
const MOST_FILES: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    /// The graph of files by their paths, without endings.
    fn graph(files: &[(&str, &str)]) -> ModuleGraph {
        let module = |path: &str| path.split('/').filter(|name| *name != "lib").map(str::to_owned).collect();
        let texts = files.iter().map(|(path, text)| (module(path), (*text).to_owned()));
        ModuleGraph::of(&CrateFiles::of(texts.collect()))
    }

    #[test]
    fn imports_that_lead_down_are_no_problem() {
        let files = [
            ("lib", "mod a; mod b; pub use a::A;"),
            ("a", "mod c; use crate::b::B; pub use c::C;"),
            ("a/c", "use crate::b::B;"),
            ("b", ""),
        ];
        let graph = graph(&files);
        assert_eq!((graph.files(), graph.arrows()), (4, 4));
        assert_eq!((graph.upward(), graph.wide_circles()), (vec![], vec![]));
    }

    #[test]
    fn what_a_face_passes_on_is_not_imported_from_there() {
        let files = [("lib", "pub use a::A; pub struct L;"), ("a", ""), ("b", "use crate::{A, L};")];
        let upward = graph(&files).upward();
        assert_eq!(
            upward,
            ["b imports A from the root: it belongs to another file, which is to be imported"]
        );
    }

    #[test]
    fn rooms_that_import_each_other_are_told_even_where_their_files_make_no_circle() {
        let files =
            [("lib", ""), ("a", ""), ("a/b", "use crate::c::C;"), ("c", "use crate::a::d::D;"), ("a/d", "")];
        let graph = graph(&files);
        assert_eq!(graph.circles(), Vec::<BTreeSet<_>>::new());
        let why = "the rooms a, c import each other";
        let expected = [format!("a/b imports C from c: {why}"), format!("c imports D from a/d: {why}")];
        assert_eq!(graph.upward(), expected);
    }

    #[test]
    fn a_circle_is_wide_beyond_three_files_or_one_room() {
        let three =
            [("lib", ""), ("a", "use crate::b::B;"), ("b", "use crate::c::C;"), ("c", "use crate::a::A;")];
        assert_eq!(graph(&three).wide_circles(), Vec::<String>::new());
        assert_eq!(graph(&three).circles().len(), 1);
        let four = [three.as_slice(), &[("d", "use crate::a::A;")]].concat();
        assert_eq!(graph(&four).wide_circles(), Vec::<String>::new(), "d only leads into it");
        let four = [&three[..3], &[("c", "use crate::d::D;"), ("d", "use crate::a::A;")]].concat();
        assert_eq!(graph(&four).wide_circles(), ["a circle of 4 files: a, b, c, d"]);
        let rooms = [("lib", ""), ("a", "use crate::b::B;"), ("b", "use crate::a::A;"), ("b/c", "")];
        assert_eq!(graph(&rooms).wide_circles(), ["a circle of 2 files: a, b"]);
        let face = [("lib", ""), ("a", "use b::B;"), ("a/b", "use super::A;")];
        assert_eq!(graph(&face).wide_circles(), Vec::<String>::new());
    }

    #[test]
    fn modules_of_tests_are_no_files() {
        let files = [("lib", "#[cfg(test)] mod tests; mod a;"), ("tests", "use crate::a::A;"), ("a", "")];
        assert_eq!((graph(&files).files(), graph(&files).arrows()), (2, 0));
    }
}
