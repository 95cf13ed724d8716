//! What of a run charts are made of: all of its report, or a window, whose response times may be those of an interval log.

use hammer_report::report::{Report, ResponseTimes};
use hammer_report::{LoggedTimes, Window};
use maud::{Markup, html};

use crate::axis::trimmed;
use crate::run_time::RunTime;

/// A run as its charts have it.
pub(crate) struct ChartedRun<'a> {
    pub(crate) report: &'a Report,
    pub(crate) time: RunTime,
    /// By series, in the order of the report's.
    pub(crate) times: &'a [ResponseTimes],
    logged: Option<&'a LoggedTimes>,
}

impl<'a> ChartedRun<'a> {
    /// All of a run, by its report.
    pub(crate) fn whole(report: &'a Report) -> Self {
        Self::of(report, Window::whole(report), None)
    }

    /// A window of a run, with the response times of its interval log where there is one.
    pub(crate) fn of(report: &'a Report, window: Window, logged: Option<&'a LoggedTimes>) -> Self {
        let times = logged.map_or(&report.response_times, |logged| &logged.series);
        Self { report, time: RunTime::of(report, window), times, logged }
    }

    /// Whether response times are those of an interval log.
    pub(crate) const fn is_logged(&self) -> bool {
        self.logged.is_some()
    }

    /// Whether charts are of all of the run.
    pub(crate) fn is_whole(&self) -> bool {
        self.time.window == Window::whole(self.report)
    }

    /// What is to be known of response times that are shown in so many points: nothing of those in the report.
    pub(crate) fn log_note(&self, points: usize) -> String {
        let Some(LoggedTimes { intervals, merged, .. }) = self.logged else { return String::new() };
        let point = match *merged > 0 || points < *intervals as usize {
            true => "A point is of several intervals of the log, whose histograms are added up",
            false => "A point is an interval of the log",
        };
        format!("{point}. What never ended is in no log.")
    }

    /// What charts are of, where that is not all of the report.
    pub(crate) fn told(&self) -> Markup {
        let window = self.time.window;
        let ends = [window.from(), window.to()].map(|end| trimmed(end.as_secs_f64()));
        html! {
            @if !self.is_whole() {
                p { "Charts are of " b { (ends[0]) " s to " (ends[1]) " s" } " after the run's start, tables of all of it." }
            }
            @if let Some(logged) = self.logged {
                p { "Response times in charts are those of the interval log, of " (hammer_report::text::number::plural(logged.intervals, "interval")) "." }
            }
        }
    }
}
