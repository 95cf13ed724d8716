//! Where a log is read.

use std::fmt;
use std::path::PathBuf;

use hammer_values::{ServiceUrl, ValueError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A URL at which a log is read: `http` or `https`, or `file:///folder` for a folder laid out as static-ct-api.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum MonitoringUrl {
    /// A server.
    Server(ServiceUrl),
    /// A folder, by its absolute path.
    Folder(PathBuf),
}

impl TryFrom<String> for MonitoringUrl {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        match text.strip_prefix("file:") {
            None => text.parse().map(Self::Server),
            Some(rest) => match rest.strip_prefix("//").filter(|path| path.starts_with('/')) {
                Some(path) => Ok(Self::Folder(path.into())),
                None => Err(ValueError::Form { text, expected: "folder: it is written as file:///path" }),
            },
        }
    }
}

impl From<ServiceUrl> for MonitoringUrl {
    fn from(url: ServiceUrl) -> Self {
        Self::Server(url)
    }
}

impl From<MonitoringUrl> for String {
    fn from(url: MonitoringUrl) -> Self {
        url.to_string()
    }
}

impl fmt::Display for MonitoringUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(url) => url.fmt(f),
            Self::Folder(path) => write!(f, "file://{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_from_a_server_or_in_a_folder() {
        for text in ["http://127.0.0.1/log", "file:///srv/log/"] {
            let read = MonitoringUrl::try_from(text.to_owned()).unwrap();
            assert_eq!(
                (matches!(read, MonitoringUrl::Folder(_)), read.to_string()),
                (text.starts_with("file"), text.to_owned())
            );
        }
        for (text, why) in [
            ("file:log", "`file:log` is no folder: it is written as file:///path"),
            ("file://host/log", "`file://host/log` is no folder"),
            ("log", "`log` is no URL of a service"),
        ] {
            let error = MonitoringUrl::try_from(text.to_owned()).unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
