//! The names that stand for something in the texts of a request.

use std::collections::BTreeMap;

use hammer_values::{Agreed, KeyConflict, Word};

use super::value::ValuePlan;
use crate::template::{OWN_NAMES, Template, TemplateFault};

/// The names that a text may have placeholders for.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownNames<'a> {
    values: Vec<&'a str>,
    /// What was taken from the answers before.
    extracted: Vec<&'a str>,
}

impl<'a> KnownNames<'a> {
    /// Those of values.
    pub(crate) fn of(values: &'a BTreeMap<Word, Agreed<ValuePlan>>) -> Self {
        Self { values: values.keys().map(Word::as_str).collect(), extracted: Vec::new() }
    }

    /// Those of what is taken from an answer, for what is sent behind it.
    pub(crate) fn extracted(&mut self, names: impl IntoIterator<Item = &'a str>) {
        for name in names {
            if !self.extracted.contains(&name) {
                self.extracted.push(name);
            }
        }
    }

    /// A value of which no placeholder can be.
    pub(crate) fn conflict(&self) -> Option<KeyConflict> {
        let own = self.values.iter().find(|name| OWN_NAMES.contains(name))?;
        Some(KeyConflict::at(format!("values.{own}"), format!("`${{{own}}}` is something else already")))
    }

    /// Why what is taken from an answer cannot have that name.
    pub(crate) fn taken(&self, name: &str) -> Option<String> {
        if OWN_NAMES.contains(&name) {
            return Some(format!("`${{{name}}}` is something else already"));
        }
        self.values.contains(&name).then(|| format!("`{name}` is the name of a value already"))
    }

    /// The text with its placeholders, all of them known.
    pub(crate) fn template(&self, text: &str) -> Result<Template, TemplateFault> {
        let template = Template::parse(text)?;
        let unknown =
            template.names().find(|name| !self.values.contains(name) && !self.extracted.contains(name));
        let Some(name) = unknown else { return Ok(template) };
        Err(TemplateFault::Unknown { name: name.to_owned(), known: self.known() })
    }

    /// The same of a text that may be a secret, and is not shown.
    pub(crate) fn conflict_of_secret(&self, key: &str, text: &str) -> Option<KeyConflict> {
        self.template(text).err()?;
        let reason = format!(
            "it has a `${{` that is no placeholder, or one that is not known here: {}; write `$${{` for a `${{` that is none. It is not shown, since it may be a secret",
            self.known()
        );
        Some(KeyConflict::at(key.to_owned(), reason))
    }

    fn known(&self) -> String {
        let own = ["seq", "uuid", "random:N", "hex:N"];
        let known: Vec<&str> = own.iter().chain(&self.values).chain(&self.extracted).copied().collect();
        known.join(", ")
    }

    /// A conflict of a text that cannot be.
    pub(crate) fn conflict_of(&self, key: &str, text: &str) -> Option<KeyConflict> {
        let fault = self.template(text).err()?;
        Some(KeyConflict::at(key.to_owned(), fault.to_string()))
    }
}
