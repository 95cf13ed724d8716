//! Where reports go. Files are opened before the first request; what cannot be written there goes to standard output.

use std::env;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use hammer_html::DrawError;
use hammer_measure::SampleSizes;
use hammer_report::text::Screen;
use hammer_report::{
    EventsWriter, HlogWriter, LocustCsv, LocustWriters, Reason, ReasonKind, Report, SamplesWriter, Summary,
    text,
};

use crate::args::OutputArgs;
use crate::error::OutputError;
use crate::plan::named_files::{is_same_place, key_of_file, written_over};
use crate::plan::read::SourcedPlan;
use crate::plan::{OutputPlan, Plan};
use crate::screen;
use crate::wording::in_plain_words;

pub(crate) mod standard;
mod stream;
pub(crate) mod stream_reporters;

use standard::{STANDARD_OUTPUT, deliver, print, say_all, stdout_is_closed};
use stream::{Sink, Stream};
use stream_reporters::WrittenTo;

/// The opened outputs of one command.
pub(crate) struct Outputs {
    report: Option<Sink>,
    runs: Vec<Sink>,
    events: Option<Stream>,
    samples: Option<Stream>,
    /// Those of each run.
    csv: Vec<[Sink; 3]>,
    /// The interval log of each run.
    hlog: Vec<Sink>,
    /// The page of each run.
    html: Vec<Sink>,
    /// That of several runs.
    summary_html: Option<Sink>,
    /// Of the run that is carried out.
    place: usize,
    json_on_stdout: bool,
    /// The whole text instead of one screen of it.
    detail: bool,
    /// The plan is that of one line, whose text ends in a histogram.
    is_of_line: bool,
}

impl Outputs {
    /// Opens what the command line, or else the plan, names; with several runs one more report for each, numbered.
    ///
    /// # Errors
    /// When it cannot be opened, or is a file that the plan names elsewhere, or is itself in.
    pub(crate) fn open(
        args: &OutputArgs,
        planned: &SourcedPlan<Plan>,
        runs: usize,
    ) -> Result<Self, OutputError> {
        expect_measured(args, &planned.plan)?;
        let plan = &planned.plan.output;
        let report = args.out.as_ref().or(plan.report.as_ref());
        let json_on_stdout = report.is_some_and(|path| path.as_os_str() == "-");
        let report = report.filter(|_| !json_on_stdout);
        // What is no file holds nothing, and what stands beside it is no report: the summary alone goes there.
        let of_runs = report.filter(|path| runs > 1 && path.metadata().map_or(true, |found| found.is_file()));
        let of_runs: Vec<PathBuf> =
            of_runs.into_iter().flat_map(|path| (1..=runs).map(|run| numbered(path, run))).collect();
        let events = args.events.as_ref().or(plan.events.as_ref());
        let samples = args.samples.as_ref().or(plan.samples.as_ref());
        let report_named = if args.out.is_some() { "--out" } else { "output.report" };
        let events_named = if args.events.is_some() { "--events" } else { "output.events" };
        let samples_named = if args.samples.is_some() { "--samples" } else { "output.samples" };
        let named = report.map(|path| (report_named, path)).into_iter();
        let named = named.chain(of_runs.iter().map(|path| (report_named, path)));
        let named = named.chain(events.map(|path| (events_named, path)));
        let named: Vec<_> = named.chain(samples.map(|path| (samples_named, path))).collect();
        let csv = csv_files(args.csv.as_deref(), runs);
        let of_each = |path: &Option<PathBuf>| -> Vec<PathBuf> {
            match path {
                Some(path) if runs > 1 => (1..=runs).map(|run| numbered(path, run)).collect(),
                path => path.iter().cloned().collect(),
            }
        };
        let (html, hlog) = (of_each(&args.html), of_each(&args.hlog));
        let summary_html = args.html.as_ref().filter(|_| runs > 1);
        let named = named.into_iter().chain(csv.iter().flatten().map(|path| (CSV, path)));
        let named = named.chain(hlog.iter().map(|path| (HLOG, path)));
        let named: Vec<_> = named.chain(html.iter().chain(summary_html).map(|path| (HTML, path))).collect();
        let is_dash = |path: &Path| path.as_os_str() == "-";
        if args.csv.as_deref().is_some_and(is_dash) {
            return Err(OutputError::NoFile { named: CSV });
        }
        if let Some((named, _)) = named.iter().find(|(_, path)| is_dash(path)) {
            return Err(OutputError::NoFile { named });
        }
        expect_apart(&named, args, planned)?;
        if json_on_stdout && stdout_is_closed() {
            say_all(&[NOBODY_READS.to_owned()])?;
        }
        let mut sinks = Vec::new();
        for [stats, history, failures] in &csv {
            sinks.push([Sink::open(CSV, stats)?, Sink::open(CSV, history)?, Sink::open(CSV, failures)?]);
        }
        Ok(Self {
            runs: of_runs
                .iter()
                .map(|path| Sink::open(report_named, path))
                .collect::<Result<_, OutputError>>()?,
            report: report.map(|path| Sink::open(report_named, path)).transpose()?,
            events: events.map(|path| Stream::open(events_named, path)).transpose()?,
            samples: samples.map(|path| Stream::open(samples_named, path)).transpose()?,
            csv: sinks,
            summary_html: summary_html.map(|path| Sink::open(HTML, path)).transpose()?,
            hlog: hlog.iter().map(|path| Sink::open(HLOG, path)).collect::<Result<_, OutputError>>()?,
            html: html.iter().map(|path| Sink::open(HTML, path)).collect::<Result<_, OutputError>>()?,
            place: 0,
            json_on_stdout,
            detail: args.detail,
            is_of_line: planned.source.file_name().is_none(),
        })
    }

    /// A writer of events; those of several runs follow one another.
    fn events(&mut self) -> Result<Option<WrittenTo<EventsWriter>>, OutputError> {
        let Some(stream) = &mut self.events else { return Ok(None) };
        let writer = EventsWriter::new(stream.writer().map_err(OutputError::Events)?);
        Ok(Some(WrittenTo { what: format!("the events to {}", stream.path().display()), writer }))
    }

    /// A writer of single operations, so many of each series, interval and phase; those of several runs follow one another.
    fn samples(&mut self, sizes: SampleSizes) -> Result<Option<WrittenTo<SamplesWriter>>, OutputError> {
        let Some(stream) = &mut self.samples else { return Ok(None) };
        let writer = SamplesWriter::new(stream.writer().map_err(OutputError::Samples)?, sizes);
        Ok(Some(WrittenTo { what: format!("the samples to {}", stream.path().display()), writer }))
    }

    /// From now on it is the run at that place whose files are asked for.
    pub(crate) fn start_run(&mut self, place: usize) {
        self.place = place;
    }

    /// A writer of the interval log of the run that is carried out.
    fn hlog(&mut self) -> Result<Option<WrittenTo<HlogWriter>>, OutputError> {
        let Some(sink) = self.hlog.get_mut(self.place) else { return Ok(None) };
        let file = sink.emptied().and_then(|file| file.try_clone());
        let written = |source| OutputError::Unopened { named: HLOG, path: sink.path.clone(), source };
        let writer = HlogWriter::new(Box::new(BufWriter::new(file.map_err(written)?)));
        Ok(Some(WrittenTo { what: format!("the interval log to {}", sink.path.display()), writer }))
    }

    /// The place of the run that is carried out.
    pub(crate) fn place(&self) -> usize {
        self.place
    }

    /// A writer of Locust's files, those of the run that is carried out.
    fn csv(&mut self) -> Result<Option<WrittenTo<LocustCsv>>, OutputError> {
        let Some(sinks) = self.csv.get_mut(self.place) else { return Ok(None) };
        let writer = |sink: &mut Sink| -> io::Result<Box<dyn Write + Send>> {
            Ok(Box::new(BufWriter::new(sink.emptied()?.try_clone()?)))
        };
        let [stats, history, failures] = sinks;
        let what = format!("the files of --csv, {} or one beside it", stats.path.display());
        let mut writers = || {
            let (stats, history) = (writer(stats)?, writer(history)?);
            io::Result::Ok(LocustWriters { stats, history, failures: writer(failures)? })
        };
        let writer = LocustCsv::new(writers().map_err(OutputError::Csv)?);
        Ok(Some(WrittenTo { what, writer }))
    }

    /// Writes the page of the run at that place, where one was asked for; what fails is a reason in the report.
    fn page(&mut self, place: usize, report: &mut Report) {
        if let Some(sink) = self.html.get_mut(place)
            && let Err(error) =
                sink.emptied().and_then(|file| write_page(file, hammer_html::document(report)))
        {
            report.add_reason(unwritten(&sink.path, &error));
        }
    }

    /// Writes one of several reports to its numbered file; what fails is a reason in the report.
    pub(crate) fn run(&mut self, place: usize, report: &mut Report) {
        self.page(place, report);
        if let Some(sink) = self.runs.get_mut(place)
            && let Err(error) = sink.emptied().and_then(|file| report.write(file))
        {
            report.add_reason(unwritten(&sink.path, &error));
        }
    }

    /// Writes the only report, and its text for a person.
    pub(crate) fn report(&mut self, report: &mut Report) -> Result<(), OutputError> {
        self.page(0, report);
        if let Some(sink) = &mut self.report
            && let Err(error) = sink.emptied().and_then(|file| report.write(file))
        {
            // It goes to standard output instead, so that nothing is lost.
            report.add_reason(unwritten(&sink.path, &error));
            self.json_on_stdout = true;
        }
        let printed = match self.json_on_stdout {
            true => deliver(|out| report.write(out)),
            false => deliver(|out| out.write_all(self.text(report, &io::stdout()).as_bytes())),
        };
        if let Err(error) = &printed {
            report.add_reason(unwritten(Path::new(STANDARD_OUTPUT), error));
        }
        if self.json_on_stdout || printed.is_err() || stdout_is_closed() {
            // What a person reads goes where somebody may still read.
            return print(io::stderr(), |out| out.write_all(self.text(report, &io::stderr()).as_bytes()));
        }
        Ok(())
    }

    /// The text of a report as that stream shows it; that of one line has bars of its response times.
    fn text(&self, report: &Report, stream: &(impl AsFd + IsTerminal)) -> String {
        told(report, self.detail, screen::behind(stream).with_histogram(self.is_of_line))
    }

    /// Writes the summary of several runs, and its table; what cannot be written to its file is a reason.
    pub(crate) fn summary(&mut self, summary: &Summary) -> Result<Option<Reason>, OutputError> {
        let json = |out: &mut dyn Write| {
            let mut out = BufWriter::new(out);
            serde_json::to_writer(&mut out, summary)?;
            out.write_all(b"\n")?;
            out.flush()
        };
        let mut reason = None;
        if let Some(sink) = &mut self.summary_html {
            let page = hammer_html::summary_document(summary);
            let written = sink.emptied().and_then(|file| write_page(file, page));
            reason = written.err().map(|error| unwritten(&sink.path, &error));
        }
        if let Some(sink) = &mut self.report
            && let Err(error) = sink.emptied().and_then(|file| json(file))
        {
            reason = Some(unwritten(&sink.path, &error));
            self.json_on_stdout = true;
        }
        let text = summary.render();
        let printed = match self.json_on_stdout {
            true => deliver(json),
            false => deliver(|out| out.write_all(text.as_bytes())),
        };
        if self.json_on_stdout || printed.is_err() || stdout_is_closed() {
            print(io::stderr(), |out| out.write_all(text.as_bytes()))?;
        }
        if let Err(error) = printed {
            reason = Some(unwritten(Path::new(STANDARD_OUTPUT), &error));
        }
        Ok(reason)
    }
}

/// The text of a report as that stream shows it: one screen, or all of it.
pub(crate) fn shown(report: &Report, detail: bool, stream: &(impl AsFd + IsTerminal)) -> String {
    told(report, detail, screen::behind(stream))
}

fn told(report: &Report, detail: bool, screen: Screen) -> String {
    if detail {
        text::render(report) + &text::histogram::render(report)
    } else {
        text::brief::render(report, screen)
    }
}

/// Refuses what is of measured operations where a plan measures none, and sizes of samples that go to no file.
fn expect_measured(args: &OutputArgs, plan: &Plan) -> Result<(), OutputError> {
    let of_plan = plan.output.samples.as_ref().map(|_| "output.samples");
    let samples = args.samples.as_ref().map(|_| "--samples").or(of_plan);
    let slowest = args.samples_slowest.map(|_| "--samples-slowest");
    let sized = slowest.or(args.samples_uniform.map(|_| "--samples-uniform"));
    if let (Some(flag), None) = (sized, samples) {
        return Err(OutputError::NoSamples { flag });
    }
    let named = samples.or(args.csv.as_ref().map(|_| CSV)).or(args.hlog.as_ref().map(|_| HLOG));
    match named.filter(|_| plan.measured().next().is_none()) {
        Some(named) => Err(OutputError::NothingMeasured { named }),
        None => Ok(()),
    }
}

/// Refuses outputs in one file, and in what the plan names elsewhere: they would be written over each other, or over what is read.
fn expect_apart(
    outputs: &[(&'static str, &PathBuf)],
    args: &OutputArgs,
    SourcedPlan { plan, source }: &SourcedPlan<Plan>,
) -> Result<(), OutputError> {
    // A plan was read from values, and is some again.
    let values = serde_json::to_value(plan).unwrap_or_default();
    if let Some((path, key, other)) = written_over(&values) {
        return Err(OutputError::WrittenOver { key, path, other });
    }
    let OutputArgs { web_token, otlp, .. } = args;
    let read = [
        ("--web-token", web_token),
        ("--otlp-header-file", &otlp.otlp_header_file),
        ("--otlp-cacert", &otlp.otlp_cacert),
    ];
    let read: Vec<_> = read.into_iter().filter_map(|(flag, path)| Some((flag, path.as_ref()?))).collect();
    for (place, (named, path)) in outputs.iter().enumerate() {
        // A pipe or a device holds nothing, and takes from many.
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            continue;
        }
        let before = outputs[..place].iter().chain(&read).find(|(_, other)| is_same_place(other, path));
        let other = before
            .map(|(named, _)| (*named).to_owned())
            .or_else(|| {
                source
                    .file_name()
                    .filter(|name| is_same_place(Path::new(name), path))
                    .map(|_| PLAN.to_owned())
            })
            .or_else(|| key_of_file(&values, path).map(|key| format!("`{key}`")));
        if let Some(other) = other {
            return Err(OutputError::Shared { named, path: (*path).clone(), other });
        }
    }
    Ok(())
}

/// A file for a page of HTML, which is opened ahead of what the page is made of.
pub(crate) struct PageFile(Sink);

impl PageFile {
    /// Opens it, unless it is one of the files that are read for it.
    pub(crate) fn open<'a>(
        path: &Path,
        read: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<Self, OutputError> {
        if path.as_os_str() == "-" {
            return Err(OutputError::NoFile { named: HTML });
        }
        if read.into_iter().any(|read| is_same_place(path, read)) {
            return Err(OutputError::PageOverReport { path: path.to_owned() });
        }
        Ok(Self(Sink::open(HTML, path)?))
    }

    /// Writes the page.
    pub(crate) fn write(mut self, page: Result<String, DrawError>) -> Result<(), OutputError> {
        let written = self.0.emptied().and_then(|file| write_page(file, page));
        written.map_err(|source| OutputError::PageUnwritten { path: self.0.path.clone(), source })
    }
}

/// Writes a page of HTML.
fn write_page(mut file: impl Write, page: Result<String, DrawError>) -> io::Result<()> {
    let page = page.map_err(io::Error::other)?;
    file.write_all(page.as_bytes())?;
    file.flush()
}

/// Who names the plan's own file.
const PLAN: &str = "the plan itself";

/// A folder that a flag names for files, by a path that holds in any other one.
pub(crate) struct FileFolder {
    flag: &'static str,
    path: PathBuf,
}

impl FileFolder {
    /// Makes it where there is none.
    pub(crate) fn made(flag: &'static str, path: &Path) -> Result<Self, OutputError> {
        if path.exists() && !path.is_dir() {
            return Err(OutputError::NoFolder { flag, path: path.to_owned() });
        }
        let made = fs::create_dir_all(path).and_then(|()| path.canonicalize());
        let made = made.map_err(|source| OutputError::UnmadeFolder { flag, path: path.to_owned(), source });
        Ok(Self { flag, path: made? })
    }

    /// The same where files can be made in it.
    pub(crate) fn writable(self) -> Result<Self, OutputError> {
        match tempfile::tempfile_in(&self.path) {
            Ok(_) => Ok(self),
            Err(source) => Err(OutputError::Unopened { named: self.flag, path: self.path, source }),
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file in it, over one of that name, and says where it is.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, OutputError> {
        let path = self.path.join(name);
        match fs::write(&path, bytes) {
            Ok(()) => Ok(path),
            Err(source) => Err(OutputError::Unopened { named: self.flag, path, source }),
        }
    }

    /// Finds a file of one of these names that holds something else: a key that was written over cannot be had again.
    pub(crate) fn check_unlike(&self, files: &[(&str, &[u8])]) -> Result<(), OutputError> {
        for (name, bytes) in files {
            let path = self.path.join(name);
            if path.exists() && fs::read(&path).ok().as_deref() != Some(bytes) {
                return Err(OutputError::OtherFile { flag: self.flag, path });
            }
        }
        Ok(())
    }

    /// Writes a file that is for its owner alone, as a private key is.
    pub(crate) fn write_private(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, OutputError> {
        let path = self.path.join(name);
        let opened =
            OpenOptions::new().write(true).create(true).truncate(true).mode(FOR_ITS_OWNER).open(&path);
        let written = opened.and_then(|mut file| {
            // The mode above is of a file that was not there.
            file.set_permissions(Permissions::from_mode(FOR_ITS_OWNER))?;
            file.write_all(bytes)
        });
        match written {
            Ok(()) => Ok(path),
            Err(source) => Err(OutputError::Unopened { named: self.flag, path, source }),
        }
    }
}

const FOR_ITS_OWNER: u32 = 0o600;

/// Locust's files of that prefix, for each of so many runs.
fn csv_files(prefix: Option<&Path>, runs: usize) -> Vec<[PathBuf; 3]> {
    let of_run = |prefix: &Path| {
        ["_stats.csv", "_stats_history.csv", "_failures.csv"].map(|end| {
            let mut path = prefix.as_os_str().to_owned();
            path.push(end);
            path.into()
        })
    };
    match prefix {
        Some(prefix) if runs > 1 => (1..=runs).map(|run| of_run(&numbered(prefix, run))).collect(),
        prefix => prefix.into_iter().map(of_run).collect(),
    }
}

/// What is said of a report that goes to standard output where that is closed, or was given away.
const NOBODY_READS: &str =
    "--out -: standard output is closed, or leads to /dev/null: nobody may read the report";
/// Who names them.
const CSV: &str = "--csv";
const HLOG: &str = "--hlog";
/// Who names a page.
const HTML: &str = "--html";

/// The folder of the JSON report; the working folder where it goes to no file.
pub(crate) fn folder(args: &OutputArgs, plan: &OutputPlan) -> PathBuf {
    let report = args.out.as_ref().or(plan.report.as_ref());
    let parent = report.filter(|path| path.as_os_str() != "-").and_then(|path| path.parent());
    let folder = parent.filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // What shows a broken promise cannot be had again: a folder that takes no file is no reason to lose it.
    if is_writable(folder) { folder.to_owned() } else { env::temp_dir() }
}

/// Whether a file can be made in a folder, which is known once one was.
fn is_writable(folder: &Path) -> bool {
    tempfile::tempfile_in(folder).is_ok()
}

/// What could not be written, as a reason.
pub(crate) fn unwritten(path: &Path, error: &io::Error) -> Reason {
    let said = in_plain_words(&error.to_string());
    Reason::new(ReasonKind::ReportUnwritten, format!("failed to write {}: {said}", path.display()))
}

/// `report.json` becomes `report.2.json`.
pub(crate) fn numbered(path: &Path, run: usize) -> PathBuf {
    let extension =
        path.extension().map_or_else(String::new, |extension| format!(".{}", extension.display()));
    path.with_extension(format!("{run}{extension}"))
}
