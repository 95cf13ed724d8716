//! The reporters of what is written while a run lasts.

use std::io;
use std::path::Path;

use hammer_measure::{Reporter, SampleSizes};
use hammer_report::{EventsWriter, HlogWriter, LocustCsv, Reason, SamplesWriter};

use super::{Outputs, unwritten};
use crate::error::OutputError;

/// The reporters that write files while a run lasts, those of the run that is carried out.
pub(crate) struct StreamReporters {
    events: Option<WrittenTo<EventsWriter>>,
    samples: Option<WrittenTo<SamplesWriter>>,
    csv: Option<WrittenTo<LocustCsv>>,
    hlog: Option<WrittenTo<HlogWriter>>,
}

/// A writer, and what it writes as it is told where that fails: `the events to run.jsonl`.
pub(super) struct WrittenTo<W> {
    pub(super) what: String,
    pub(super) writer: W,
}

impl StreamReporters {
    /// Those of a run that is measured, with so many samples.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(crate) fn of(outputs: &mut Outputs, sizes: SampleSizes) -> Result<Self, OutputError> {
        Ok(Self {
            events: outputs.events()?,
            samples: outputs.samples(sizes)?,
            csv: outputs.csv()?,
            hlog: outputs.hlog()?,
        })
    }

    /// Those of a fill, whose events alone are told: the other files are of what is measured.
    ///
    /// # Errors
    /// When the events cannot be written.
    pub(crate) fn of_fill(outputs: &mut Outputs) -> Result<Self, OutputError> {
        Ok(Self { events: outputs.events()?, samples: None, csv: None, hlog: None })
    }

    /// Whether single operations are written.
    pub(crate) fn has_samples(&self) -> bool {
        self.samples.is_some()
    }

    /// Each of them.
    pub(crate) fn reporters(&mut self) -> impl Iterator<Item = &mut dyn Reporter> {
        let Self { events, samples, csv, hlog } = self;
        let events = events.as_mut().map(|events| &mut events.writer as &mut dyn Reporter);
        let samples = samples.as_mut().map(|samples| &mut samples.writer as &mut dyn Reporter);
        let csv = csv.as_mut().map(|csv| &mut csv.writer as &mut dyn Reporter);
        let hlog = hlog.as_mut().map(|hlog| &mut hlog.writer as &mut dyn Reporter);
        [events, samples, csv, hlog].into_iter().flatten()
    }

    /// Writes what is left of each, and says what could not be written.
    pub(crate) fn finish(self) -> Vec<Reason> {
        let Self { events, samples, csv, hlog } = self;
        let finished = [
            events.map(|events| (events.what, events.writer.finish())),
            samples.map(|samples| (samples.what, samples.writer.finish())),
            csv.map(|csv| (csv.what, csv.writer.finish())),
            hlog.map(|hlog| (hlog.what, hlog.writer.finish())),
        ];
        let lost = |(what, finished): (String, io::Result<()>)| {
            finished.err().map(|error| unwritten(Path::new(&what), &error))
        };
        finished.into_iter().flatten().filter_map(lost).collect()
    }
}
