//! The protocols that a binary knows.

use super::Protocol;
use super::attest::Attest;
use super::ct::Ct;
use super::http::Http;
use super::pki::Pki;
use super::sigstore::Sigstore;
use super::trillian::Trillian;
use crate::plan::grammar::{PlanGrammar, StopKey};
use crate::plan::section::SectionPlace;

/// The protocols that a binary knows.
pub(crate) struct Registry {
    protocols: Vec<&'static dyn Protocol>,
    grammar: PlanGrammar,
}

impl Registry {
    /// Those of `hammer`.
    pub(crate) fn shipped() -> Self {
        let empty = Self { protocols: Vec::new(), grammar: PlanGrammar::default() };
        empty.with(&Http).with(&Ct).with(&Sigstore).with(&Trillian).with(&Attest).with(&Pki)
    }

    /// The same with another protocol.
    ///
    /// # Panics
    /// When another protocol has one of its keys: the first would be read in place of the second.
    pub(crate) fn with(mut self, protocol: &'static dyn Protocol) -> Self {
        for section in protocol.sections() {
            let mut others = self.grammar.at(section.place);
            assert!(
                others.all(|other| other.key != section.key),
                "two protocols have the section {section:?}"
            );
        }
        for key in protocol.stop_keys() {
            assert!(self.grammar.stop_key(key.key).is_none(), "two protocols have the key {key:?} of stop");
        }
        self.grammar.sections.extend(protocol.sections());
        self.grammar.stop_keys.extend(protocol.stop_keys());
        self.protocols.push(protocol);
        self
    }

    /// What plans may say.
    pub(crate) fn grammar(&self) -> &PlanGrammar {
        &self.grammar
    }

    /// All of them, in their order.
    pub(crate) fn protocols(&self) -> &[&'static dyn Protocol] {
        &self.protocols
    }

    /// The place of the protocol that reads the section `key` of a workload.
    pub(crate) fn of_workload(&self, key: &str) -> Option<usize> {
        let has = |protocol: &&dyn Protocol| {
            protocol
                .sections()
                .iter()
                .any(|section| section.place == SectionPlace::Workload && section.key == key)
        };
        self.protocols.iter().position(has)
    }

    /// The place of the protocol that names the key of `stop`, and what it means.
    pub(crate) fn of_stop(&self, key: &str) -> Option<(usize, StopKey)> {
        let protocols = self.protocols.iter().enumerate();
        let mut keys = protocols
            .flat_map(|(place, protocol)| protocol.stop_keys().into_iter().map(move |key| (place, key)));
        keys.find(|(_, known)| known.key == key)
    }
}
