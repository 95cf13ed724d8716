//! Places in JSON.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use jsonpath_rust::parser::model::JpQuery;
use jsonpath_rust::parser::parse_json_path;
use jsonpath_rust::query::{QueryRef, js_path_process};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ValueError;

/// A place in a JSON text: the name of a member of the object that it is, a JSON Pointer where it starts with `/` (RFC 6901), or a JSONPath where
/// it starts with `$` (RFC 9535), of which the first value counts that it finds.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JsonPlace {
    text: String,
    way: Way,
}

#[derive(Clone)]
enum Way {
    Member,
    Pointer,
    Path(Box<JpQuery>),
}

impl JsonPlace {
    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What stands there; none where nothing does.
    pub fn find<'a>(&self, json: &'a Value) -> Option<&'a Value> {
        match &self.way {
            Way::Member => json.get(&self.text),
            Way::Pointer => json.pointer(&self.text),
            Way::Path(path) => js_path_process(path, json).ok()?.into_iter().next().map(QueryRef::val),
        }
    }
}

impl TryFrom<String> for JsonPlace {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        let way = match text.chars().next() {
            Some('/') => Way::Pointer,
            Some('$') => match parse_json_path(&text) {
                Ok(path) => Way::Path(Box::new(path)),
                Err(_) => return Err(ValueError::Form { text, expected: "JSONPath (like $.items[0].id)" }),
            },
            Some(_) => Way::Member,
            None => {
                return Err(ValueError::Form {
                    text,
                    expected: "place in JSON: a member's name, a JSON Pointer (like /items/0/id) or a JSONPath (like $.items[0].id)",
                });
            }
        };
        Ok(Self { text, way })
    }
}

impl From<JsonPlace> for String {
    fn from(place: JsonPlace) -> Self {
        place.text
    }
}

/// The text says it all.
impl PartialEq for JsonPlace {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for JsonPlace {}

impl Ord for JsonPlace {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl PartialOrd for JsonPlace {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for JsonPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl JsonSchema for JsonPlace {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "JsonPlace".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1 })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(place: &str, json: &Value) -> Option<Value> {
        JsonPlace::try_from(place.to_owned()).unwrap().find(json).cloned()
    }

    #[test]
    fn a_place_is_a_member_a_pointer_or_a_path() {
        let json = json!({ "a": 1, "a.b": 2, "a/b": 3, "list": [{ "id": "x", "up": false }, { "id": "y", "up": true }] });
        for (place, value) in [
            ("a", json!(1)),
            ("a.b", json!(2)),
            ("/a~1b", json!(3)),
            ("/list/1/id", json!("y")),
            ("$.list[0].id", json!("x")),
            ("$['a.b']", json!(2)),
            ("$.list[?@.up == true].id", json!("y")),
            ("$..id", json!("x")),
        ] {
            assert_eq!(found(place, &json), Some(value), "{place}");
        }
        for place in ["b", "/list/2", "$.list[5]", "$.a.b"] {
            assert_eq!(found(place, &json), None, "{place}");
        }
    }

    #[test]
    fn what_is_no_path_is_refused_and_what_is_one_survives_its_own_text() {
        for nonsense in ["", "$.", "$[", "$a", "$.a[?]"] {
            let error = JsonPlace::try_from(nonsense.to_owned()).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{nonsense}` is no ")), "{error}");
        }
        let place: JsonPlace = serde_json::from_str(r#""$.a[0]""#).unwrap();
        assert_eq!(serde_json::to_string(&place).unwrap(), r#""$.a[0]""#);
    }
}
