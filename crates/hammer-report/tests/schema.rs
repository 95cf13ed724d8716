//! The schemas in `docs/` are those of the structs. `UPDATE_SCHEMA=1` rewrites them.

use std::path::Path;
use std::{env, fs};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

fn keeps_in_step<T: JsonSchema>(file: &str) {
    let schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
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
    keeps_in_step::<hammer_report::Report>("report.schema.json");
}

#[test]
fn the_schema_of_the_events_is_in_step() {
    keeps_in_step::<hammer_report::events::Line>("events.schema.json");
}

#[test]
fn the_schema_of_the_summary_is_in_step() {
    keeps_in_step::<hammer_report::Summary>("summary.schema.json");
}

#[test]
fn the_schema_of_the_samples_is_in_step() {
    keeps_in_step::<hammer_report::samples::SamplesLine>("samples.schema.json");
}
