//! What of a plan is a secret: no report shows it, nor a mistake beside it.

use serde_json::Value;

use super::path::{PathSegment, PlanPath};

/// Headers whose values are secrets, in lower case.
const CREDENTIALS: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "x-api-key"];

/// Leaves out of a plan what its headers carry as secrets, in whichever of its sections they stand.
pub(super) fn mask(plan: &mut Value) {
    match plan {
        Value::Object(map) => map.iter_mut().for_each(|(key, value)| match is_credential(key) {
            true => hide(value),
            false => mask(value),
        }),
        Value::Array(items) => items.iter_mut().for_each(mask),
        _ => {}
    }
}

fn hide(value: &mut Value) {
    match value {
        Value::Object(map) => map.values_mut().for_each(hide),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Null => {}
        shown => *shown = Value::String("***".to_owned()),
    }
}

/// Whether the header of that name carries a secret.
fn is_credential(header: &str) -> bool {
    CREDENTIALS.iter().any(|credential| header.eq_ignore_ascii_case(credential))
}

/// Whether a header that carries a secret is named anywhere in `text`.
pub(super) fn names_credential(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    CREDENTIALS.iter().any(|credential| text.contains(credential))
}

/// Whether what is at that path is the value of such a header, or a part of it.
pub(super) fn leads_into_credential(at: &PlanPath) -> bool {
    at.segments().iter().any(|segment| matches!(segment, PathSegment::Key(key) if is_credential(key)))
}

/// A change `key=value` without its value, where that may hold a secret.
pub(super) fn without_credential(change: &str) -> String {
    match change.split_once('=') {
        Some((key, _)) if names_credential(change) => format!("{key}=***"),
        _ => change.to_owned(),
    }
}
