//! Why what was found cannot be told.

use std::io;
use std::path::PathBuf;

use hammer_report::ReasonKind;

/// A fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputError {
    /// A page over what it is made of.
    #[error("write {}: it is read for the page", path.display())]
    PageOverReport { path: PathBuf },
    /// A page cannot be written, of a report that stays.
    #[error("write {}: {source}", path.display())]
    PageUnwritten {
        /// Where to.
        path: PathBuf,
        source: io::Error,
    },
    /// A file cannot be opened, before anything was sent.
    #[error("use {named}: failed to open {}: {source}", path.display())]
    Unopened {
        /// The flag, or the key of the plan, that names it.
        named: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// A file that is to be new is there already.
    #[error("write {}: it is there already; {flag} FILE names another", path.display())]
    Exists { path: PathBuf, flag: &'static str },
    /// Standard output is no file.
    #[error(
        "use {named}: `-` is standard output for a report alone, and /dev/stdout for what goes to a file"
    )]
    NoFile {
        /// The flag, or the key of the plan, that names it.
        named: &'static str,
    },
    /// A size of samples that go nowhere.
    #[error("use {flag}: no file is named for samples (--samples FILE, or `output.samples` in a plan)")]
    NoSamples {
        /// The flag that gives the size.
        flag: &'static str,
    },
    /// A file of what is measured, where nothing is.
    #[error("use {named}: it is of what is measured, and here is a fill alone, which measures nothing")]
    NothingMeasured {
        /// The flag, or the key of the plan, that names it.
        named: &'static str,
    },
    /// What would be written over is read as well, or written by another.
    #[error("use {named}: {} is named by {other} as well, and would be written over", path.display())]
    Shared {
        /// The flag, or the key of the plan, that names it.
        named: &'static str,
        path: PathBuf,
        /// The other one.
        other: String,
    },
    /// What a workload would write over is read as well.
    #[error("use {key}: {} is named by `{other}` as well, and would be written over", path.display())]
    WrittenOver {
        /// The key that names what is written.
        key: String,
        path: PathBuf,
        /// The other one.
        other: String,
    },
    /// Something stands where a folder of files is wanted.
    #[error("use {flag}: a folder is wanted, and {} is none", path.display())]
    NoFolder { flag: &'static str, path: PathBuf },
    /// A file of a folder is there already, and holds something else.
    #[error("use {flag}: {} is there already and is another one, name another folder or remove it", path.display())]
    OtherFile { flag: &'static str, path: PathBuf },
    /// A folder of files cannot be made.
    #[error("use {flag}: failed to make the folder {}: {source}", path.display())]
    UnmadeFolder { flag: &'static str, path: PathBuf, source: io::Error },
    /// The pages of the manual cannot be written to that folder.
    #[error("write the manual to {}: {source}", path.display())]
    Manual { path: PathBuf, source: io::Error },
    /// There is no place for what a line reads that it logged itself.
    #[error("keep what is logged first in a folder of its own: {0}")]
    Corpus(#[source] io::Error),
    /// The events cannot be written.
    #[error("write events: {0}")]
    Events(#[source] io::Error),
    /// Single operations cannot be written.
    #[error("write the samples: {0}")]
    Samples(#[source] io::Error),
    /// Locust's files cannot be written.
    #[error("write the files of --csv: {0}")]
    Csv(#[source] io::Error),
    /// Nobody takes what is printed.
    #[error("write standard output: {0}")]
    Printed(#[source] io::Error),
}

impl OutputError {
    /// The key of the plan that names what cannot be written, and what is wrong there; none where a flag does.
    pub(crate) fn of_plan(&self) -> Option<(&str, String)> {
        let key = match self {
            Self::Unopened { named, .. }
            | Self::NoFile { named }
            | Self::NothingMeasured { named }
            | Self::Shared { named, .. } => *named,
            Self::WrittenOver { key, .. } => key.as_str(),
            _ => return None,
        };
        let said = self.to_string();
        let why = said.strip_prefix("use ")?.strip_prefix(key)?.strip_prefix(": ")?.to_owned();
        (!key.starts_with('-')).then_some((key, why))
    }

    /// What cannot be opened was asked for wrongly; what cannot be written is lost.
    pub(super) fn reason(&self) -> ReasonKind {
        match self {
            Self::Unopened { .. }
            | Self::Exists { .. }
            | Self::NoFile { .. }
            | Self::NoSamples { .. }
            | Self::NothingMeasured { .. }
            | Self::PageOverReport { .. }
            | Self::Shared { .. }
            | Self::WrittenOver { .. }
            | Self::NoFolder { .. }
            | Self::OtherFile { .. }
            | Self::UnmadeFolder { .. }
            | Self::Manual { .. }
            | Self::Corpus(_) => ReasonKind::Usage,
            Self::Events(_)
            | Self::Samples(_)
            | Self::Csv(_)
            | Self::Printed(_)
            | Self::PageUnwritten { .. } => ReasonKind::ReportUnwritten,
        }
    }
}
