//! A report as one page of HTML that needs nothing else: no network, and no script but to show figures under a pointer. What it says is what
//! the text says, and what it draws stands in tables behind the charts. And the same of a run that goes on, in parts that are made anew.

mod axis;
mod chart;
mod charted_run;
mod comparison_page;
mod figure;
mod live_page;
mod page;
mod rates;
mod report_page;
mod response_times;
mod run_time;
mod summary_page;

pub use chart::DrawError;
pub use comparison_page::{comparison_document, sweep_comparison_document, told_document};
pub use live_page::{LivePage, LivePart, token_page};
pub use report_page::{document, window_document};
pub use summary_page::summary_document;
