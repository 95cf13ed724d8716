//! `hammer report`: what a run left behind, in another form.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;

use hammer_measure::Nanos;
use hammer_report::report::{ResponseStretch, Series, SeriesKind};
use hammer_report::{
    ExitCode, LoggedTimes, Report, Summary, Window, flat_csv, hgrm, hlog, junit, locust, markdown, metrics,
};
use hammer_values::TimeSpan;

use crate::args::{ReportArgs, ReportForm};
use crate::bounded_file::{self, MOST_REPORT};
use crate::error::{CliError, UsageError};
use crate::output::standard::print;
use crate::output::{PageFile, numbered, shown};

/// Prints it. The exit code is that of the printing, and not of the run.
pub(crate) fn show(args: &ReportArgs) -> Result<ExitCode, CliError> {
    let path = &args.report;
    if args.series.is_some() && args.form != ReportForm::Hgrm {
        return Err(UsageError::SeriesOfAll.into());
    }
    if args.detail && args.form != ReportForm::Text {
        return Err(UsageError::DetailOfForm.into());
    }
    let json = bounded_file::text(path, MOST_REPORT)
        .map_err(|source| UsageError::File { path: path.clone(), source })?;
    let unread = |why: String| UsageError::Report { path: path.clone(), why };
    let form = |report: &Report| match args.form {
        ReportForm::Text => Ok(shown(report, args.detail, &io::stdout())),
        ReportForm::Markdown => Ok(markdown::document(report)),
        ReportForm::Csv => Ok(flat_csv::document(report)),
        ReportForm::LocustCsv => locust::stats(report).map_err(|error| unread(error.to_string())),
        ReportForm::Junit => junit::document(report).map_err(|error| unread(error.to_string())),
        ReportForm::Hlog => {
            hlog::document(report).ok_or_else(|| unread("it does not say when the run was".to_owned()))
        }
        ReportForm::Prom => Ok(metrics::page(report)),
        ReportForm::Hgrm => curve(report, args.series.as_deref()).map_err(unread),
    };
    let draws = args.html.is_some()
        || matches!(
            args.form,
            ReportForm::Hgrm | ReportForm::Hlog | ReportForm::Prom | ReportForm::LocustCsv
        );
    let parsed = Report::parse(&json);
    if let Some(why) = parsed.as_ref().ok().filter(|_| draws).and_then(damaged) {
        return Err(unread(why).into());
    }
    let text = match (parsed, &args.html) {
        (Ok(report), None) => form(&report)?,
        (Ok(report), Some(page)) => {
            let (window, logged) = charted(args, &report)?;
            let page = PageFile::open(page, [path].into_iter().chain(&args.hlog))?;
            page.write(hammer_html::window_document(&report, window, logged.as_ref()))?;
            String::new()
        }
        (Err(why), page) => match summary(&json) {
            Some(summary) => match (page, args.form) {
                (None, ReportForm::Text) => summary.render(),
                (None, ReportForm::Markdown) => markdown::summary_document(&summary),
                (None, ReportForm::Csv) => flat_csv::summary_document(&summary),
                (None, _) => {
                    let first = numbered(path, 1);
                    let beside = if first.is_file() {
                        format!("; the reports of each stand beside it, from {}", first.display())
                    } else {
                        String::new()
                    };
                    return Err(unread(OF_SEVERAL.to_owned() + &beside).into());
                }
                (Some(_), _) if args.hlog.is_some() || args.from.is_some() || args.to.is_some() => {
                    return Err(unread(WITHOUT_WINDOW.to_owned()).into());
                }
                (Some(page), _) => {
                    PageFile::open(page, [path])?.write(hammer_html::summary_document(&summary))?;
                    String::new()
                }
            },
            None => return Err(unread(format!("failed to {why}")).into()),
        },
    };
    print(io::stdout(), |out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::Clean)
}

const OF_SEVERAL: &str = "it is of several runs, which are text, Markdown, a table (csv) or a page of HTML";

const WITHOUT_WINDOW: &str = "it is of several runs, and --hlog, --from and --to are of one";

/// What charts are of.
fn charted(args: &ReportArgs, report: &Report) -> Result<(Window, Option<LoggedTimes>), UsageError> {
    let nanos = |at: Option<TimeSpan>| at.map(|at| Nanos::from(at.duration()));
    let window = Window::of(report, nanos(args.from), nanos(args.to))?;
    let read = |path: &PathBuf| {
        let log = File::open(path).map_err(|source| UsageError::FlaggedFile {
            flag: "--hlog",
            path: path.clone(),
            source,
        })?;
        LoggedTimes::read(BufReader::new(log), report, window)
            .map_err(|source| UsageError::IntervalLog { path: path.clone(), source })
    };
    Ok((window, args.hlog.as_ref().map(read).transpose()?))
}

/// What of a report's histograms cannot be read: nothing that is drawn or counted of it would be true.
fn damaged(report: &Report) -> Option<String> {
    let of_series = report.series.iter().flat_map(|series| {
        let phases = [("warm_up", &series.warm_up), ("measurement", &series.measurement)];
        phases.into_iter().filter_map(|(name, phase)| {
            let times = phase.durations.response_time.as_ref().filter(|times| times.hdr.is_some())?;
            times
                .distribution()
                .is_none()
                .then(|| format!("{name}.durations.response_time.hdr of {}", series.path))
        })
    });
    let of_stretches = report.response_times.iter().filter_map(|times| {
        let is_damaged =
            |stretch: &&ResponseStretch| stretch.hdr.is_some() && stretch.distribution().is_none();
        let stretch = times.stretches.iter().find(is_damaged)?;
        Some(format!("response_times of {}, the stretch until {}", times.path, Nanos(stretch.at_ns)))
    });
    let found = of_series.chain(of_stretches).next()?;
    Some(format!("its histogram cannot be read: {found}"))
}

/// The summary of several runs, if it is one.
pub(super) fn summary(json: &str) -> Option<Summary> {
    let summary: Summary = serde_json::from_str(json).ok()?;
    (summary.schema == hammer_report::summary::SCHEMA).then_some(summary)
}

fn curve(report: &Report, path: Option<&str>) -> Result<String, String> {
    let operations = || report.series.iter().filter(|series| series.kind == SeriesKind::Operation);
    let all = || report.series.iter().map(|series| series.path.as_str()).collect::<Vec<_>>().join(", ");
    let series: &Series = match (path, operations().count()) {
        (Some(path), _) => {
            let named = report.series.iter().find(|series| series.path == path);
            named.ok_or_else(|| format!("it has no series {path}: its series are {}", all()))?
        }
        (None, 1) => operations().next().ok_or_else(String::new)?,
        (None, _) => return Err(format!("it has several series; --series says which: {}", all())),
    };
    hgrm::response_times(series).ok_or_else(|| format!("no operation of {} ended", series.path))
}
