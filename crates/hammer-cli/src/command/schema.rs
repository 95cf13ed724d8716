//! `hammer schema`: the JSON Schema of what hammer reads or writes.

use std::io;

use hammer_report::ExitCode;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use crate::args::{SchemaArgs, SchemaOf};
use crate::error::CliError;
use crate::output::standard::print;
use crate::protocol::registry::Registry;

/// Prints it, in JSON Schema draft 2020-12.
pub(crate) fn show(args: &SchemaArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let text = match args.of {
        SchemaOf::Plan => text(&registry.grammar().schema()),
        SchemaOf::Report => schema_of::<hammer_report::Report>(),
        SchemaOf::Events => schema_of::<hammer_report::events::Line>(),
        SchemaOf::Samples => schema_of::<hammer_report::samples::SamplesLine>(),
        SchemaOf::Summary => schema_of::<hammer_report::Summary>(),
    };
    print(io::stdout(), |out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::Clean)
}

/// What is written of a `T`.
fn schema_of<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    text(&settings.into_generator().into_root_schema_for::<T>())
}

fn text(schema: &Schema) -> String {
    format!("{:#}\n", schema.as_value())
}
