//! What can go wrong before a target serves its first request.

use std::{borrow::Cow, io, net::SocketAddr, path::PathBuf};

/// Why a target could not start. The texts complete "failed to ...".
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The listening address is taken or not ours.
    #[error("listen on {address}: {source}")]
    Listen {
        /// The address of the plan.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// A file of the plan or of the log's folder could not be read or written.
    #[error("{action} {}: {source}", path.display())]
    File {
        /// What was tried, such as `read`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file was read and does not hold what it should.
    #[error("use {}: {reason}", path.display())]
    Content {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A value of the plan that has no meaning, such as a bad PEM.
    #[error("use the plan's {key}: {reason}")]
    Plan {
        /// The key of the plan, with dots and places in brackets: `lies[0].every`.
        key: Cow<'static, str>,
        /// What is wrong with it.
        reason: String,
    },
    /// The thread or its runtime could not be made.
    #[error("start the target's thread: {0}")]
    Thread(#[source] io::Error),
    /// The thread ended before it could say where it listens.
    #[error("start the target: its thread ended early")]
    Died,
}

impl LabError {
    /// The same of a target that is a part of a larger one, whose plan has it under `part`.
    #[must_use]
    pub fn below(self, part: &str) -> Self {
        match self {
            Self::Plan { key, reason } => Self::Plan { key: format!("{part}.{key}").into(), reason },
            Self::Listen { .. } => {
                Self::Plan { key: format!("{part}.serve.listen").into(), reason: format!("failed to {self}") }
            }
            other => other,
        }
    }
}
