//! What pages have in common: a banner, what stands below it, a style and a script; and one that follows a run, which is given new parts.

use hammer_measure::shown_lines;
use hammer_report::verdict::Standing;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A page whose parts are made.
pub(crate) struct Page {
    /// The first line of the banner.
    pub(crate) title: String,
    /// What the banner is coloured by; of several runs that do not agree none.
    pub(crate) standing: Option<Standing>,
    /// What stands in the banner below it.
    pub(crate) beneath: Markup,
    pub(crate) main: Markup,
    pub(crate) footer: String,
    pub(crate) follows: Follows,
}

/// Whether a page is done as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Follows {
    /// It asks for nothing.
    Nothing,
    /// It asks where it came from for what is new of the run that this tells from others.
    Run(String),
}

/// The class of a banner.
pub(crate) const fn class(standing: Option<Standing>) -> &'static str {
    match standing {
        Some(Standing::Passed) => "passed",
        Some(Standing::Failed | Standing::Interrupted) => "failed",
        Some(Standing::NoExpectation) | None => "open",
    }
}

/// What stands in a banner.
pub(crate) fn banner(title: &str, beneath: &Markup) -> Markup {
    html! { h1 { (shown_lines(title)) } (beneath) }
}

impl Page {
    /// The whole document.
    pub(crate) fn document(&self) -> String {
        let run = match &self.follows {
            Follows::Nothing => None,
            Follows::Run(run) => Some(run),
        };
        let is_live = run.is_some();
        let policy = if is_live { format!("{POLICY}; connect-src 'self'") } else { POLICY.to_owned() };
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    // Nothing is fetched from anywhere else, whatever a report holds.
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    @if is_live { noscript { meta http-equiv="refresh" content="5"; } }
                    link rel="icon" href="data:,";
                    title { "hammer: " (shown_lines(&self.title)) }
                    style { (PreEscaped(STYLE)) }
                }
                body data-run=[run] {
                    header #banner .(class(self.standing)) { (banner(&self.title, &self.beneath)) }
                    main { (self.main) }
                    footer { span #made { (shown_lines(&self.footer)) } @if is_live { p { span #link role="status" { "as of when it was asked for" } } } }
                    div #tip role="status" hidden {}
                    script { (PreEscaped(SCRIPT)) }
                    @if is_live { script { (PreEscaped(LIVE_SCRIPT)) } }
                }
            }
        };
        page.into_string()
    }
}

const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const LIVE_SCRIPT: &str = include_str!("live.js");
