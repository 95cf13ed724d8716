//! Why a plan cannot be carried out.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::PathBuf;

use hammer_exchange::grant::FirstTokensError;
use hammer_exchange::token::TokenError;
use hammer_lab::LabError;
use hammer_net::ConfigError;
use serde_json::Value;
use serde_saphyr::MessageFormatter as _;

use super::broken_yaml::PlainYamlWords;
use super::change::ChangeError;
use super::key_places::key_place;
use super::load::LoadError;
use super::nearest::nearest;
use super::path::{PathSegment, PlanPath};
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
    /// Other keys that can be why, of which one that was changed is named before one that was not.
    others: Vec<PlanPath>,
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
    /// More rounds, and values of swept keys, than anyone waits for.
    #[error("there can be 10,000 runs at most, rounds and swept values multiplied")]
    TooManyRuns,
    /// A value that is none where a secret may stand.
    #[error("expected a map with file or env; what is there is not shown, since it may be a secret")]
    InlineToken,
    /// A swept key under which a secret stands.
    #[error(
        "a run is told by the values of its sweep, and a header of these may carry a secret: it cannot be swept"
    )]
    SweptCredential,
    /// A key is needed and was left out.
    #[error("it is not given")]
    Missing,
    /// A key by the name that it had before, and by its own.
    #[error("both `{old}` and `{new}` are given; the second is what the first is called now")]
    BothNames { old: String, new: String },
    /// Not exactly one of several keys.
    #[error("give exactly one of {0}")]
    NotOne(String),
    /// A key that neither the plan nor a protocol has.
    #[error("unknown key `{key}`{}", keys_there(key, known, place.as_deref()))]
    Unknown {
        key: String,
        known: Vec<String>,
        /// The block that has such a key.
        place: Option<String>,
    },
    /// A word that is none of those that a value can be.
    #[error("`{value}` cannot stand here{}", among(value, known, "give one of"))]
    NoChoice { value: String, known: Vec<String> },
    /// A plan without a key.
    #[error("it is empty")]
    Empty,
    /// The name of another.
    #[error("`{0}` is taken")]
    Taken(String),
    /// A stop rule without a rule.
    #[error("give {0}")]
    NoRule(String),
    /// A request with a token of its own, to a service that has one.
    #[error("the service has a token of every request to it already")]
    TwoTokens,
    /// A request without a service that it could go to.
    #[error("no service of the target has a url")]
    NoService,
    /// A workload that does not say to which of several services it goes.
    #[error("there are several services: name one of {0} by `service`")]
    Unnamed(String),
    /// A service that a request cannot go to.
    #[error("the service `{0}` has no url: it is reached by its own protocol")]
    NoUrl(String),
    /// Services of two protocols whose observers would tell their numbers under the same names.
    #[error(
        "the services of two protocols cannot be observed in one run: their numbers would have the same names"
    )]
    ObservedTwice,
    /// A service that the target does not have.
    #[error("the target has no service `{0}`")]
    UnknownService(String),
    /// A load that contradicts itself.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// What a protocol says against what is its own.
    #[error(transparent)]
    OfProtocol(Box<dyn StdError + Send + Sync>),
    /// What a protocol failed to do with what is its own.
    #[error("failed to {0}")]
    FailedProtocol(Box<dyn KeyedError>),
    /// A token that cannot be had.
    #[error("failed to {0}")]
    Token(#[from] TokenError),
    /// No token was granted before the run.
    #[error("failed to {0}")]
    Grant(#[from] FirstTokensError),
    /// Something about connections.
    #[error("failed to {0}")]
    Client(#[from] ConfigError),
    /// Something about an embedded target.
    #[error("failed to {0}")]
    Lab(#[from] LabError),
    /// A swept key that there cannot be.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

/// An error of a protocol that knows which key of its section is at fault.
pub(crate) trait KeyedError: StdError + Send + Sync {
    /// The key, below the section; none where it is none of the plan's.
    fn key(&self) -> Option<Cow<'_, str>>;

    /// Other keys below the section whose values can be why; none where it is that key's alone.
    fn others(&self) -> Vec<&'static str> {
        Vec::new()
    }
}

impl PlanFault {
    /// What a protocol says against what is its own, as a sentence.
    pub(crate) fn said(error: impl StdError + Send + Sync + 'static) -> Self {
        Self::OfProtocol(Box::new(error))
    }

    /// The same as a fragment that completes "failed to ...".
    pub(crate) fn failed(error: impl KeyedError + 'static) -> Self {
        Self::FailedProtocol(Box::new(error))
    }

    /// The fault of what stands at that path, or of the key below it that the fault itself names.
    pub(crate) fn at(self, at: PlanPath) -> PlanError {
        let others = match &self {
            Self::FailedProtocol(error) => error.others(),
            _ => Vec::new(),
        };
        let others = others.into_iter().map(|key| at.clone().keys(key)).collect();
        let at = match self.key() {
            Some(key) => at.keys(&key),
            None => at,
        };
        PlanError::Refused(Box::new(RefusedPlan { place: None, at, others, fault: self }))
    }

    /// The same for the mark below a line, without what else could stand at that path.
    fn mark(&self, at: &PlanPath) -> String {
        let said = self.to_string();
        let word = match (self, at.segments().last()) {
            (Self::Unknown { key, .. }, _) => key,
            (Self::NoChoice { value, .. }, _) => value,
            (Self::NotOne(_), _) => return "give exactly one of these keys".to_owned(),
            (Self::Missing, Some(PathSegment::Key(key))) => return format!("{key} is not given"),
            _ => return said,
        };
        // What was written may hold any sign.
        let behind = said.find(word.as_str()).map_or(0, |at| at + word.len());
        let rest = &said[behind..];
        let ends =
            [rest.find("? ").map(|at| at + 1), rest.find(". "), rest.find("; the "), rest.find("; give ")];
        let end = ends.into_iter().flatten().min().unwrap_or(rest.len());
        said[..behind + end].to_owned()
    }

    fn key(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Load(error) => error.key().map(Cow::from),
            Self::FailedProtocol(error) => error.key(),
            Self::Token(error) => Some(error.key().into()),
            _ => None,
        }
    }
}

impl PlanError {
    /// What a reader of YAML says against the text of a file.
    pub(super) fn of_yaml(name: &str, text: &str, error: &serde_saphyr::Error) -> Self {
        let place = Some(PlanPlace::of_yaml(name, text, error));
        let message = PlainYamlWords.format_message(error.without_snippet()).into_owned();
        let fault = PlanFault::Misfit(message);
        let (at, others) = Default::default();
        Self::Refused(Box::new(RefusedPlan { place, at, others, fault }))
    }

    /// The same with the block of the plan that has such a key, where none that can stand there is much like it.
    pub(super) fn with_place(mut self, schema: &Value) -> Self {
        if let Some((at, PlanFault::Unknown { key, known, place })) = self.refused_mut()
            && nearest(key, known.iter().map(String::as_str)).is_none()
        {
            *place = key_place(at, schema);
        }
        self
    }

    /// What is refused, and where; none where it is no key of the plan that is.
    pub(super) fn refused_mut(&mut self) -> Option<(&PlanPath, &mut PlanFault)> {
        match self {
            Self::Refused(refused) => Some((&refused.at, &mut refused.fault)),
            _ => None,
        }
    }

    /// The same where the value of that key can be why just as well.
    pub(crate) fn or_at(mut self, other: PlanPath) -> Self {
        if let Self::Refused(refused) = &mut self {
            refused.others.push(other);
        }
        self
    }

    /// The same of what stands below `at`, where its path starts there.
    pub(super) fn below(mut self, at: &PlanPath) -> Self {
        if let Self::Refused(refused) = &mut self {
            refused.at = at.clone().then(&refused.at);
            refused.others.iter_mut().for_each(|other| *other = at.clone().then(other));
        }
        self
    }

    /// The same with the place in `source` where it was written, unless that is known.
    pub(crate) fn placed(mut self, source: &PlanSource) -> Self {
        if let Self::Refused(refused) = &mut self {
            let RefusedPlan { place, at, others, fault } = refused.as_mut();
            if place.is_none() {
                *at = source.as_written(source.changed_last(at, others));
                *place = Some(source.place(at, &fault.mark(at)));
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
        let Self { place, at, fault, .. } = self;
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

/// The keys that could stand in the place of `key`, and where that itself can.
fn keys_there(key: &str, known: &[String], place: Option<&str>) -> String {
    match (place, known) {
        // What stands there would be the token itself.
        (Some(_), known) if key == "token" && known.iter().any(|key| key == "file") => {
            format!(
                "; no plan has a token in it: `file: FILE` or `env: NAME` say where it is. The keys here are {}",
                known.join(", ")
            )
        }
        (Some(place), _) => format!("; it is a key of {place}. The keys here are {}", known.join(", ")),
        (None, []) => "; no key can stand here".to_owned(),
        (None, known) => among(key, known, "the keys here are"),
    }
}

/// What could stand in the place of `word`: first what was probably meant.
fn among(word: &str, known: &[String], listed: &str) -> String {
    let all = known.join(", ");
    match nearest(word, known.iter().map(String::as_str)) {
        Some(meant) => {
            let (first, rest) = listed.split_at(1);
            format!("; did you mean `{meant}`? {}{rest} {all}", first.to_uppercase())
        }
        None => format!("; {listed} {all}"),
    }
}
