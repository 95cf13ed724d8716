//! `hammer man`: manual pages, made from the same source as `--help`.

use std::fs;
use std::io;
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use hammer_report::ExitCode;

use crate::args::{Cli, ManArgs};
use crate::error::{CliError, OutputError, UsageError};
use crate::output::standard::print;

/// Prints one page, or writes them all.
pub(crate) fn show(args: &ManArgs) -> Result<ExitCode, CliError> {
    if let Some(folder) = &args.out {
        write(folder)?;
        return Ok(ExitCode::Clean);
    }
    let page = page(&args.of)?;
    print(io::stdout(), |out| out.write_all(&page))?;
    Ok(ExitCode::Clean)
}

fn write(folder: &Path) -> Result<(), OutputError> {
    let failed = |source| OutputError::Manual { path: folder.to_owned(), source };
    fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(whole(), folder)).map_err(failed)
}

fn page(of: &[String]) -> Result<Vec<u8>, CliError> {
    let mut command = whole();
    command.build();
    for name in of {
        command = command.find_subcommand(name).cloned().ok_or_else(|| UsageError::NoPage(of.join(" ")))?;
    }
    let mut page = Vec::new();
    Man::new(command).render(&mut page).map_err(OutputError::Printed)?;
    Ok(page)
}

fn whole() -> Command {
    Cli::command().disable_help_subcommand(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_by_itself_and_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        let mut command = whole();
        command.build();
        has_pages(folder.path(), &command, &mut Vec::new());
        assert!(page(&["ct".to_owned(), "sbmit".to_owned()]).is_err());
    }

    fn has_pages(folder: &Path, command: &Command, of: &mut Vec<String>) {
        let name = [&["hammer".to_owned()], of.as_slice()].concat().join("-");
        let written = fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
        let printed = String::from_utf8(page(of).unwrap()).unwrap();
        for text in [written, printed] {
            assert!(text.contains(&format!(".TH {name} 1 ")), "{name}: {text}");
            for option in command.get_opts().filter_map(|option| option.get_long()) {
                assert!(text.contains(&option.replace('-', "\\-")), "no --{option} in {name}");
            }
        }
        for command in command.get_subcommands() {
            of.push(command.get_name().to_owned());
            has_pages(folder, command, of);
            of.pop();
        }
    }
}
