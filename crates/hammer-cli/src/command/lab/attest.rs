//! `hammer lab attest`: an attestation verifier, and how hammer loads it.

use std::io;
use std::path::Path;

use hammer_lab_attest::{AttestLabHandle, AttestLabPlan};
use hammer_report::ExitCode;
use serde_json::json;

use crate::args::LabAttestArgs;
use crate::command::foreground::until_signal;
use crate::error::CliError;
use crate::output::standard::{print, say_notes};
use crate::plan::path::PlanPath;
use crate::plan::read::SourcedPlan;
use crate::protocol::registry::Registry;

use super::process::{config, quoted, reached, told, unserved};

pub(super) fn serve(args: &LabAttestArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let settings = config::<AttestLabPlan>(args.config.as_deref(), &args.set, registry)?;
    let SourcedPlan { mut plan, source } = settings;
    say_notes(&source)?;
    plan.serve.listen = args.listen.unwrap_or(plan.serve.listen);
    let user = plan.users.iter().find(|user| user.provisions).map(|user| user.name.clone());
    let certificate = plan.serve.tls.as_ref().map(|tls| tls.certificate.clone());
    let lab = AttestLabHandle::spawn(plan)
        .map_err(|error| unserved(error, args.listen, &PlanPath::default(), &source))?;
    // What is on standard output is read by programs.
    let url = reached(&lab.url);
    let said = lines(&url, user.as_deref(), certificate.as_deref());
    print(io::stderr(), |out| out.write_all(said.as_bytes()))?;
    until_signal(&json!({ "provisioning_url": url, "verification_url": url }))?;
    told(&lab.stop())
}

/// How hammer provisions and verifies there, as a shell takes it. A user's password stands on no command line. A certificate of one's own
/// is trusted by its file.
fn lines(url: &str, user: Option<&str>, certificate: Option<&Path>) -> String {
    let trust = certificate.map_or_else(String::new, |path| {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        format!(" --cacert {}", quoted(&path.to_string_lossy()))
    });
    let password = user.map_or("", |_| ", where PASSWORD in the environment is the user's,");
    let auth = user.map_or_else(String::new, |name| {
        format!(" --basic-user {} --basic-password-env PASSWORD", quoted(name))
    });
    format!(
        "hammer provisions devices here, and verifies them{password} by\n\n    \
         hammer attest well-known {url}{trust} --rate 50/s --for 10s\n    \
         hammer attest provision {url}{trust}{auth} --users 4 --operations 500\n    \
         hammer attest verify {url}{trust} --count 500 --bad 5% --rate 50/s --for 10s\n    \
         hammer attest verify {url} --provisioning {url}{trust}{auth} --devices 100 --users 4 --for 10s\n\n"
    )
}
