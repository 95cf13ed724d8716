//! A change of a plan by the command line or a sweep: a value at a key path.

use std::iter;

use serde_json::Value;

use super::nearest::nearest;
use super::path::PlanPath;

/// Why there can be no value at a key path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChangeError {
    /// No value is given.
    #[error("expected KEY=VALUE")]
    Form,
    /// The value is nothing at all, as where a shell's variable is not set.
    #[error("the value is empty: write null to take a key away, \"\" for an empty text")]
    Empty,
    /// The list has no item of that name or place.
    #[error("there is no item {item}{}", named(item, known))]
    UnknownItem {
        item: String,
        /// The names of those that there are.
        known: Vec<String>,
    },
    /// `null` takes a key away that is not there.
    #[error("there is no key {0} to take away")]
    NotThere(String),
    /// What stands there is no map.
    #[error("what stands before {0} has no keys")]
    Keyless(String),
}

/// Applies a change `key.path=value`, the value in YAML; where that is.
pub(super) fn apply_text(plan: &mut Value, change: &str) -> Result<PlanPath, ChangeError> {
    let (key, text) = change.split_once('=').ok_or(ChangeError::Form)?;
    if text.trim().is_empty() {
        return Err(ChangeError::Empty);
    }
    let value = serde_saphyr::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    apply(plan, key.trim(), value)
}

/// Puts a value at a key path, from which `null` takes the key away; a list's item is named by its place, as errors tell it (`workloads[0]`) or
/// as a part of its own (`workloads.0`), or by its `name`.
pub(crate) fn apply(plan: &mut Value, key: &str, value: Value) -> Result<PlanPath, ChangeError> {
    let (mut at, mut path) = (plan, PlanPath::default());
    let mut parts = key.split('.').flat_map(with_places).peekable();
    while let Some(part) = parts.next() {
        if at.is_null() {
            *at = Value::Object(serde_json::Map::new());
        }
        at = match at {
            Value::Object(map) => {
                path = path.key(part);
                if value.is_null() && parts.peek().is_none() {
                    map.remove(part).ok_or_else(|| ChangeError::NotThere(part.to_owned()))?;
                    return Ok(path);
                }
                map.entry(part).or_insert(Value::Null)
            }
            Value::Array(items) => {
                let named = || items.iter().position(|item| item["name"] == part);
                let place = part.parse().ok().or_else(named).filter(|place| *place < items.len());
                let place = place.ok_or_else(|| unknown_item(part, items))?;
                path = path.item(place);
                &mut items[place]
            }
            _ => return Err(ChangeError::Keyless(part.to_owned())),
        };
    }
    *at = value;
    Ok(path)
}

/// A part of a key path, and the places in lists behind it: `frontends[0][1]`.
pub(super) fn with_places(part: &str) -> impl Iterator<Item = &str> {
    let is_place = |text: &str| {
        text.strip_suffix(']')
            .is_some_and(|place| !place.is_empty() && place.bytes().all(|digit| digit.is_ascii_digit()))
    };
    let (key, places) =
        part.split_once('[').filter(|(_, places)| places.split('[').all(is_place)).unwrap_or((part, ""));
    let places = places.split('[').filter_map(|place| place.strip_suffix(']'));
    iter::once(key).chain(places)
}

fn unknown_item(item: &str, items: &[Value]) -> ChangeError {
    let known = items.iter().filter_map(|item| item["name"].as_str()).map(str::to_owned).collect();
    ChangeError::UnknownItem { item: item.to_owned(), known }
}

/// The names that there are, and which of them was probably meant.
fn named(item: &str, known: &[String]) -> String {
    match (nearest(item, known.iter().map(String::as_str)), known) {
        (_, []) => String::new(),
        (Some(meant), _) => format!("; did you mean `{meant}`?"),
        (None, known) => format!("; there are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_finds_its_key_by_name_or_place() {
        let mut plan = json!({"workloads": [{"name": "submit", "load": {"rate": "5/s"}}], "seed": 1});
        let at = apply_text(&mut plan, "workloads.submit.load.rate=50/s").unwrap();
        assert_eq!(at.to_string(), "workloads[0].load.rate");
        apply_text(&mut plan, "workloads.0.in_flight=6").unwrap();
        apply_text(&mut plan, "workloads[0].in_flight=7").unwrap();
        apply_text(&mut plan, "phases.measurement=10s").unwrap();
        apply_text(&mut plan, "sweep={\"a\": [1, 2]}").unwrap();
        assert_eq!(plan["workloads"][0], json!({"name": "submit", "load": {"rate": "50/s"}, "in_flight": 7}));
        assert_eq!(plan["phases"]["measurement"], "10s");
        assert_eq!(plan["sweep"]["a"][1], 2);
    }

    #[test]
    fn what_is_no_place_in_brackets_is_a_part_of_the_key() {
        for (part, parts) in [
            ("a[0][12]", &["a", "0", "12"] as &[_]),
            ("a[0", &["a[0"]),
            ("a['b']", &["a['b']"]),
            ("a[]", &["a[]"]),
            ("[3]", &["", "3"]),
        ] {
            assert_eq!(with_places(part).collect::<Vec<_>>(), parts, "{part}");
        }
    }

    #[test]
    fn null_takes_a_key_away_that_is_there() {
        let mut plan = json!({"seed": 1, "fill": {"users": 2, "timeout": "1s"}, "list": [1]});
        for change in ["seed=null", "fill.timeout=~", "list.0=null"] {
            apply_text(&mut plan, change).unwrap();
        }
        assert_eq!(plan, json!({"fill": {"users": 2}, "list": [null]}));
    }

    #[test]
    fn a_change_that_finds_nothing_says_so() {
        let mut plan = json!({"workloads": [], "seed": 1});
        for (change, why) in [
            ("seed", ChangeError::Form),
            ("sede=null", ChangeError::NotThere("sede".to_owned())),
            ("workloads.submit.load=1", unknown_item("submit", &[])),
            ("workloads.0.load=1", unknown_item("0", &[])),
            ("seed.of=1", ChangeError::Keyless("of".to_owned())),
        ] {
            assert_eq!(apply_text(&mut plan, change), Err(why));
        }
    }
}
