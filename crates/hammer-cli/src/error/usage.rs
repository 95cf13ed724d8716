//! What is wrong with a command line.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use hammer_compare::{BaselineError, BoundError, ClaimError, ComparisonError, ComponentError, RunReadError};
use hammer_ct::ReceiptError;
use hammer_http::HttpError;
use hammer_net::ConfigError;
use hammer_report::{LoggedTimesError, WindowError};

use hammer_sigstore::SigstoreError;
use hammer_values::ValueError;

/// A fragment that completes "failed to ..." and names the argument at fault.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UsageError {
    /// A value that the flag cannot have.
    #[error("use {flag}: {source}")]
    Value { flag: &'static str, source: ValueError },
    /// Not a URL.
    #[error(transparent)]
    Url(#[from] HttpError),
    /// A path of the URL beside those of a file.
    #[error(
        "use --urls: the URL has a path of its own ({path}); those of the file are whole: leave it out, or write it into each line"
    )]
    PathBesideUrls { path: String },
    /// A line of a file of URLs that is of no use.
    #[error("use --urls: {}:{line}: {reason}", path.display())]
    UrlLine { path: PathBuf, line: usize, reason: String },
    /// Operations that are counted, all of which may be sent before anything is measured.
    #[error(
        "use --warm-up: a number of operations (-n, 200 without -z) counts those of the warm-up too, which may send them all; give -z, how long to send behind it, and no -n"
    )]
    CountedWarmUp,
    /// A header without a name or a value, by its place among them, from 1. Its text may be a secret.
    #[error("use -H number {0}: expected \"Name: value\"")]
    Header(usize),
    /// A kind of read without its weight.
    #[error("use --mix {0}: expected KIND=WEIGHT")]
    Mix(String),
    /// A kind of read with two weights.
    #[error("use --mix {kind}={weight}: it has a weight already")]
    MixTwice { kind: String, weight: u16 },
    /// A range without an entry.
    #[error("use --to {to}: it must be more than --from {from}")]
    Range { from: u64, to: u64 },
    /// A range that starts behind the tree.
    #[error("use --from {from}: the tree has {size} leaves")]
    BeyondTree { from: u64, size: u64 },
    /// Two places where a log is read.
    #[error("use --monitoring-url: the log is read in a folder already")]
    TwoPlaces,
    /// A folder says nothing about the log's name.
    #[error("use {0}: a folder needs --origin")]
    NoOrigin(String),
    /// A folder takes no chains.
    #[error("use {0}: chains are sent to a server")]
    NoServer(String),
    /// A file that is named without a flag cannot be read.
    #[error("read {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// A file that a flag names cannot be read.
    #[error("use {flag}: failed to read {}: {source}", path.display())]
    FlaggedFile { flag: &'static str, path: PathBuf, source: io::Error },
    /// A file of what is trusted, or of a key, cannot be used.
    #[error("use {flag}: failed to {source}")]
    Sigstore { flag: &'static str, source: SigstoreError },
    /// What is signed lacks something that the flag asks for.
    #[error("use {flag}: {lacks}")]
    Lacking { flag: &'static str, lacks: &'static str },
    /// A bundle about a part of which nothing can be said.
    #[error("verify {}: {part} cannot be verified without {what}", path.display())]
    Unverifiable { path: PathBuf, part: &'static str, what: &'static str },
    /// A bundle that is by something which is not verified here.
    #[error("verify {}: {why}", path.display())]
    Unverified { path: PathBuf, why: String },
    /// A line of a file of receipts is none.
    #[error("read {}: line {line}: failed to {source}", path.display())]
    Receipt { path: PathBuf, line: u64, source: ReceiptError },
    /// A file of receipts is empty.
    #[error("read {}: it holds no receipt", .0.display())]
    NoReceipt(PathBuf),
    /// A file is no report, or not of what is asked for.
    #[error("print {}: {why}", path.display())]
    Report { path: PathBuf, why: String },
    /// A window that the run has not.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// An interval log that is not that of the report.
    #[error("use --hlog {}: {source}", path.display())]
    IntervalLog { path: PathBuf, source: LoggedTimesError },
    /// A series where all are printed.
    #[error("use --series: it is for `--as hgrm` alone, and all series are in the other forms")]
    SeriesOfAll,
    /// Detail of a form that has all.
    #[error("use --detail: it is for the text alone, and the other forms have all")]
    DetailOfForm,
    /// A file that is to be compared is no run.
    #[error("compare {}: {source}", path.display())]
    MeasuredRun { path: PathBuf, source: RunReadError },
    /// A file of claims that is none.
    #[error("read the claims of {}: {why}", path.display())]
    Claims { path: PathBuf, why: String },
    /// A claim that cannot be computed again.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// Runs of which each is another thing, beside some of one thing.
    #[error("compare {}: it is of a sweep, whose runs are no samples of one thing; sweeps are compared with sweeps, and without claims", .0.display())]
    ComparedSweep(PathBuf),
    /// A file of components that is none.
    #[error("use {}: failed to {source}", path.display())]
    Components { path: PathBuf, source: ComponentError },
    /// Components of nobody.
    #[error("use --components {label}=...: no variant is called that; there are {known}")]
    ComponentsOf { label: String, known: String },
    /// Two files of components for one variant.
    #[error("use --components {0}=...: there is a file for {0} already")]
    ComponentsTwice(String),
    /// Components of a sweep, at none of its points.
    #[error(
        "use --components {0}=...: {0} is a sweep, and a component uses as much as the load of a point makes it"
    )]
    ComponentsOfSweep(String),
    /// A file of a baseline that is none.
    #[error("compare with {}: failed to {source}", path.display())]
    Baseline { path: PathBuf, source: BaselineError },
    /// Runs that should be no baseline.
    #[error("compare with {}: failed to {source}", path.display())]
    NoBaseline { path: PathBuf, source: BaselineError },
    /// A baseline that cannot be kept.
    #[error("keep the baseline in {}: {source}", path.display())]
    KeptBaseline { path: PathBuf, source: io::Error },
    /// A gate without anything to be held.
    #[error("use --fail-if sla: no --sla states a service level")]
    NoSla,
    /// Claims have no such form.
    #[error("use --as json: claims are told as text or as Markdown")]
    ClaimsAsJson,
    /// Runs that cannot be compared.
    #[error(transparent)]
    Comparison(#[from] ComparisonError),
    /// An option that would be read as a run.
    #[error("use {0}: options stand before the first run, since all behind `--` are runs")]
    BehindRuns(String),
    /// A bound that nothing can be held against.
    #[error(transparent)]
    Bound(#[from] BoundError),
    /// A folder for reports cannot be made.
    #[error("keep reports in {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    /// This program cannot be started again.
    #[error("start a run: {source}")]
    Program { source: io::Error },
    /// A plan that leaves nothing to compare.
    #[error("carry out {}{changes}: it left no report (exit {code})", plan.display())]
    NoReport { plan: PathBuf, changes: String, code: i32 },
    /// A plan without the workload of the series that is asked for.
    #[error("compare {}: it has no workload `{workload}`, of whose series --series is", plan.display())]
    NoWorkload { plan: PathBuf, workload: String },
    /// A plan of several runs, of which none is the variant's.
    #[error("compare {}: it has rounds or a sweep; --rounds says how often a plan is carried out", plan.display())]
    SeveralRuns { plan: PathBuf },
    /// A run that something else ended.
    #[error("carry out {}: it was killed by signal {signal}", plan.display())]
    Killed { plan: PathBuf, signal: i32 },
    /// Runs that were carried out and cannot be compared as asked.
    #[error("{why}; their reports are kept in {}", folder.display())]
    Kept { why: Box<UsageError>, folder: PathBuf },
    /// A name of two variants.
    #[error("use --label {0}: another variant is called that")]
    LabelTwice(String),
    /// Runs are files.
    #[error("use -: runs are read from files, and not from standard input")]
    FromStandardInput,
    /// More names than there are variants.
    #[error("use --label: there are {labels} for {variants} variants")]
    Labels { labels: usize, variants: usize },
    /// No chains, and so no roots of any.
    #[error("find roots: no workload of the plan mints chains")]
    NoRoots,
    /// No made authorities, and so no roots of any.
    #[error("find roots: the plan has no `target.pki.made_authorities`")]
    NoAuthorities,
    /// A component that there cannot be.
    #[error("use {flag} {text:?}: {reason}")]
    Component { flag: &'static str, text: String, reason: String },
    /// A page that everybody could read.
    #[error(
        "listen on {0}: it is neither a loopback nor a private address; --authorized must say who allowed it"
    )]
    PublicListener(SocketAddr),
    /// A page of metrics for everybody.
    #[error("serve metrics on {0} (--metrics): it is neither a loopback nor a private address")]
    PublicMetrics(SocketAddr),
    /// A live page for whoever reaches it.
    #[error(
        "serve the live page on {0} (--web): others can reach it; --web-token must name a file with a token, which they will need"
    )]
    OpenWeb(SocketAddr),
    /// A token that nobody needs.
    #[error(
        "use --web-token: nobody needs a token for {0} (--web), which this machine alone reaches and which takes no commands; --control has it take some"
    )]
    IdleToken(SocketAddr),
    /// A token of the live page that cannot be read or kept.
    #[error("use the token in {} (--web-token): {why}", path.display())]
    DoorToken { path: PathBuf, why: String },
    /// A token of a run's own that cannot be kept.
    #[error("keep a token for --control in {}: {why}; --web-token says where else", path.display())]
    KeptToken { path: PathBuf, why: String },
    /// Nowhere to keep a token.
    #[error("keep a token for --control: there is neither XDG_RUNTIME_DIR nor HOME; --web-token says where")]
    NoFolderOfTokens,
    /// A run did not do what it was asked.
    #[error("steer {url}: {why}")]
    Unsteered { url: String, why: String },
    /// A collector of metrics that everybody could be.
    #[error("send metrics to {0} (--otlp): it is neither a loopback nor a private address")]
    PublicCollector(SocketAddr),
    /// A collector that no client can be made for.
    #[error("use --otlp: failed to {0}")]
    Collector(ConfigError),
    /// A line of a file of headers is none. Its text may be a secret.
    #[error("use {flag}: line {line} of {} is no \"Name: value\"", path.display())]
    HeaderLine { flag: &'static str, path: PathBuf, line: usize },
    /// No such command.
    #[error("find the manual page: there is no command `{0}`")]
    NoPage(String),
    /// Nowhere to draw a dashboard.
    #[error("show the dashboard (--tui): standard output is not a terminal")]
    NoTerminal,
}
