//! What pages have in common: a banner, what stands below it, a style and a script.

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
}

impl Page {
    /// The whole document.
    pub(crate) fn document(&self) -> String {
        let class = match self.standing {
            Some(Standing::Passed) => "passed",
            Some(Standing::Failed | Standing::Interrupted) => "failed",
            Some(Standing::NoExpectation) | None => "open",
        };
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    // Nothing is fetched from anywhere, whatever a report holds.
                    meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
                    link rel="icon" href="data:,";
                    title { "hammer: " (shown_lines(&self.title)) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    header.(class) { h1 { (shown_lines(&self.title)) } (self.beneath) }
                    main { (self.main) }
                    footer { (shown_lines(&self.footer)) }
                    div #tip role="status" hidden {}
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        page.into_string()
    }
}

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
