//! Which flows leave a bundle, in a plan.

use std::path::PathBuf;

use hammer_values::{Count, KeyConflict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bundles of the first flows of a run that end well: what somebody who verifies them offline needs (`cosign verify-blob`, `hammer
/// sigstore verify-bundle`). Each is verified before it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BundlesPlan {
    /// The file of the one bundle of the first flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The folder for bundles of several flows, each `WORKLOAD-FLOW.sigstore.json`, with the artifact beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// Of how many flows a folder has bundles: 10 unless it is stated, 1,000 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Count>,
}

impl BundlesPlan {
    /// How many bundles are written.
    pub(crate) fn most(&self) -> usize {
        let stated = self.first.map_or(UNSTATED, Count::get);
        if self.file.is_some() { 1 } else { stated }
    }

    pub(super) fn conflict(&self) -> Option<KeyConflict> {
        if self.file.is_some() == self.folder.is_some() {
            return Some(KeyConflict::at("bundles", "either a `file` or a `folder` is to be given"));
        }
        if self.file.is_some() && self.first.is_some() {
            return Some(KeyConflict::at("bundles.first", "a `file` has one bundle; `folder` has several"));
        }
        let is_many = self.most() > MOST;
        is_many.then(|| KeyConflict::at("bundles.first", format!("it is {MOST} at most")))
    }
}

const UNSTATED: usize = 10;
const MOST: usize = 1000;
