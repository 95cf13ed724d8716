//! From a file and a command line to a plan; what is wrong is named by file, line and key path.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::args::PlanArgs;
use crate::error::CliError;

use super::{Plan, smoke};

/// Reads the plan and applies what the command line changes in it.
pub(crate) fn plan(args: &PlanArgs) -> Result<Plan, CliError> {
    let plan: Plan = file(&args.plan, &args.changes.set)?;
    let mut plan = plan.seed(args.changes.seed);
    if args.changes.smoke {
        smoke::shorten(&mut plan);
    }
    Ok(plan)
}

/// Reads a YAML file and applies `KEY=VALUE` changes.
pub(crate) fn file<T: DeserializeOwned>(path: &Path, set: &[String]) -> Result<T, CliError> {
    let text = std::fs::read_to_string(path).map_err(|source| CliError::File {
        action: "read",
        path: path.to_owned(),
        source,
    })?;
    let name = path.display().to_string();
    let mut value: Value = serde_saphyr::from_str(&text).map_err(|error| located(&name, &error, None))?;
    // The file is judged as it stands, so that its mistakes have lines; then the command line's changes are.
    typed::<T>(value.clone()).map_err(|(path, message)| in_file::<T>(&name, &text, &path, &message))?;
    for change in set {
        apply_text(&mut value, change)?;
    }
    typed(value)
        .map_err(|(path, message)| CliError::plan(format!("use the plan with --set: {path}: {message}")))
}

/// Reads a plan out of a value, with the key path of what is wrong in it.
pub(crate) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, (String, String)> {
    serde_path_to_error::deserialize(value)
        .map_err(|error| (error.path().to_string(), error.inner().to_string()))
}

/// Applies a change `key.path=value`, the value in YAML.
pub(crate) fn apply_text(plan: &mut Value, change: &str) -> Result<(), CliError> {
    let refused = |reason: &str| CliError::plan(format!("use --set {change}: {reason}"));
    let (key, text) = change.split_once('=').ok_or_else(|| refused("expected KEY=VALUE"))?;
    let value = serde_saphyr::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    apply(plan, key.trim(), value).map_err(|reason| refused(&reason))
}

/// Puts a value at a key path; a list's item is named by its place or by its `name`.
pub(crate) fn apply(plan: &mut Value, key: &str, value: Value) -> Result<(), String> {
    let mut at = plan;
    for part in key.split('.') {
        at = match at {
            Value::Object(map) => map.entry(part).or_insert(Value::Null),
            Value::Null => {
                *at = Value::Object(serde_json::Map::new());
                at.as_object_mut().expect("it was just made").entry(part).or_insert(Value::Null)
            }
            Value::Array(items) => {
                let place = part.parse().ok().or_else(|| items.iter().position(|item| item["name"] == part));
                place
                    .and_then(|place: usize| items.get_mut(place))
                    .ok_or_else(|| format!("there is no item {part}"))?
            }
            _ => return Err(format!("what stands before {part} has no keys")),
        };
    }
    *at = value;
    Ok(())
}

/// What is wrong, with its line: the reader that knows lines is asked once more.
fn in_file<T: DeserializeOwned>(name: &str, text: &str, path: &str, message: &str) -> CliError {
    match serde_saphyr::from_str::<T>(text) {
        Err(error) => located(name, &error, Some(path)),
        Ok(_) => CliError::plan(format!("use the plan {name}: {path}: {message}")),
    }
}

fn located(name: &str, error: &serde_saphyr::Error, path: Option<&str>) -> CliError {
    let place = error.location().map_or_else(String::new, |at| format!(":{}:{}", at.line(), at.column()));
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(first);
    let message = match message.strip_prefix("line ").and_then(|rest| rest.split_once(": ")) {
        Some((_, message)) => message,
        None => message,
    };
    let path = path.filter(|path| *path != ".").map_or_else(String::new, |path| format!("{path}: "));
    let snippet: String = text.lines().skip(2).map(|line| format!("\n{line}")).collect();
    CliError::plan(format!("use the plan {name}{place}: {path}{message}{snippet}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_finds_its_key_by_name_or_place() {
        let mut plan = json!({"workloads": [{"name": "submit", "load": {"rate": "5/s"}}], "seed": 1});
        apply_text(&mut plan, "workloads.submit.load.rate=50/s").unwrap();
        apply_text(&mut plan, "workloads.0.in_flight=7").unwrap();
        apply_text(&mut plan, "phases.measurement=10s").unwrap();
        apply_text(&mut plan, "sweep={\"a\": [1, 2]}").unwrap();
        assert_eq!(plan["workloads"][0], json!({"name": "submit", "load": {"rate": "50/s"}, "in_flight": 7}));
        assert_eq!(plan["phases"]["measurement"], "10s");
        assert_eq!(plan["sweep"]["a"][1], 2);
    }

    #[test]
    fn a_change_that_finds_nothing_says_so() {
        let mut plan = json!({"workloads": [], "seed": 1});
        for (change, reason) in [
            ("seed", "expected KEY=VALUE"),
            ("workloads.submit.load=1", "there is no item submit"),
            ("seed.of=1", "what stands before of has no keys"),
        ] {
            let error = apply_text(&mut plan, change).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
