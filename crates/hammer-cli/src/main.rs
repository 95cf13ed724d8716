//! The `hammer` command: arguments, plans, assembly and exit codes. Only this crate prints; no other reads a plan.

mod args;
mod assemble;
mod before_run;
mod bounded_file;
mod command;
mod dashboard;
mod diagnostics;
mod earlier_runs;
mod error;
mod evidence;
mod health;
mod hooks;
mod lab_observer;
mod link;
mod metric_observer;
mod metrics;
mod observed_number;
mod otlp;
mod output;
mod page_server;
mod plan;
mod progress;
mod protocol;
mod readiness;
mod resources;
mod scrape;
mod screen;
mod signals;
mod tui;
mod web;
mod wording;

use std::path::Path;
use std::{env, process};

use clap::Parser as _;
use hammer_measure::credential::without_any_secret;
use hammer_measure::shown_lines;
use hammer_report::{ExitCode, ReasonKind};
use mimalloc::MiMalloc;

use args::{Cli, Command};
use error::CliError;
use protocol::registry::Registry;
use wording::{told_of_arguments, told_without_credentials};

/// h2 takes and gives back some twenty blocks for a request, a dial four: the C library's cost a seventh of the instructions of each.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> process::ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refused) => return said_of_arguments(&refused),
    };
    let ended = match diagnose(&cli).and_then(|()| dispatch(&cli.command, &Registry::shipped())) {
        Ok(code) => code.into(),
        Err(error) => failed(&error),
    };
    if let Some(lost) = diagnostics::lost() {
        let _ =
            output::standard::print(std::io::stderr(), |out| writeln!(out, "hammer: {}", shown_lines(lost)));
    }
    ended
}

/// Tells why a command failed.
fn failed(error: &CliError) -> process::ExitCode {
    let said = told_without_credentials(error);
    // Nobody is left to tell when standard error is gone as well.
    let _ = output::standard::print(std::io::stderr(), |out| writeln!(out, "hammer: {}", shown_lines(&said)));
    ExitCode::Because(error.reason()).into()
}

/// Tells what is wrong with the arguments, or what was asked of them (`--help`).
fn said_of_arguments(refused: &clap::Error) -> process::ExitCode {
    if !refused.use_stderr() {
        // Who reads hey's flag for HTTP/2 as a wish for help is told that all is well.
        if let Some(flag) = env::args().find(|argument| argument.starts_with("-h") && argument.len() > 2) {
            let said = format!(
                "error: unexpected argument '{flag}' found\n\n  tip: --http2 and --help are written out\n"
            );
            let _ = output::standard::print(std::io::stderr(), |out| {
                write!(out, "{}", shown_lines(&without_any_secret(&said)))
            });
            return ExitCode::Because(ReasonKind::Usage).into();
        }
        return match output::standard::print(std::io::stdout(), |_| refused.print()) {
            Ok(()) => ExitCode::Clean.into(),
            Err(error) => failed(&error.into()),
        };
    }
    // An argument that nobody knows is quoted, and may be a token.
    let said = told_of_arguments(refused, &refused.render().to_string());
    let said = without_any_secret(&said);
    let _ = output::standard::print(std::io::stderr(), |out| write!(out, "{}", shown_lines(&said)));
    ExitCode::Because(ReasonKind::Usage).into()
}

fn diagnose(cli: &Cli) -> Result<(), CliError> {
    let Some(filter) = &cli.log else { return Ok(()) };
    // The dashboard has the terminal; lines between its cells would help nobody.
    let beside_dashboard =
        env::args_os().any(|argument| argument == "--tui").then(|| Path::new("hammer.log"));
    Ok(diagnostics::start(filter, cli.log_file.as_deref().or(beside_dashboard))?)
}

fn dispatch(command: &Command, registry: &Registry) -> Result<ExitCode, CliError> {
    match command {
        Command::Run(args) => command::run::of_file(args, registry),
        Command::Plan(args) => command::plan::show(args, registry),
        Command::Init(args) => command::init::write(args),
        Command::Http(command) => command::http::load(command, registry),
        Command::Ct(command) => command::ct::command(command, registry),
        Command::Sigstore(command) => command::sigstore::command(command, registry),
        Command::Attest(command) => command::attest::command(command, registry),
        Command::Pki(command) => command::pki::command(command, registry),
        Command::Report(args) => command::report::show(args),
        Command::Compare(args) => command::compare::show(args, registry),
        Command::Ctl(args) => command::ctl::steer(args),
        Command::Lab(command) => command::lab::serve(command, registry),
        Command::Resources(args) => command::resources::serve(args),
        Command::Schema(args) => command::schema::show(args, registry),
        Command::Completions(args) => command::completions::show(args),
        Command::Man(args) => command::man::show(args),
    }
}
