//! `hammer lab attest`: an attestation verifier, and how hammer loads it.

use std::io;

use hammer_lab_attest::{AttestLabHandle, AttestLabPlan};
use hammer_report::ExitCode;
use serde_json::json;

use crate::args::LabAttestArgs;
use crate::command::foreground::until_signal;
use crate::error::CliError;
use crate::output::{print, say_notes};
use crate::plan::path::PlanPath;
use crate::plan::read::SourcedPlan;
use crate::protocol::registry::Registry;

use super::{config, quoted, told, unserved};

pub(super) fn serve(args: &LabAttestArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let settings = config::<AttestLabPlan>(args.config.as_deref(), &args.set, registry)?;
    let SourcedPlan { mut plan, source } = settings;
    say_notes(&source)?;
    plan.serve.listen = args.listen.unwrap_or(plan.serve.listen);
    let user = plan.users.iter().find(|user| user.provisions).map(|user| user.name.clone());
    let lab = AttestLabHandle::spawn(plan)
        .map_err(|error| unserved(error, args.listen, &PlanPath::default(), &source))?;
    // What is on standard output is read by programs.
    print(io::stderr(), |out| out.write_all(lines(&lab.url, user.as_deref()).as_bytes()))?;
    until_signal(&json!({ "provisioning_url": lab.url, "verification_url": lab.url }))?;
    told(&lab.stop())
}

/// How hammer provisions and verifies there, as a shell takes it. A user's password stands on no command line.
fn lines(url: &str, user: Option<&str>) -> String {
    let password = user.map_or("", |_| ", where PASSWORD in the environment is the user's,");
    let auth = user.map_or_else(String::new, |name| {
        format!(" --basic-user {} --basic-password-env PASSWORD", quoted(name))
    });
    format!(
        "hammer provisions devices here, and verifies them{password} by\n\n    \
         hammer attest well-known {url} --rate 50/s --for 10s\n    \
         hammer attest provision {url}{auth} --users 4 --operations 500\n    \
         hammer attest verify {url} --count 500 --bad 5% --rate 50/s --for 10s\n    \
         hammer attest verify {url} --provisioning {url}{auth} --devices 100 --users 4 --for 10s\n\n"
    )
}
