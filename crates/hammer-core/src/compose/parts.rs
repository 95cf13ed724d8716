//! The series of parts, put together.

use std::rc::Rc;
use std::sync::Arc;

use crate::workload::SeriesSpec;

/// The series of all parts, and where those of each stand among them.
#[derive(Clone, Debug)]
pub(super) struct PartSeries {
    all: Vec<SeriesSpec>,
    places: Vec<Vec<usize>>,
}

impl PartSeries {
    /// Series stand under their part's name, as `<part>/add-chain`; operations come first, as everywhere.
    pub(super) fn new(parts: &[(Arc<str>, Vec<SeriesSpec>)]) -> Self {
        let mut all = Vec::new();
        let mut places: Vec<Vec<usize>> = parts.iter().map(|(_, specs)| vec![0; specs.len()]).collect();
        for operation in [true, false] {
            for ((part, specs), places) in parts.iter().zip(&mut places) {
                for (spec, place) in specs.iter().zip(places).filter(|(spec, _)| spec.operation == operation)
                {
                    *place = all.len();
                    all.push(SeriesSpec { name: format!("{part}/{}", spec.name), operation });
                }
            }
        }
        Self { all, places }
    }

    pub(super) fn all(&self) -> Vec<SeriesSpec> {
        self.all.clone()
    }

    /// The place among all of what the part calls its series `series`.
    pub(super) fn place(&self, part: usize, series: usize) -> usize {
        self.places[part][series]
    }

    /// Those of a part, as its operations' records take them.
    pub(super) fn of_part(&self, part: usize) -> Rc<[usize]> {
        self.places[part].as_slice().into()
    }
}
