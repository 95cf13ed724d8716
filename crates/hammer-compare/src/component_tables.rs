//! CPU and memory of components by variants, and what of it a request costs.

use hammer_report::text::number::bytes;
use serde::Serialize;

use crate::cell::{none, significant, times};
use crate::comparison::Comparison;
use crate::component::ComponentUse;
use crate::metric::Metric;
use crate::page::Block;
use crate::variant::Variant;

/// What a component used, and for how many requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComponentFigures {
    /// The variant.
    pub variant: String,
    /// Its use; `all` is the sum over all components of the variant.
    #[serde(flatten)]
    pub used: ComponentUse,
    /// Milliseconds of CPU under load for each accepted request.
    pub cpu_ms_per_request: Option<f64>,
    /// Requests accepted for each second of a core under load.
    pub requests_per_core_s: Option<f64>,
    /// The cores that it may use by those that it did under load; of all components together the least of theirs, since the first to have none is the limit.
    pub headroom: Option<f64>,
    /// What its memory under load is.
    pub load_memory_is: LoadMemory,
}

/// Which of the memory that was in use under load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadMemory {
    /// The greatest of measurement, as reports have it; of several runs their mean.
    Greatest,
    /// The mean of the samples of a CSV.
    Mean,
}

impl ComponentFigures {
    fn of(variant: &Variant, used: ComponentUse) -> Self {
        let rate = variant.accepted_rate().filter(|rate| *rate > 0.0);
        let cores = used.load_cores.filter(|cores| *cores > 0.0);
        Self {
            variant: variant.label.clone(),
            cpu_ms_per_request: used.load_cores.zip(rate).map(|(cores, rate)| cores / rate * 1e3),
            requests_per_core_s: rate.zip(cores).map(|(rate, cores)| rate / cores),
            headroom: used.limit_cores.zip(cores).map(|(limit, cores)| limit / cores),
            load_memory_is: match variant.measured_components.is_empty() {
                true => LoadMemory::Greatest,
                false => LoadMemory::Mean,
            },
            used,
        }
    }

    /// Those of a variant: of each component, and where there are several of all.
    fn all(variant: &Variant) -> Vec<Self> {
        let mut all: Vec<Self> =
            variant.components().into_iter().map(|used| Self::of(variant, used)).collect();
        if all.len() > 1 {
            let sum = |of: fn(&ComponentUse) -> Option<f64>| all.iter().map(|own| of(&own.used)).sum();
            let is_taken = all.iter().any(|own| own.used.name == ALL);
            let used = ComponentUse {
                name: if is_taken { ALL_COMPONENTS } else { ALL }.to_owned(),
                idle_cores: sum(|component| component.idle_cores),
                load_cores: sum(|component| component.load_cores),
                idle_memory_bytes: sum(|component| component.idle_memory_bytes),
                load_memory_bytes: sum(|component| component.load_memory_bytes),
                limit_cores: sum(|component| component.limit_cores),
            };
            let headroom: Option<Vec<f64>> = all.iter().map(|own| own.headroom).collect();
            let headroom = headroom.and_then(|all| all.into_iter().reduce(f64::min));
            all.push(Self { headroom, ..Self::of(variant, used) });
        }
        all
    }
}

impl Comparison {
    /// By variants, what each of their components used, and all of them together.
    pub fn components(&self) -> Vec<ComponentFigures> {
        self.variants.iter().flat_map(ComponentFigures::all).collect()
    }

    /// The same as tables; nothing where no variant has components.
    pub(crate) fn component_tables(&self) -> Vec<Block> {
        let all = self.components();
        if all.is_empty() {
            return Vec::new();
        }
        let name = |own: &ComponentFigures| format!("{}: {}", own.variant, own.used.name);
        let number = |number: Option<f64>| number.map_or_else(none, significant);
        let memory = |memory: Option<f64>| memory.map_or_else(none, |memory| bytes(memory.round() as u64));
        let used = all.iter().map(|own| {
            let used = &own.used;
            let more = used.load_cores.zip(used.idle_cores).map(|(load, idle)| load - idle);
            let cores = [used.idle_cores, used.load_cores, more].map(number);
            let memory = [used.idle_memory_bytes, used.load_memory_bytes].map(memory);
            [name(own)].into_iter().chain(cores).chain(memory).collect()
        });
        let cost = all.iter().map(|own| {
            let headroom = own.headroom.map_or_else(none, times);
            vec![
                name(own),
                number(own.cpu_ms_per_request),
                number(own.requests_per_core_s),
                number(own.used.limit_cores),
                headroom,
            ]
        });
        let header = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        vec![
            Block::Heading("CPU and memory, idle and under load".to_owned()),
            Block::Table {
                header: header(&["", "idle cores", "cores", "more", "idle memory", "memory"]),
                rows: used.collect(),
            },
            Block::Heading("CPU of a request".to_owned()),
            Block::Table {
                header: header(&[
                    "",
                    "ms of CPU a request",
                    "requests a core-second",
                    "limit in cores",
                    "headroom",
                ]),
                rows: cost.collect(),
            },
            Block::List(self.cost_notes(&all).into_iter().chain(self.memory_notes(&all)).collect()),
        ]
    }

    /// Which memory stands in the one column: a greatest one beside a mean looks like more, and is another thing.
    fn memory_notes(&self, all: &[ComponentFigures]) -> Vec<String> {
        let of = |kind: LoadMemory, what: &str| {
            let has = |variant: &&Variant| {
                let mut own = all.iter().filter(|own| own.variant == variant.label);
                own.any(|own| own.load_memory_is == kind && own.used.load_memory_bytes.is_some())
            };
            let labels: Vec<&str> =
                self.variants.iter().filter(has).map(|variant| variant.label.as_str()).collect();
            (!labels.is_empty()).then(|| format!("memory of {} is {what}", labels.join(", ")))
        };
        let greatest = of(LoadMemory::Greatest, "the greatest of measurement, of several runs their mean");
        greatest.into_iter().chain(of(LoadMemory::Mean, "the mean of samples")).collect()
    }

    fn cost_notes(&self, all: &[ComponentFigures]) -> Vec<String> {
        // Of one component the last is that one, and of several their sum.
        let whole = |variant: &Variant| {
            all.iter().rfind(|own| own.variant == variant.label).and_then(|own| own.cpu_ms_per_request)
        };
        let rates = self.variants.iter().map(|variant| {
            let rate = variant.accepted_rate().map_or_else(none, |rate| Metric::Rate.shown(rate));
            format!("{} of {}", rate, variant.label)
        });
        let rates: Vec<String> = rates.collect();
        let first = &self.variants[0];
        let mut notes = vec![format!(
            "a request costs cores in use under load by requests accepted a second, over all operations ({}); headroom is the limit by the cores in use, of several components the least \
             of theirs, and says nothing of what else may be the limit",
            rates.join(", ")
        )];
        notes.extend(self.variants.iter().skip(1).filter_map(|variant| {
            let ratio = whole(variant)? / whole(first)?;
            ratio.is_finite().then(|| {
                format!(
                    "a request of {} costs {} the CPU of one of {}",
                    variant.label,
                    times(ratio),
                    first.label
                )
            })
        }));
        notes
    }
}

/// What all components of a variant are called.
const ALL: &str = "all";
/// The same, where a component has that name.
const ALL_COMPONENTS: &str = "all components";
