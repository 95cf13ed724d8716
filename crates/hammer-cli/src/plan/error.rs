//! Why a plan cannot be carried out.

use std::fmt;
use std::io;
use std::path::PathBuf;

use hammer_ct::CtError;
use hammer_http::HttpError;
use hammer_lab::LabError;
use hammer_measure::threshold::ParseError as ThresholdError;
use hammer_net::ConfigError;
use http::header::InvalidHeaderValue;
use http::uri::InvalidUri;

use super::load::LoadError;
use super::path::PlanPath;
use super::read::ChangeError;
use super::source::{PlanPlace, PlanSource};

/// A fragment that completes "failed to ...", with file, line and key where there are any.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanError {
    /// The file of a plan cannot be read.
    #[error("read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// A change of a key that there cannot be.
    #[error("use --set {change}: {source}")]
    Unchanged { change: String, source: ChangeError },
    /// Something in it cannot be used.
    #[error(transparent)]
    Refused(#[from] Box<RefusedPlan>),
    /// The plan cannot be written as YAML.
    #[error("write the plan: {0}")]
    Unwritten(#[from] serde_saphyr::ser_error::Error),
    /// The plan cannot be copied for a run of a sweep.
    #[error("copy the plan: {0}")]
    Uncopied(#[from] serde_json::Error),
}

/// A key of a plan that cannot be used.
#[derive(Debug)]
pub(crate) struct RefusedPlan {
    /// Where it was written; none as long as nobody looked.
    place: Option<PlanPlace>,
    at: PlanPath,
    fault: PlanFault,
}

/// What is wrong with it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanFault {
    /// The text is no YAML, or a value is none that the key can have.
    #[error("{0}")]
    Misfit(String),
    /// A value that no header can have, of a header that carries a secret.
    #[error("it is no header's value; it is not shown, since it may be a secret")]
    Credential,
    /// A key is needed and was left out.
    #[error("it is not given")]
    Missing,
    /// A key by the name that it had before, and by its own.
    #[error("both `{old}` and `{new}` are given; the second is what the first is called now")]
    BothNames { old: String, new: String },
    /// Not exactly one of several keys.
    #[error("give exactly one of {0}")]
    NotOne(&'static str),
    /// A number or a time below the least one.
    #[error("it must be {0} at least")]
    Below(&'static str),
    /// A list without an item.
    #[error("it is empty")]
    Empty,
    /// A name with a space, a dot or a slash, or none.
    #[error("`{0}` must be a word")]
    NoWord(String),
    /// The name of another.
    #[error("`{0}` is taken")]
    Taken(String),
    /// Only one of several logs has a name.
    #[error("only one of several logs has a name")]
    NamedAlone,
    /// A stop rule without a rule.
    #[error("give tree_size or tree_growth")]
    NoRule,
    /// A key that is about logs, where the target has none.
    #[error("it needs a log: give target.log, target.logs, target.lab.ct or target.lab.logs")]
    NoLog,
    /// A log that the target does not have.
    #[error("the target has no log `{0}`")]
    UnknownLog(String),
    /// A log that is named twice.
    #[error("`{0}` stands there twice")]
    LogTwice(String),
    /// A load that contradicts itself.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// An expectation that cannot be read.
    #[error("failed to {0}")]
    Threshold(#[from] ThresholdError),
    /// Something about a log, or about what is done to it.
    #[error("failed to {0}")]
    Ct(#[from] CtError),
    /// Something about a request.
    #[error("failed to {0}")]
    Http(#[from] HttpError),
    /// Something about connections.
    #[error("failed to {0}")]
    Client(#[from] ConfigError),
    /// Something about an embedded target.
    #[error("failed to {0}")]
    Lab(#[from] LabError),
    /// Not a URL.
    #[error("{url}: {source}")]
    Url { url: String, source: InvalidUri },
    /// A contact that cannot stand in a header.
    #[error(transparent)]
    Contact(#[from] InvalidHeaderValue),
    /// A swept key that there cannot be.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

impl PlanFault {
    /// The fault of what stands at that path.
    pub(crate) fn at(self, at: PlanPath) -> PlanError {
        PlanError::Refused(Box::new(RefusedPlan { place: None, at, fault: self }))
    }
}

impl PlanError {
    /// What a reader of YAML says against the text of a file.
    pub(super) fn of_yaml(name: &str, text: &str, error: &serde_saphyr::Error) -> Self {
        let said = error.to_string();
        let first = said.lines().next().unwrap_or_default();
        let message = first.strip_prefix("error: ").unwrap_or(first);
        // The place, which is told before it.
        let placed = message.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
        let message = placed.map_or(message, |(_, message)| message);
        let place = Some(PlanPlace::of_yaml(name, text, error));
        let fault = PlanFault::Misfit(message.to_owned());
        Self::Refused(Box::new(RefusedPlan { place, at: PlanPath::default(), fault }))
    }

    /// The same with the place in `source` where it was written, unless that is known.
    pub(crate) fn placed(mut self, source: &PlanSource) -> Self {
        if let Self::Refused(refused) = &mut self {
            let RefusedPlan { place, at, fault } = refused.as_mut();
            if place.is_none() {
                *at = source.as_written(at);
                *place = Some(source.place(at, &fault.to_string()));
            }
        }
        self
    }
}

impl std::error::Error for RefusedPlan {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.fault)
    }
}

impl fmt::Display for RefusedPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, at, fault } = self;
        match place {
            None => f.write_str("use the plan")?,
            Some(place) => write!(f, "use {place}")?,
        }
        let is_said = at.is_root() || matches!(place, Some(PlanPlace::Change { is_whole: true, .. }));
        match is_said {
            true => write!(f, ": {fault}")?,
            false => write!(f, ": {at}: {fault}")?,
        }
        match place {
            Some(PlanPlace::Line { snippet, .. }) => f.write_str(snippet),
            _ => Ok(()),
        }
    }
}
