//! The parts of a plan that belong to a protocol: each is one key of the target, of a service, of an embedded target or of a
//! workload, and what stands under it is read by the protocol's own type.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use hammer_values::RenamedKey;
use schemars::generate::SchemaGenerator;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::error::{PlanError, PlanFault};
use super::path::PlanPath;
use super::typed::typed;

/// Where a section stands in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SectionPlace {
    /// Under `target`.
    Target,
    /// Under a service of `target.services`.
    Service,
    /// Under `target.lab`.
    Lab,
    /// Under a workload.
    Workload,
}

/// A key that a protocol adds to plans.
#[derive(Clone, Copy)]
pub(crate) struct Section {
    /// Where it stands.
    pub(crate) place: SectionPlace,
    /// The key.
    pub(crate) key: &'static str,
    /// Where in it keys stand that have another name by now, as a path with `*` for any key or item, and those keys.
    pub(crate) renamed: &'static [(&'static str, &'static [RenamedKey])],
    /// Whether it may stand beside the embedded target of the same key, of which it then says the rest.
    pub(crate) is_beside_lab: bool,
    description: &'static str,
    read: fn(Value) -> Result<Arc<dyn SectionPlan>, PlanError>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

/// What stands under the key of a section, read.
pub(crate) trait SectionPlan: Any + fmt::Debug + Send + Sync + erased_serde::Serialize {}

impl<T: Any + fmt::Debug + Send + Sync + Serialize> SectionPlan for T {}

erased_serde::serialize_trait_object!(SectionPlan);

/// The sections that are given at one place of a plan, by their keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sections(Vec<(&'static str, Arc<dyn SectionPlan>)>);

impl Section {
    /// The section under `key`, which `T` reads; `description` is what the schema of plans says of it.
    pub(crate) const fn of<T>(place: SectionPlace, key: &'static str, description: &'static str) -> Self
    where
        T: fmt::Debug + Send + Sync + Serialize + DeserializeOwned + JsonSchema + 'static,
    {
        Self::shown_as::<T, T>(place, key, description)
    }

    /// The same where the schema of plans shows what stands there as an `S`.
    pub(crate) const fn shown_as<T, S>(
        place: SectionPlace,
        key: &'static str,
        description: &'static str,
    ) -> Self
    where
        T: fmt::Debug + Send + Sync + Serialize + DeserializeOwned + 'static,
        S: JsonSchema,
    {
        let schema = SchemaGenerator::subschema_for::<Option<S>>;
        Self { place, key, renamed: &[], is_beside_lab: false, description, read: read::<T>, schema }
    }

    /// The same with keys that have another name by now.
    pub(crate) const fn renamed(self, renamed: &'static [(&'static str, &'static [RenamedKey])]) -> Self {
        Self { renamed, ..self }
    }

    /// The same that may stand beside the embedded target of its key.
    pub(crate) const fn beside_lab(self) -> Self {
        Self { is_beside_lab: true, ..self }
    }

    /// The schema of what stands under its key.
    pub(super) fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let mut schema = (self.schema)(generator);
        schema.insert("description".to_owned(), self.description.into());
        schema
    }
}

impl fmt::Debug for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Section").field("place", &self.place).field("key", &self.key).finish_non_exhaustive()
    }
}

fn read<T>(value: Value) -> Result<Arc<dyn SectionPlan>, PlanError>
where
    T: fmt::Debug + Send + Sync + Serialize + DeserializeOwned + 'static,
{
    Ok(Arc::new(typed::<T>(value)?))
}

impl Sections {
    /// Takes the sections out of `map`, which stands at `at`; what is left there is the plan's own. A key without a value, or
    /// with an empty list, is not given where another is.
    ///
    /// # Errors
    /// What the protocol's type says against a value, with its path, and a key without a value where no other is given.
    pub(super) fn take<'a>(
        map: &mut Map<String, Value>,
        at: &PlanPath,
        sections: impl Iterator<Item = &'a Section>,
    ) -> Result<Self, PlanError> {
        let (mut taken, mut empty) = (Vec::new(), None);
        for section in sections {
            let value = map.remove(section.key);
            if let Some(of) = value.as_ref().filter(|value| !is_given(value)) {
                empty = Some((section.key, of.is_null()));
            }
            let Some(value) = value.filter(is_given) else { continue };
            let plan = (section.read)(value).map_err(|error| error.below(&at.clone().key(section.key)))?;
            taken.push((section.key, plan));
        }
        // Beside another it stands for one that is left out.
        let has_other = !taken.is_empty() || BESIDE_SECTIONS.iter().any(|key| map.contains_key(*key));
        match empty.filter(|_| !has_other) {
            None => Ok(Self(taken)),
            Some((key, is_null)) => {
                let is_of_blocks = is_null && !matches!(key, "url" | "urls");
                let fault = match is_of_blocks {
                    true => PlanFault::Misfit(format!(
                        "nothing stands behind it: `{key}: {{}}` is one with nothing but defaults"
                    )),
                    false => PlanFault::Empty,
                };
                Err(fault.at(at.clone().key(key)))
            }
        }
    }

    /// What stands under `key`, where it is given; `T` is the type that reads its section.
    pub(crate) fn get<T: 'static>(&self, key: &str) -> Option<&T> {
        let (_, plan) = self.0.iter().find(|(given, _)| *given == key)?;
        let plan: &dyn Any = &**plan;
        let plan = plan.downcast_ref();
        debug_assert!(plan.is_some(), "{key} is read as another type than its section's");
        plan
    }

    /// The same with what `change` makes of the value under each key.
    ///
    /// # Errors
    /// What the protocol's type says against a changed value, with its path.
    pub(super) fn changed<'a>(
        &self,
        at: &PlanPath,
        sections: impl Iterator<Item = &'a Section>,
        change: impl Fn(&mut Value),
    ) -> Result<Self, PlanError> {
        let mut map = Map::new();
        for (key, plan) in &self.0 {
            let mut value = serde_json::to_value(&**plan)?;
            change(&mut value);
            map.insert((*key).to_owned(), value);
        }
        Self::take(&mut map, at, sections)
    }

    /// The keys that are given.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.0.iter().map(|(key, _)| *key)
    }
}

/// Keys of the plan itself that stand for a section beside them.
const BESIDE_SECTIONS: [&str; 2] = ["lab", "services"];

fn is_given(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

/// As a map of the sections by their keys.
impl Serialize for Sections {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, plan) in &self.0 {
            map.serialize_entry(key, &**plan)?;
        }
        map.end()
    }
}
