//! `hammer schema`: the JSON Schema of what hammer reads or writes.

use std::io;

use hammer_report::ExitCode;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

use crate::args::{SchemaArgs, SchemaOf};
use crate::error::CliError;
use crate::output::print;
use crate::plan::Plan;

/// Prints it, in JSON Schema draft 2020-12.
pub(crate) fn show(args: &SchemaArgs) -> Result<ExitCode, CliError> {
    let settings = SchemaSettings::draft2020_12;
    let text = match args.of {
        SchemaOf::Plan => text::<Plan>(settings().for_deserialize()),
        SchemaOf::Report => text::<hammer_report::Report>(settings().for_serialize()),
        SchemaOf::Events => text::<hammer_report::events::Line>(settings().for_serialize()),
        SchemaOf::Summary => text::<hammer_report::Summary>(settings().for_serialize()),
    };
    print(io::stdout(), |out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::Clean)
}

fn text<T: JsonSchema>(settings: SchemaSettings) -> String {
    let schema = settings.into_generator().into_root_schema_for::<T>();
    format!("{:#}\n", schema.as_value())
}
