//! One figure of several runs of one variant.

/// The figure of each run, in the order in which the runs were given; none of a run that has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    runs: Vec<Option<f64>>,
    known: Vec<f64>,
    resolution: f64,
}

impl Sample {
    /// That of these figures.
    pub fn new(figures: Vec<f64>) -> Self {
        Self::of_runs(figures.into_iter().map(Some).collect(), 0.0)
    }

    /// That of runs of which some may have none. The figures are no closer to the truth than the resolution.
    pub(crate) fn of_runs(runs: Vec<Option<f64>>, resolution: f64) -> Self {
        Self { known: runs.iter().flatten().copied().collect(), runs, resolution }
    }

    /// The figure of each run.
    pub fn runs(&self) -> &[Option<f64>] {
        &self.runs
    }

    /// How many runs have one.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// How close to the truth they can be.
    pub(crate) fn resolution(&self) -> f64 {
        self.resolution
    }

    /// Their mean; none of nothing.
    pub fn mean(&self) -> Option<f64> {
        (!self.known.is_empty()).then(|| self.known.iter().sum::<f64>() / self.known.len() as f64)
    }

    /// Their variance as a sample of all runs that there could be, by n - 1; none of fewer than two.
    pub fn variance(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.known.len() > 1)?;
        let squares = self.known.iter().map(|figure| (figure - mean).powi(2));
        Some(squares.sum::<f64>() / (self.known.len() - 1) as f64)
    }

    /// Its root: the sample standard deviation.
    pub fn standard_deviation(&self) -> Option<f64> {
        self.variance().map(f64::sqrt)
    }

    /// The coefficient of variation: the standard deviation in parts of the mean.
    pub fn variation(&self) -> Option<f64> {
        let mean = self.mean().filter(|mean| *mean != 0.0)?;
        self.standard_deviation().map(|deviation| deviation / mean)
    }

    /// The least of them.
    pub fn least(&self) -> Option<f64> {
        self.known.iter().copied().reduce(f64::min)
    }

    /// The greatest of them.
    pub fn greatest(&self) -> Option<f64> {
        self.known.iter().copied().reduce(f64::max)
    }

    /// Their natural logarithms; none where one of them has none.
    pub(crate) fn logarithms(&self) -> Option<Self> {
        let all_are_positive = self.known.iter().all(|figure| *figure > 0.0 && figure.is_finite());
        all_are_positive.then(|| Self::new(self.known.iter().map(|figure| figure.ln()).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        // P95 of the published iterations, in milliseconds.
        let sample = Sample::new(vec![68.0, 66.0, 64.0, 74.0, 62.0]);
        assert_eq!(sample.mean(), Some(66.8));
        assert_eq!((sample.least(), sample.greatest()), (Some(62.0), Some(74.0)));
        let deviation = sample.standard_deviation().unwrap();
        assert!((deviation - 4.604_345_8).abs() < 1e-6, "{deviation}");
        assert!((sample.variation().unwrap() - deviation / 66.8).abs() < 1e-12);
    }

    #[test]
    fn one_run_has_no_deviation_and_none_has_no_mean() {
        assert_eq!(Sample::new(vec![3.0]).variance(), None);
        assert_eq!(Sample::default().mean(), None);
        assert_eq!(Sample::new(vec![0.0, 0.0]).variation(), None);
        assert_eq!(Sample::new(vec![1.0, 0.0]).logarithms(), None);
        assert_eq!(Sample::new(vec![1.0, f64::INFINITY]).logarithms(), None);
    }
}
