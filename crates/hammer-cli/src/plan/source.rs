//! Where a plan comes from, so that what is wrong with it is shown there.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::broken_yaml::PlainYamlWords;
use super::credential::names_credential;
use super::path::{PathSegment, PlanPath};

/// What a plan was read from, and what was changed in it since.
#[derive(Clone, Debug)]
pub(crate) struct PlanSource {
    origin: Origin,
    changes: Vec<Change>,
    /// Arguments that stand for keys, by which a mistake there is told.
    flags: Vec<Change>,
    renamings: Vec<Renaming>,
    notes: Vec<String>,
}

#[derive(Clone, Debug)]
enum Origin {
    File { name: String, text: String },
    Arguments,
}

#[derive(Clone, Debug)]
struct Change {
    /// What was done, as an error names it.
    words: String,
    at: PlanPath,
}

/// A key that was found under the name that it had before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Renaming {
    /// Where it was written.
    pub(crate) old: PlanPath,
    /// Where it is read.
    pub(crate) new: PlanPath,
    /// How it is written now: the key and its value.
    pub(crate) written: String,
}

/// Where something of a plan was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlanPlace {
    /// At a place of a file.
    Line {
        /// The file.
        name: String,
        /// From 1.
        line: u64,
        /// From 1.
        column: u64,
        /// The line among its neighbours, with a mark below it and the message behind that; empty where the file names a
        /// header that carries a secret.
        snippet: String,
    },
    /// In a file, nowhere in particular.
    File {
        /// The file.
        name: String,
    },
    /// In a change of the command line or of a sweep.
    Change {
        /// What was done.
        words: String,
        /// Whether it is what was changed by name, and not a key in it or around it.
        is_whole: bool,
    },
    /// In arguments of which the plan was made.
    Arguments,
}

impl PlanSource {
    /// A plan out of the text of a file.
    pub(crate) fn file(name: String, text: String) -> Self {
        Self::of(Origin::File { name, text })
    }

    /// A plan that was made of arguments.
    pub(crate) fn arguments() -> Self {
        Self::of(Origin::Arguments)
    }

    /// A plan that was made of arguments, each of which stands for the key at that path.
    pub(crate) fn flags(flags: &[(&str, &str)]) -> Self {
        let flag = |(flag, at): &(&str, &str)| Change { words: (*flag).to_owned(), at: PlanPath::of(at) };
        Self { flags: flags.iter().map(flag).collect(), ..Self::arguments() }
    }

    /// The file that the plan was read from; none where it was made of arguments.
    pub(crate) fn file_name(&self) -> Option<&str> {
        match &self.origin {
            Origin::File { name, .. } => Some(name),
            Origin::Arguments => None,
        }
    }

    fn of(origin: Origin) -> Self {
        Self { origin, changes: Vec::new(), flags: Vec::new(), renamings: Vec::new(), notes: Vec::new() }
    }

    /// Takes down a change of what is at that path.
    pub(crate) fn changed(&mut self, words: String, at: PlanPath) {
        self.changes.push(Change { words, at });
    }

    /// Takes down what was read under another name since the last change.
    pub(crate) fn renamed(&mut self, renamings: Vec<Renaming>) {
        for Renaming { old, new, written } in &renamings {
            let place = self.place(old, "");
            self.notes.push(format!("{place}: {old} is read as `{written}`, which is how it is written now"));
            if let Some(change) = self.changes.last_mut().filter(|change| change.at == *old) {
                change.at = new.clone();
            }
        }
        self.renamings.extend(renamings);
    }

    /// What the reader of a report must know about how the plan was read.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The path under which `at` was written last.
    pub(crate) fn as_written(&self, at: &PlanPath) -> PlanPath {
        let renaming = self.renamings.iter().find(|renaming| at.starts_with(&renaming.new));
        match renaming.filter(|_| self.change(at).is_none()) {
            Some(renaming) => at.moved(&renaming.new, &renaming.old),
            None => at.clone(),
        }
    }

    fn change(&self, at: &PlanPath) -> Option<&Change> {
        self.changes.iter().rev().find(|change| !at.is_root() && change.at.touches(at))
    }

    /// Whichever of `at` and `others` was changed after all of the rest; `at` where none was.
    pub(crate) fn changed_last<'a>(&self, at: &'a PlanPath, others: &'a [PlanPath]) -> &'a PlanPath {
        let place =
            |at: &PlanPath| self.changes.iter().rposition(|change| !at.is_root() && change.at.touches(at));
        others.iter().fold(at, |last, other| if place(other) > place(last) { other } else { last })
    }

    /// Where `at` was written last; `message` is what a snippet of the file says about it.
    pub(crate) fn place(&self, at: &PlanPath, message: &str) -> PlanPlace {
        match (&self.origin, self.change(at)) {
            (_, Some(change)) => {
                PlanPlace::Change { words: change.words.clone(), is_whole: change.at == *at }
            }
            (Origin::Arguments, None) => match self.flags.iter().find(|flag| at.starts_with(&flag.at)) {
                // Whoever gave an argument need not know the key.
                Some(flag) => PlanPlace::Change { words: flag.words.clone(), is_whole: true },
                None => PlanPlace::Arguments,
            },
            (Origin::File { name, text }, None) => line_of(name, text, at, message),
        }
    }
}

/// The line of `at`, or of what it would stand in where it was left out.
fn line_of(name: &str, text: &str, at: &PlanPath, message: &str) -> PlanPlace {
    let mut at = at.clone();
    while !at.is_root() {
        let mark = Mark { path: at.segments(), message };
        match serde_saphyr::with_deserializer_from_str(text, |yaml| mark.deserialize(yaml)) {
            // Another message is of what the path does not lead through.
            Err(error) if error.to_string().contains(message) => {
                return PlanPlace::of_yaml(name, text, &error);
            }
            _ => at = at.parent().unwrap_or_default(),
        }
    }
    PlanPlace::File { name: name.to_owned() }
}

impl PlanPlace {
    /// Where a reader of YAML found something wrong in `text`.
    pub(super) fn of_yaml(name: &str, text: &str, error: &serde_saphyr::Error) -> Self {
        let Some(at) = error.location() else { return Self::File { name: name.to_owned() } };
        // A snippet has the lines around the mistake, and a secret may span any of them.
        let snippet = match names_credential(text) {
            true => String::new(),
            // The first two lines are the message and the place, which are told elsewhere.
            false => {
                let said = error.render_with_formatter(&PlainYamlWords);
                said.lines().skip(2).map(|line| format!("\n{line}")).collect()
            }
        };
        Self::Line { name: name.to_owned(), line: at.line(), column: at.column(), snippet }
    }
}

/// The place alone, without a snippet.
impl fmt::Display for PlanPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { name, line, column, .. } => write!(f, "the plan {name}:{line}:{column}"),
            Self::File { name } => write!(f, "the plan {name}"),
            Self::Change { words, .. } => f.write_str(words),
            Self::Arguments => f.write_str("the arguments"),
        }
    }
}

/// Fails on purpose at the end of its path, since a reader of YAML then says where it was. The mark is at the key where
/// the message quotes it, else at the value.
struct Mark<'a> {
    path: &'a [PathSegment],
    message: &'a str,
}

impl<'de> DeserializeSeed<'de> for Mark<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, yaml: D) -> Result<(), D::Error> {
        match self.path {
            [] => Err(D::Error::custom(self.message)),
            [PathSegment::Item(_), ..] => yaml.deserialize_seq(self),
            [PathSegment::Key(_), ..] => yaml.deserialize_map(self),
        }
    }
}

impl<'de> Visitor<'de> for Mark<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what the path leads through")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let [PathSegment::Key(wanted), rest @ ..] = self.path else { return Ok(()) };
        let key = MarkedKey { wanted: rest.is_empty().then_some(wanted), message: self.message };
        while let Some(found) = map.next_key_seed(&key)? {
            match found == *wanted {
                true => map.next_value_seed(Mark { path: rest, ..self })?,
                false => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let [PathSegment::Item(wanted), rest @ ..] = self.path else { return Ok(()) };
        for _ in 0..*wanted {
            if items.next_element::<IgnoredAny>()?.is_none() {
                return Ok(());
            }
        }
        items.next_element_seed(Mark { path: rest, ..self }).map(drop)
    }
}

/// A key, which fails on purpose where it is the last of the path and the message quotes it.
struct MarkedKey<'a> {
    wanted: Option<&'a String>,
    message: &'a str,
}

impl<'de> DeserializeSeed<'de> for &MarkedKey<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, yaml: D) -> Result<String, D::Error> {
        let key: String = serde::Deserialize::deserialize(yaml)?;
        match self.wanted {
            Some(wanted) if *wanted == key && self.message.contains(&format!("`{key}`")) => {
                Err(D::Error::custom(self.message))
            }
            _ => Ok(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "\
workloads:
  - name: web
    load: { rate: 5/s }
  - name: api
    load:
      users: 5
";

    fn place(at: &PlanPath, message: &str) -> Option<(u64, u64)> {
        match PlanSource::file("plan.yaml".to_owned(), PLAN.to_owned()).place(at, message) {
            PlanPlace::Line { name, line, column, snippet } => {
                assert_eq!(name, "plan.yaml");
                assert!(snippet.ends_with(message) || snippet.contains(&format!("{message}\n")), "{snippet}");
                Some((line, column))
            }
            PlanPlace::File { .. } => None,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn a_value_has_its_line_and_a_key_that_is_quoted_its_own() {
        assert_eq!(place(&PlanPath::workload(0).keys("load.rate"), "it is slow"), Some((3, 19)));
        assert_eq!(place(&PlanPath::workload(0).keys("load.rate"), "no `rate` here"), Some((3, 13)));
        assert_eq!(place(&PlanPath::workload(1).key("load"), "it is closed"), Some((6, 7)));
        assert_eq!(place(&PlanPath::workload(1), "it has no name"), Some((4, 5)));
    }

    #[test]
    fn what_was_left_out_has_the_line_of_what_it_would_stand_in() {
        assert_eq!(place(&PlanPath::workload(0).keys("http.method"), "it is none"), Some((2, 5)));
        assert_eq!(place(&PlanPath::of("threads.shards"), "it is none"), None);
        assert_eq!(place(&PlanPath::default(), "it is nothing"), None);
    }

    #[test]
    fn what_was_changed_last_is_named_instead_of_the_file() {
        let mut source = PlanSource::file("plan.yaml".to_owned(), PLAN.to_owned());
        let load = PlanPath::workload(0).key("load");
        source.changed("--set workloads.web.load={}".to_owned(), load.clone());
        let changed = |at: &PlanPath| source.place(at, "it is empty");
        let is_change = |at: &PlanPath, whole: bool| matches!(changed(at), PlanPlace::Change { is_whole, .. } if is_whole == whole);
        assert!(is_change(&load, true) && is_change(&load.clone().key("rate"), false));
        assert!(matches!(changed(&PlanPath::workload(1)), PlanPlace::Line { line: 4, .. }));
        assert_eq!(PlanSource::arguments().place(&load, ""), PlanPlace::Arguments);
    }

    #[test]
    fn of_several_keys_that_can_be_why_the_one_that_was_changed_last_is_taken() {
        let mut source = PlanSource::file("plan.yaml".to_owned(), PLAN.to_owned());
        let load = PlanPath::workload(0).key("load");
        let (rate, others) =
            (load.clone().key("rate"), [PlanPath::workload(1).key("load"), PlanPath::of("seed")]);
        assert_eq!(source.changed_last(&rate, &others), &rate);
        source.changed("--set seed=1".to_owned(), others[1].clone());
        assert_eq!(source.changed_last(&rate, &others), &others[1]);
        source.changed("--set workloads=[]".to_owned(), PlanPath::of("workloads"));
        assert_eq!(source.changed_last(&rate, &others), &rate, "it was changed with the other");
        source.changed("--set workloads.api.load={}".to_owned(), others[0].clone());
        assert_eq!(source.changed_last(&rate, &others), &others[0]);
    }

    #[test]
    fn an_argument_is_named_for_its_key_and_what_is_below_but_for_nothing_above() {
        let source = PlanSource::flags(&[("-H", "workloads[0].http.headers")]);
        let headers = PlanPath::workload(0).keys("http.headers");
        for at in [headers.clone(), headers.clone().key("accept")] {
            let words = "-H".to_owned();
            assert_eq!(source.place(&at, ""), PlanPlace::Change { words, is_whole: true });
        }
        assert_eq!(source.place(&PlanPath::workload(0).key("http"), ""), PlanPlace::Arguments);
    }
}
