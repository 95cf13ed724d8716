//! What a file can hold: a whole plan, or the settings of an embedded target.

use std::collections::BTreeMap;

use hammer_values::RenamedKey;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::{PlanError, PlanFault};
use super::grammar::PlanGrammar;
use super::misplaced_list::misplaced_list;
use super::path::{PathSegment, PlanPath};
use super::section::{SectionPlace, Sections};
use super::target::TargetPlan;
use super::typed::typed;
use super::{Plan, StopPlan};

/// What a file can hold.
pub(crate) trait PlanDocument: Sized {
    /// Where keys stand that have another name by now, as paths with `*` for any key or item, and those keys.
    fn renamed(grammar: &PlanGrammar) -> Vec<(String, &'static [RenamedKey])>;

    /// Reads it out of a value.
    ///
    /// # Errors
    /// What is wrong with it, at its path.
    fn read(value: Value, grammar: &PlanGrammar) -> Result<Self, PlanError>;
}

/// The settings of an embedded target, which stand in a file of their own; they know their renamed keys.
pub(crate) trait LabSettings: DeserializeOwned {
    /// Keys that have another name by now.
    const RENAMED: &[RenamedKey];
}

impl<T: LabSettings> PlanDocument for T {
    fn renamed(_grammar: &PlanGrammar) -> Vec<(String, &'static [RenamedKey])> {
        vec![(String::new(), T::RENAMED)]
    }

    fn read(value: Value, _grammar: &PlanGrammar) -> Result<Self, PlanError> {
        typed(value)
    }
}

impl PlanDocument for Plan {
    fn renamed(grammar: &PlanGrammar) -> Vec<(String, &'static [RenamedKey])> {
        grammar.renamed()
    }

    /// What protocols read is taken out first; what is left has keys of the plan alone.
    fn read(value: Value, grammar: &PlanGrammar) -> Result<Self, PlanError> {
        let schema = grammar.schema().to_value();
        if let Some(at) = misplaced_list(&value, &schema) {
            return Err(PlanFault::Misfit("expected keys with values, and not a list".to_owned()).at(at));
        }
        Self::of_values(value, grammar).map_err(|error| error.with_place(&schema))
    }
}

impl Plan {
    fn of_values(mut value: Value, grammar: &PlanGrammar) -> Result<Self, PlanError> {
        let mut sections = PlanSections::take(&mut value, grammar)?;
        if let Some(Value::Object(stop)) = value.get_mut("stop") {
            stop.retain(|_, number| !number.is_null());
        }
        let mut plan: Self = typed(value).map_err(|error| with_sections(error, grammar))?;
        sections.put(&mut plan);
        sections.put_in_target(&mut plan.target);
        if let Some(stop) = &plan.stop {
            known_stop_keys(stop, grammar)?;
        }
        Ok(plan)
    }
}

/// Of a plan, the target alone.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetAlone {
    pub(crate) target: TargetPlan,
}

impl PlanDocument for TargetAlone {
    fn renamed(grammar: &PlanGrammar) -> Vec<(String, &'static [RenamedKey])> {
        grammar.renamed()
    }

    fn read(mut value: Value, grammar: &PlanGrammar) -> Result<Self, PlanError> {
        let sections = PlanSections::take(&mut value, grammar)?;
        let mut alone: Self = typed(value).map_err(|error| with_sections(error, grammar))?;
        sections.put_in_target(&mut alone.target);
        Ok(alone)
    }
}

/// The sections of a plan, by where they stand.
#[derive(Default)]
struct PlanSections {
    target: Sections,
    services: BTreeMap<String, Sections>,
    lab: Sections,
    workloads: Vec<Sections>,
}

impl PlanSections {
    fn take(plan: &mut Value, grammar: &PlanGrammar) -> Result<Self, PlanError> {
        let mut taken = Self::default();
        if let Some(target) = plan.get_mut("target") {
            taken.take_of_target(target, grammar)?;
        }
        if let Some(Value::Array(workloads)) = plan.get_mut("workloads") {
            for (place, workload) in workloads.iter_mut().enumerate() {
                let at = PlanPath::workload(place);
                taken.workloads.push(sections(workload, &at, SectionPlace::Workload, grammar)?);
            }
        }
        Ok(taken)
    }

    fn take_of_target(&mut self, target: &mut Value, grammar: &PlanGrammar) -> Result<(), PlanError> {
        let at = PlanPath::of("target");
        self.target = sections(target, &at, SectionPlace::Target, grammar)?;
        if let Some(Value::Object(services)) = target.get_mut("services") {
            for (name, service) in services {
                let at = at.clone().key("services").key(name);
                self.services.insert(name.clone(), sections(service, &at, SectionPlace::Service, grammar)?);
            }
        }
        if let Some(lab) = target.get_mut("lab") {
            self.lab = sections(lab, &at.key("lab"), SectionPlace::Lab, grammar)?;
        }
        Ok(())
    }

    /// Gives the workloads of a plan their sections.
    fn put(&mut self, plan: &mut Plan) {
        for (workload, sections) in plan.workloads.iter_mut().zip(self.workloads.drain(..)) {
            workload.operations = sections;
        }
    }

    fn put_in_target(mut self, target: &mut TargetPlan) {
        target.unnamed = self.target;
        for (name, service) in &mut target.services {
            service.kind = self.services.remove(name.as_str()).unwrap_or_default();
        }
        if let Some(lab) = &mut target.lab {
            lab.kind = self.lab;
        }
    }
}

fn sections(
    value: &mut Value,
    at: &PlanPath,
    place: SectionPlace,
    grammar: &PlanGrammar,
) -> Result<Sections, PlanError> {
    match value {
        Value::Object(map) => Sections::take(map, at, grammar.at(place)),
        _ => Ok(Sections::default()),
    }
}

/// What is said of a key that the plan itself does not have lists those of protocols as well.
fn with_sections(mut error: PlanError, grammar: &PlanGrammar) -> PlanError {
    if let Some((at, PlanFault::Unknown { known, .. })) = error.refused_mut()
        && let Some(place) = at.parent().as_ref().and_then(section_place)
    {
        known.extend(grammar.at(place).map(|section| section.key.to_owned()));
    }
    error
}

/// What of a plan stands at `at`, where sections may stand in it.
fn section_place(at: &PlanPath) -> Option<SectionPlace> {
    use PathSegment::{Item, Key};
    let named = |segment: &PathSegment, name: &str| matches!(segment, Key(key) if key == name);
    match at.segments() {
        [target] if named(target, "target") => Some(SectionPlace::Target),
        [target, lab] if named(target, "target") && named(lab, "lab") => Some(SectionPlace::Lab),
        [target, services, Key(_)] if named(target, "target") && named(services, "services") => {
            Some(SectionPlace::Service)
        }
        [workloads, Item(_)] if named(workloads, "workloads") => Some(SectionPlace::Workload),
        _ => None,
    }
}

fn known_stop_keys(stop: &StopPlan, grammar: &PlanGrammar) -> Result<(), PlanError> {
    let at = PlanPath::of("stop");
    let known = || grammar.stop_keys.iter().map(|known| known.key.to_owned()).collect();
    match stop.0.keys().find(|key| grammar.stop_key(key).is_none()) {
        Some(key) => {
            Err(PlanFault::Unknown { key: key.clone(), known: known(), place: None }.at(at.key(key)))
        }
        None => Ok(()),
    }
}
