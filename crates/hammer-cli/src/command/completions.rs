//! `hammer completions`: what a shell needs to complete hammer's commands and options.

use std::io;

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};
use hammer_report::ExitCode;

use crate::args::{Cli, CompletionsArgs};
use crate::error::CliError;
use crate::output::standard::print;

/// Prints it.
pub(crate) fn show(args: &CompletionsArgs) -> Result<ExitCode, CliError> {
    let script = of(args.shell);
    print(io::stdout(), |out| out.write_all(&script))?;
    Ok(ExitCode::Clean)
}

fn of(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "hammer", &mut script);
    script
}

#[cfg(test)]
mod tests {
    use clap::{Command, ValueEnum as _};

    use super::*;

    #[test]
    fn every_shell_completes_every_command_and_option() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(of(*shell)).unwrap();
            assert!(script.contains("hammer"), "{shell}");
            completes(*shell, &script, &Cli::command());
        }
    }

    fn completes(shell: Shell, script: &str, command: &Command) {
        for option in command.get_opts().filter_map(|option| option.get_long()) {
            assert!(script.contains(option), "{shell} does not complete --{option}");
        }
        for command in command.get_subcommands() {
            assert!(script.contains(command.get_name()), "{shell} does not complete {}", command.get_name());
            completes(shell, script, command);
        }
    }
}
