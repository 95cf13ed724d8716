//! `--web`: the page of a run while it lasts, and, with `--control`, the door by which it is steered.

mod access;
mod door;
mod live_run;
mod server;
mod steering;
pub(crate) mod token_file;

use std::io;
use std::sync::Arc;

use hammer_lab::serve::ServePlan;
use hammer_measure::{Reporter, RunEvent};
use hammer_report::Report;
use hammer_values::ByteSize;

use crate::args::OutputArgs;
use crate::error::{CliError, UsageError};
use crate::output::standard::print;
use access::Access;
use door::Door;
use live_run::LiveRun;
pub(crate) use live_run::ShownRun;
use server::{DoorConfig, DoorServer};
pub(crate) use steering::AskedRate;
use token_file::TokenFile;

/// The live page of a command's runs, where it is asked for.
pub(crate) struct LiveWeb {
    door: Arc<Door>,
    /// Until the page ends.
    server: Option<DoorServer>,
    /// Goes with the page, where it was made for it.
    _token: Option<TokenFile>,
}

/// Tells the page what a run tells.
pub(crate) struct LiveReporter(Arc<Door>);

impl LiveWeb {
    /// Serves the page where the command line says so, and says where.
    ///
    /// # Errors
    /// An address that cannot be listened on, or that others can reach without a token; a token that cannot be read or kept.
    pub(crate) fn serve(output: &OutputArgs) -> Result<Option<Self>, CliError> {
        let Some(listen) = output.web else { return Ok(None) };
        let is_of_this_machine = listen.ip().to_canonical().is_loopback();
        if !is_of_this_machine && output.web_token.is_none() {
            return Err(UsageError::OpenWeb(listen).into());
        }
        if is_of_this_machine && output.web_token.is_some() && !output.control {
            return Err(UsageError::IdleToken(listen).into());
        }
        let serve = ServePlan { listen, max_body: MOST_OF_COMMAND, ..ServePlan::default() };
        let door = Arc::new(Door::default());
        let server = DoorServer::spawn(DoorConfig::new(serve, Arc::clone(&door)))?;
        let address = server.url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let token = match &output.web_token {
            Some(path) => Some(TokenFile::given(path)?),
            None if output.control => Some(TokenFile::made_for(&address)?),
            None => None,
        };
        let access = Access {
            token: token.as_ref().map(TokenFile::test),
            guards_views: !is_of_this_machine,
            can_steer: output.control,
        };
        door.open(access);
        // All addresses of this machine are none that can be asked for.
        let url = server.url.replace("0.0.0.0", "127.0.0.1").replace("[::]", "[::1]");
        // What is on standard output is read by programs.
        print(io::stderr(), |out| {
            writeln!(out, "hammer: live page at {url}")?;
            let Some(token) = token.as_ref() else { return Ok(()) };
            let path = token.path().display();
            if output.control {
                let named =
                    if output.web_token.is_some() { format!(" --web-token {path}") } else { String::new() };
                let url = url.trim_end_matches('/');
                writeln!(
                    out,
                    "hammer: it is steered by `hammer ctl {url} COMMAND{named}` (the token is in {path})"
                )?;
            }
            if token.is_readable_by_others() {
                writeln!(
                    out,
                    "hammer: {path}, the token of the live page, can be read by others than its owner"
                )?;
            }
            Ok(())
        })?;
        Ok(Some(Self { door, server: Some(server), _token: token }))
    }

    /// Who tells the page of a run, which it is of from now on.
    pub(crate) fn reporter(&self, run: ShownRun<'_>) -> LiveReporter {
        self.door.begin(LiveRun::new(run));
        LiveReporter(Arc::clone(&self.door))
    }

    /// Has the page say what the report does.
    pub(crate) fn conclude(&self, report: &Report) {
        self.door.conclude(report);
    }
}

/// Ends the page: whoever looks on is given its last figures, within a few seconds.
impl Drop for LiveWeb {
    fn drop(&mut self) {
        self.door.close();
        self.server.take().map(DoorServer::stop);
    }
}

impl Reporter for LiveReporter {
    fn event(&mut self, event: &RunEvent) {
        self.0.take(event);
    }
}

/// A command with its text is far shorter.
const MOST_OF_COMMAND: ByteSize = ByteSize::from_kib(16);
