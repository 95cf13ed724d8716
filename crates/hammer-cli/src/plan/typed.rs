//! From a value to a type, with the path of what is wrong.

use hammer_values::KeyConflict;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::credential::{leads_into_credential, leads_to_token};
use super::error::{PlanError, PlanFault};
use super::misfit::misfit;
use super::path::PlanPath;

/// Reads a plan, or a part of one, out of a value, with the key path of what is wrong in it.
pub(super) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, PlanError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let (at, message): (PlanPath, String) = (error.path().into(), error.inner().to_string());
        if leads_into_credential(&at) {
            // The message may quote the value.
            return PlanFault::Credential.at(at);
        }
        if message.starts_with("invalid type") && leads_to_token(&at) {
            return PlanFault::InlineToken.at(at);
        }
        match KeyConflict::split(&message) {
            Some((key, reason)) => PlanFault::Misfit(reason.to_owned()).at(at.keys(key)),
            None => match misfit(&message) {
                ("", fault) => fault.at(at),
                (key, fault) => fault.at(at.key(key)),
            },
        }
    })
}
