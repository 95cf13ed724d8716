//! From a value to a type, with the path of what is wrong.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::credential::leads_into_credential;
use super::error::{PlanError, PlanFault};
use super::path::PlanPath;

/// Reads a plan, or a part of one, out of a value, with the key path of what is wrong in it.
pub(super) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, PlanError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let at: PlanPath = error.path().into();
        // The message may quote the value.
        let fault = match leads_into_credential(&at) {
            true => PlanFault::Credential,
            false => PlanFault::Misfit(error.inner().to_string()),
        };
        fault.at(at)
    })
}
