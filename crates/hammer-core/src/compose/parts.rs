//! The series and the promises of parts, put together.

use std::rc::Rc;
use std::sync::Arc;

use crate::promise::PromiseKind;
use crate::record::PartPlaces;
use crate::workload::{SeriesSpec, Workload};

/// What the parts of a workload are together, and what each calls its own.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    series: Vec<SeriesSpec>,
    kinds: Vec<&'static str>,
    names: Vec<Arc<str>>,
    places: Vec<PartPlaces>,
}

/// A part as it is told of: its name, its series and its kinds of promises.
pub(super) struct PartWords {
    name: Arc<str>,
    series: Vec<SeriesSpec>,
    kinds: Vec<&'static str>,
}

impl PartWords {
    pub(super) fn of(name: &Arc<str>, workload: &impl Workload) -> Self {
        let (series, kinds) = (workload.series(), workload.promise_kinds().to_vec());
        Self { name: name.clone(), series, kinds }
    }
}

impl Parts {
    /// Series stand under their part's name, as `<part>/add-chain`, operations first, as everywhere; a kind of promise that several
    /// parts receive is one kind.
    pub(super) fn new(parts: &[PartWords]) -> Self {
        let mut series = Vec::new();
        let mut places: Vec<Vec<usize>> = parts.iter().map(|part| vec![0; part.series.len()]).collect();
        for operation in [true, false] {
            for (part, places) in parts.iter().zip(&mut places) {
                let specs = part.series.iter().zip(places).filter(|(spec, _)| spec.operation == operation);
                for (spec, place) in specs {
                    *place = series.len();
                    let name = format!("{}/{}", part.name, spec.name);
                    series.push(SeriesSpec { name, ..spec.clone() });
                }
            }
        }
        let mut kinds: Vec<&'static str> = Vec::new();
        let mut number_of = |kind: &'static str| {
            let known = kinds.iter().position(|known| *known == kind);
            let number = known.unwrap_or_else(|| {
                kinds.push(kind);
                kinds.len() - 1
            });
            PromiseKind(number as u8)
        };
        let places = parts.iter().zip(places).map(|(part, series)| {
            let kinds = part.kinds.iter().map(|kind| number_of(kind)).collect();
            PartPlaces { series, kinds }
        });
        let places = places.collect();
        Self { series, kinds, names: parts.iter().map(|part| part.name.clone()).collect(), places }
    }

    pub(super) fn series(&self) -> Vec<SeriesSpec> {
        self.series.clone()
    }

    pub(super) fn kinds(&self) -> &[&'static str] {
        &self.kinds
    }

    /// The name of a part.
    pub(super) fn name(&self, part: usize) -> &Arc<str> {
        &self.names[part]
    }

    /// The place among all of what the part calls its series `series`.
    pub(super) fn place(&self, part: usize, series: usize) -> usize {
        self.places[part].series[series]
    }

    /// Those of a part, as its operations' records take them.
    pub(super) fn places(&self, part: usize) -> Rc<PartPlaces> {
        Rc::new(self.places[part].clone())
    }

    /// What each of the part's kinds of promises is of all.
    pub(super) fn kinds_of(&self, part: usize) -> Arc<[PromiseKind]> {
        self.places[part].kinds.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_under_its_parts_name_what_it_was_in_it() {
        let part = |name: &str, series| PartWords { name: name.into(), series, kinds: Vec::new() };
        let step = SeriesSpec::new("post", false);
        let wrong = SeriesSpec::new("invalid", true).with_refusals_meant();
        let parts =
            Parts::new(&[part("a", vec![wrong, step]), part("b", vec![SeriesSpec::new("get", true)])]);
        let expected = [
            SeriesSpec::new("a/invalid", true).with_refusals_meant(),
            SeriesSpec::new("b/get", true),
            SeriesSpec::new("a/post", false),
        ];
        assert_eq!(parts.series(), expected);
    }
}
