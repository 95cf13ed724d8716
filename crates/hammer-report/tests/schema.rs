//! The schemas in `docs/` are those of the structs. `UPDATE_SCHEMA=1` rewrites them.

use std::path::Path;
use std::{env, fs};

use schemars::Schema;

fn keeps_in_step(file: &str, schema: &Schema) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file);
    let expected = format!("{:#}\n", schema.as_value());
    if env::var_os("UPDATE_SCHEMA").is_some_and(|value| value == "1") {
        fs::write(&path, &expected).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "docs/{file} is not the schema of the structs: run with UPDATE_SCHEMA=1");
}

#[test]
fn the_schema_of_the_report_is_in_step() {
    keeps_in_step("report.schema.json", &schemars::schema_for!(hammer_report::Report));
}

#[test]
fn the_schema_of_the_events_is_in_step() {
    keeps_in_step("events.schema.json", &schemars::schema_for!(hammer_report::events::Line));
}

#[test]
fn the_schema_of_the_summary_is_in_step() {
    keeps_in_step("summary.schema.json", &schemars::schema_for!(hammer_report::Summary));
}
