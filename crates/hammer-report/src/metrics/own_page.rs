//! The page that is written: one whose samples name the run.

use hammer_pages::exposition::WrittenPage;

/// A page all of whose samples name the run, where there are several.
pub(super) struct OwnPage<'a> {
    pub(super) page: WrittenPage,
    pub(super) run: Option<&'a str>,
}

impl OwnPage<'_> {
    pub(super) fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.page.metric(name, kind, help);
    }

    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let Some(run) = self.run else { return self.page.sample(name, labels, value) };
        let labels: Vec<(&str, &str)> = std::iter::once(("run", run)).chain(labels.iter().copied()).collect();
        self.page.sample(name, &labels, value);
    }
}
