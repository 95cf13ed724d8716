//! A row of one of Locust's files.

use std::io::{self, Write};

use hammer_measure::histogram::Distribution;

use crate::csv_row;

/// The fields of a row so far.
#[derive(Debug, Default)]
pub(super) struct Row(Vec<String>);

/// The percentiles that Locust reports, as it calls them.
pub(super) const PERCENTILES: [(&str, f64); 11] = [
    ("50%", 0.50),
    ("66%", 0.66),
    ("75%", 0.75),
    ("80%", 0.80),
    ("90%", 0.90),
    ("95%", 0.95),
    ("98%", 0.98),
    ("99%", 0.99),
    ("99.9%", 0.999),
    ("99.99%", 0.999_9),
    ("100%", 1.0),
];

impl Row {
    pub(super) fn of<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::default().texts(texts)
    }

    pub(super) fn texts<T: AsRef<str>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        self.0.extend(texts.into_iter().map(|text| text.as_ref().to_owned()));
        self
    }

    /// Each percentile in whole milliseconds; 0 where nothing was recorded.
    pub(super) fn percentiles(self, times: &Distribution) -> Self {
        let milliseconds =
            |quantile: f64| times.quantile(quantile).map_or(0.0, |found| millis(found.nanos().0));
        self.texts(PERCENTILES.map(|(_, quantile)| format!("{:.0}", milliseconds(quantile))))
    }

    /// What stands for them where there never was a request.
    pub(super) fn without_percentiles(self) -> Self {
        self.texts(PERCENTILES.map(|_| "N/A"))
    }

    /// Median in whole milliseconds, mean, shortest and longest.
    pub(super) fn lengths(self, times: &Distribution) -> Self {
        let Some(summary) = times.summary() else { return self.texts(["0", "0.0", "0", "0"]) };
        let median = format!("{:.0}", millis(summary.p50.nanos().0));
        let others = [summary.mean / 1e6, millis(summary.min.0), millis(summary.max.0)];
        self.texts([median]).texts(others.map(|length| length.to_string()))
    }

    pub(super) fn write(self, writer: &mut dyn Write) -> io::Result<()> {
        writer.write_all(csv_row::written(self.0).as_bytes())
    }
}

fn millis(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}
