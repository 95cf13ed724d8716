//! What plans may say: their own keys are types, and protocols add sections and stop rules to these.

use hammer_values::RenamedKey;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::Plan;
use super::section::{Section, SectionPlace};

/// What protocols add to plans.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanGrammar {
    /// The keys under which they read.
    pub(crate) sections: Vec<Section>,
    /// What can end the arrivals.
    pub(crate) stop_keys: Vec<StopKey>,
}

/// A key of `stop`: what an observer of the protocol sees ends the arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StopKey {
    /// The key.
    pub(crate) key: &'static str,
    /// The observation, of each target of the protocol.
    pub(crate) observation: &'static str,
    /// Whether the number is what the observation grows by since it was seen first, and not what it reaches.
    pub(crate) grown: bool,
    /// What the schema of plans says of it.
    pub(crate) description: &'static str,
    /// What a plan needs so that the observation is made.
    pub(crate) needs: &'static str,
}

impl PlanGrammar {
    /// The sections that stand at `place`.
    pub(crate) fn at(&self, place: SectionPlace) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(move |section| section.place == place)
    }

    /// The keys of the sections at `place`, and `own` behind them, as a message lists them.
    pub(crate) fn listed<'a>(&'a self, place: SectionPlace, own: &[&'a str]) -> String {
        let sections = self.at(place).map(|section| section.key);
        sections.chain(own.iter().copied()).collect::<Vec<_>>().join(", ")
    }

    /// Where in a plan keys stand that have another name by now, as paths with `*` for any key or item.
    pub(super) fn renamed(&self) -> Vec<(String, &'static [RenamedKey])> {
        let paths = self.sections.iter().flat_map(|section| {
            let path = match section.place {
                SectionPlace::Target => "target",
                SectionPlace::Service => "target.services.*",
                SectionPlace::Lab => "target.lab",
                SectionPlace::Workload => "workloads.*",
            };
            let below = move |(part, keys): &(&'static str, _)| {
                let path = [path, section.key, part].into_iter().filter(|part| !part.is_empty());
                (path.collect::<Vec<_>>().join("."), *keys)
            };
            section.renamed.iter().map(below)
        });
        paths.collect()
    }

    /// The JSON Schema of plans, in draft 2020-12.
    pub(crate) fn schema(&self) -> Schema {
        let mut generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
        let sections: Vec<_> =
            self.sections.iter().map(|section| (section, section.schema(&mut generator))).collect();
        let mut schema = generator.into_root_schema_for::<Plan>();
        for (section, of_section) in sections {
            let place = match section.place {
                SectionPlace::Target => "TargetPlan",
                SectionPlace::Service => "ServicePlan",
                SectionPlace::Lab => "LabPlan",
                SectionPlace::Workload => "WorkloadPlan",
            };
            add(&mut schema, place, section.key, of_section.to_value());
        }
        for StopKey { key, description, .. } in &self.stop_keys {
            let number =
                json!({ "description": description, "format": "uint64", "minimum": 0, "type": "integer" });
            add(&mut schema, "StopPlan", key, number);
        }
        schema
    }

    /// The key of `stop` with that name.
    pub(crate) fn stop_key(&self, name: &str) -> Option<&StopKey> {
        self.stop_keys.iter().find(|known| known.key == name)
    }
}

/// Adds a property to the definition `of`.
fn add(schema: &mut Schema, of: &str, key: &str, property: Value) {
    let Some(Value::Object(definitions)) = schema.get_mut("$defs") else { return };
    let Some(Value::Object(definition)) = definitions.get_mut(of) else { return };
    let properties = definition.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    assert!(properties.get(key).is_none(), "{of} has a key `{key}` of its own");
    properties[key] = property;
}
