//! One figure of several runs of one variant.

/// The figure of each run, in the order in which the runs were given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample(Vec<f64>);

impl Sample {
    /// That of these figures.
    pub fn new(figures: Vec<f64>) -> Self {
        Self(figures)
    }

    /// The figures.
    pub fn figures(&self) -> &[f64] {
        &self.0
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Their mean; none of nothing.
    pub fn mean(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.iter().sum::<f64>() / self.0.len() as f64)
    }

    /// Their variance as a sample of all runs that there could be, by n - 1; none of fewer than two.
    pub fn variance(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.0.len() > 1)?;
        Some(self.0.iter().map(|figure| (figure - mean).powi(2)).sum::<f64>() / (self.0.len() - 1) as f64)
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
        self.0.iter().copied().reduce(f64::min)
    }

    /// The greatest of them.
    pub fn greatest(&self) -> Option<f64> {
        self.0.iter().copied().reduce(f64::max)
    }

    /// Their natural logarithms; none where one of them has none.
    pub(crate) fn logarithms(&self) -> Option<Self> {
        let all_are_positive = self.0.iter().all(|figure| *figure > 0.0 && figure.is_finite());
        all_are_positive.then(|| Self(self.0.iter().map(|figure| figure.ln()).collect()))
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
