//! The page of a run that goes on: the parts of its report's page, each made anew as the run goes.

use hammer_measure::{Nanos, shown_lines};
use hammer_report::Report;
use hammer_report::report::PhaseName;
use hammer_report::verdict::Standing;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use crate::chart::DrawError;
use crate::charted_run::ChartedRun;
use crate::page::{Follows, Page, banner, class};
use crate::report_page::{Part, footer, health, named, parts, title};

/// A page as far as its run has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LivePage {
    /// What tells the run from others: `DOOR-PLACE`.
    run: String,
    title: String,
    /// Of a report that is done.
    standing: Option<Standing>,
    beneath: String,
    parts: Vec<LivePart>,
    footer: String,
}

/// A part of the page: an element by its id, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LivePart {
    /// The element's id.
    pub id: String,
    /// HTML, in which everything that a plan or a server said is text.
    pub html: String,
}

/// What whoever has an earlier page is told.
#[derive(Serialize)]
struct Update<'a> {
    run: &'a str,
    title: &'a str,
    standing: &'static str,
    parts: Vec<&'a LivePart>,
}

impl LivePage {
    /// That of a run that goes on, of which `report` is as far as it has come, and `lines` say how it goes now.
    ///
    /// # Errors
    /// Where a chart cannot be drawn, which no figure makes it do.
    pub fn running(run: &str, report: &Report, lines: &[String]) -> Result<Self, DrawError> {
        let beneath = html! { @for line in lines.iter().filter(|line| !line.is_empty()) { p { (shown_lines(line)) } } (health(report)) };
        Self::new((run, report), running_title(report), &beneath, None)
    }

    /// That of a run of which no interval has ended, which stands so.
    pub fn unmeasured(run: &str, name: Option<&str>, standing: &str) -> Self {
        let title = name.map_or_else(|| standing.to_owned(), |name| format!("{name}: {standing}"));
        Self { run: run.to_owned(), title, ..Self::default() }.with_banner(&html! {})
    }

    /// That of a run that has ended.
    ///
    /// # Errors
    /// As [`LivePage::running`].
    pub fn ended(run: &str, report: &Report) -> Result<Self, DrawError> {
        Self::new((run, report), title(report), &health(report), Some(report.verdict.standing))
    }

    fn new(
        (run, report): (&str, &Report),
        title: String,
        beneath: &Markup,
        standing: Option<Standing>,
    ) -> Result<Self, DrawError> {
        let parts = parts(&ChartedRun::whole(report))?
            .into_iter()
            .map(|Part { id, markup }| LivePart { id, html: markup.into_string() });
        let (parts, footer) = (parts.collect(), footer(report));
        let run = run.to_owned();
        Ok(Self { run, title, standing, parts, footer, ..Self::default() }.with_banner(beneath))
    }

    fn with_banner(mut self, beneath: &Markup) -> Self {
        self.beneath = beneath.clone().into_string();
        let html = banner(&self.title, beneath).into_string();
        self.parts.insert(0, LivePart { id: BANNER.to_owned(), html });
        let made = html! { (shown_lines(&self.footer)) }.into_string();
        self.parts.push(LivePart { id: MADE.to_owned(), html: made });
        self
    }

    /// Whether it is of a report that is done.
    pub const fn has_ended(&self) -> bool {
        self.standing.is_some()
    }

    /// The whole document, which asks for what is new at `live` beside where it came from.
    pub fn document(&self) -> String {
        let parts = self.parts.iter().filter(|part| ![BANNER, MADE].contains(&part.id.as_str()));
        let page = Page {
            title: self.title.clone(),
            standing: self.standing,
            beneath: html! { (PreEscaped(&self.beneath)) },
            main: html! { @for part in parts { div id=(part.id) { (PreEscaped(&part.html)) } } },
            footer: self.footer.clone(),
            follows: Follows::Run(self.run.clone()),
        };
        page.document()
    }

    /// What is new for whoever has `earlier`, as JSON: `run`, `title`, `standing` (the class of the banner) and the `parts` that differ.
    pub fn update(&self, earlier: &Self) -> String {
        let known = |part: &&LivePart| self.run == earlier.run && earlier.parts.contains(part);
        let parts = self.parts.iter().filter(|part| !known(part)).collect();
        let update = Update { run: &self.run, title: &self.title, standing: class(self.standing), parts };
        serde_json::to_string(&update).unwrap_or_default()
    }
}

/// The page that asks a person for the token of a door, and takes it to `session` beside where it came from; `is_wrong` where another one was given.
pub fn token_page(is_wrong: bool) -> String {
    let page = Page {
        title: "a token is needed".to_owned(),
        standing: None,
        beneath: html! { p { "Whoever started the run has it in the file that --web-token names." } },
        main: html! {
            // As plain text, so that no letter of it is written in another way.
            form method="post" action="session" enctype="text/plain" {
                @if is_wrong { p { b { "That is not the token." } } }
                p { label { "Token " input type="password" name="token" autocomplete="off" required autofocus; } " " button { "Look on" } }
            }
        },
        footer: "hammer".to_owned(),
        follows: Follows::Nothing,
    };
    page.document()
}

/// `NAME: measurement, 12.0s of 60.0s`.
fn running_title(report: &Report) -> String {
    let name = named(report).map_or_else(String::new, |name| format!("{name}: "));
    let Some(span) = report.phases.last() else { return format!("{name}under way") };
    let planned = match span.phase {
        PhaseName::WarmUp => Some(report.run.warm_up_ns),
        PhaseName::Measurement => report.run.measurement_ns,
        PhaseName::Drain => None,
    };
    let planned = planned.map_or_else(String::new, |planned| format!(" of {}", Nanos(planned)));
    let lasted = Nanos(span.end_ns.saturating_sub(span.begin_ns));
    format!("{name}{}, {lasted}{planned}", span.phase.words())
}

const BANNER: &str = "banner";
/// The first words of the footer.
const MADE: &str = "made";
