//! What the components of a service used, before the load and under it.

use hammer_report::report::servers::ComponentResources;
use serde::{Deserialize, Serialize};

/// What a component used; figures that nothing is known of are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ComponentUse {
    /// Its name.
    pub name: String,
    /// Cores in use before the load.
    pub idle_cores: Option<f64>,
    /// Cores in use under it.
    pub load_cores: Option<f64>,
    /// Memory before the load, bytes.
    pub idle_memory_bytes: Option<f64>,
    /// Memory under it, bytes.
    pub load_memory_bytes: Option<f64>,
    /// Cores that it may use.
    pub limit_cores: Option<f64>,
}

/// A CSV of components of which nothing can be taken.
#[derive(Debug, thiserror::Error)]
pub enum ComponentError {
    /// It is no CSV, or a row has other columns than the first.
    #[error("read components: {0}")]
    Csv(#[from] csv::Error),
    /// A column is missing.
    #[error(
        "read components: it has no column `{0}`; its first line names component, phase, cpu_cores and memory_bytes, and may name limit_cores"
    )]
    Column(&'static str),
    /// A row is of another form.
    #[error("read components: line {line}: {why}")]
    Row {
        /// Its line, from 1 on.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// There is no row.
    #[error("read components: it has no row below its first line")]
    Empty,
}

impl ComponentUse {
    /// Components of a CSV, in the order in which they come first: `component`, `phase` (`idle` or `load`), `cpu_cores`, `memory_bytes` and `limit_cores`, the last
    /// where somebody states it. Several rows of a component and phase are samples, of which it has the mean; an empty cell is none.
    ///
    /// # Errors
    /// Text that is no such CSV.
    pub fn read(text: &str) -> Result<Vec<Self>, ComponentError> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let header = reader.headers()?.clone();
        let place = |name: &'static str| header.iter().position(|column| column == name);
        let needed = |name: &'static str| place(name).ok_or(ComponentError::Column(name));
        let (component, phase) = (needed("component")?, needed("phase")?);
        let (cores, memory, limit) = (needed("cpu_cores")?, needed("memory_bytes")?, place("limit_cores"));
        let mut all: Vec<Samples> = Vec::new();
        for row in reader.records() {
            let row = row?;
            let line = row.position().map_or(0, csv::Position::line);
            let wrong = |why: String| ComponentError::Row { line, why };
            let name = row.get(component).unwrap_or_default();
            if name.is_empty() {
                return Err(wrong("it names no component".to_owned()));
            }
            let is_load = match row.get(phase).unwrap_or_default() {
                "load" => true,
                "idle" => false,
                other => {
                    return Err(wrong(format!("its phase is `{other}`, which is neither idle nor load")));
                }
            };
            let figure =
                |place: usize| figure(&header[place], row.get(place).unwrap_or_default()).map_err(wrong);
            let samples = match all.iter().position(|known| known.name == name) {
                Some(place) => &mut all[place],
                None => {
                    all.push(Samples { name: name.to_owned(), ..Samples::default() });
                    let last = all.len() - 1;
                    &mut all[last]
                }
            };
            samples.cores[usize::from(is_load)].extend(figure(cores)?);
            samples.memory[usize::from(is_load)].extend(figure(memory)?);
            samples.limit.extend(limit.map(figure).transpose()?.flatten());
        }
        if all.is_empty() {
            return Err(ComponentError::Empty);
        }
        Ok(all.into_iter().map(Samples::means).collect())
    }

    /// What a report says of one.
    pub(crate) fn of_report(component: &ComponentResources) -> Self {
        Self {
            name: component.name.clone(),
            idle_cores: component.idle_mean_cores,
            load_cores: component.cpu.map(|cpu| cpu.mean_cores),
            idle_memory_bytes: None,
            load_memory_bytes: component.memory_max_bytes.map(|bytes| bytes as f64),
            limit_cores: None,
        }
    }

    /// The components of several runs, in the order in which they are met first, each by the means of its figures.
    pub(crate) fn means<'a>(runs: impl Iterator<Item = &'a [Self]>) -> Vec<Self> {
        let mut all: Vec<Samples> = Vec::new();
        for component in runs.flatten() {
            let place = all.iter().position(|known| known.name == component.name);
            let place = place.unwrap_or_else(|| {
                all.push(Samples { name: component.name.clone(), ..Samples::default() });
                all.len() - 1
            });
            let samples = &mut all[place];
            samples.cores[0].extend(component.idle_cores);
            samples.cores[1].extend(component.load_cores);
            samples.memory[0].extend(component.idle_memory_bytes);
            samples.memory[1].extend(component.load_memory_bytes);
            samples.limit.extend(component.limit_cores);
        }
        all.into_iter().map(Samples::means).collect()
    }
}

/// What is known of a component, idle and under load.
#[derive(Default)]
struct Samples {
    name: String,
    cores: [Vec<f64>; 2],
    memory: [Vec<f64>; 2],
    limit: Vec<f64>,
}

impl Samples {
    fn means(self) -> ComponentUse {
        let mean = |all: &[f64]| (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64);
        let ([idle_cores, load_cores], [idle_memory, load_memory]) =
            (self.cores.map(|all| mean(&all)), self.memory.map(|all| mean(&all)));
        ComponentUse {
            name: self.name,
            idle_cores,
            load_cores,
            idle_memory_bytes: idle_memory,
            load_memory_bytes: load_memory,
            limit_cores: mean(&self.limit),
        }
    }
}

/// A number of a cell, at least 0; none of an empty one.
fn figure(column: &str, cell: &str) -> Result<Option<f64>, String> {
    if cell.is_empty() {
        return Ok(None);
    }
    let number = cell.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let shown: String = cell.chars().take(40).collect();
    number.map(Some).ok_or_else(|| format!("its {column} is `{shown}`, which is no number from 0 on"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_a_component_are_averaged_by_phase() {
        let text = "phase,component,memory_bytes,cpu_cores\n\
                    idle, oauth-proxy ,1000,0.001\nload,oauth-proxy,2000,0.02\nload,oauth-proxy,4000,0.04\n\nload,echo,,0.05\n";
        let all = ComponentUse::read(text).unwrap();
        assert_eq!(
            (all[0].name.as_str(), all[0].idle_cores, all[0].load_cores),
            ("oauth-proxy", Some(0.001), Some(0.03))
        );
        assert_eq!((all[0].idle_memory_bytes, all[0].load_memory_bytes), (Some(1000.0), Some(3000.0)));
        assert_eq!(
            (all[1].load_cores, all[1].load_memory_bytes, all[1].idle_cores),
            (Some(0.05), None, None)
        );
        assert_eq!(all[1].limit_cores, None);
    }

    #[test]
    fn what_is_no_such_csv_is_told_by_its_line() {
        let head = "component,phase,cpu_cores,memory_bytes";
        for (text, told) in [
            ("component,phase,cpu_cores\n".to_owned(), "no column `memory_bytes`"),
            (format!("{head}\n"), "no row"),
            (format!("{head}\nauth,idle,0,0\nauth,busy,1,1\n"), "line 3: its phase is `busy`"),
            (format!("{head}\nauth,load,-1,1\n"), "line 2: its cpu_cores is `-1`"),
            (format!("{head}\nauth,load,1,12Mi\n"), "its memory_bytes is `12Mi`"),
            (format!("{head}\n,load,1,1\n"), "names no component"),
            (format!("{head}\nauth,load,1\n"), "found record with 3 fields"),
        ] {
            let why = ComponentUse::read(&text).unwrap_err().to_string();
            assert!(why.contains(told), "{told}: {why}");
        }
    }
}
