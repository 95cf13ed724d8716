//! `hammer init`: a first plan, which runs at once and says which lines to change.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use hammer_report::ExitCode;

use crate::args::{InitArgs, PlanKind};
use crate::error::{CliError, OutputError};
use crate::output::standard::print;

/// Writes it to a new file, or to standard output.
pub(crate) fn write(args: &InitArgs) -> Result<ExitCode, CliError> {
    let (name, text) = args.kind.template();
    let path = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.yaml")));
    if path.as_os_str() == "-" {
        print(io::stdout(), |out| out.write_all(text.as_bytes()))?;
        return Ok(ExitCode::Clean);
    }
    new_file(&path, text)?;
    let shown = path.display();
    print(io::stdout(), |out| writeln!(out, "wrote {shown}; this carries it out: hammer run {shown}"))?;
    Ok(ExitCode::Clean)
}

fn new_file(path: &Path, text: &str) -> Result<(), OutputError> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => OutputError::Exists { path: path.to_owned(), flag: OUT },
        _ => OutputError::Unopened { named: OUT, path: path.to_owned(), source },
    })
}

impl PlanKind {
    /// The name of that kind, and its plan.
    const fn template(self) -> (&'static str, &'static str) {
        match self {
            Self::Ct => ("ct", include_str!("init/ct.yaml")),
            Self::Http => ("http", include_str!("init/http.yaml")),
            Self::Sigstore => ("sigstore", include_str!("init/sigstore.yaml")),
            Self::Attest => ("attest", include_str!("init/attest.yaml")),
            Self::Pki => ("pki", include_str!("init/pki.yaml")),
            Self::Gateway => ("gateway", include_str!("init/gateway.yaml")),
        }
    }
}

const OUT: &str = "--out";
