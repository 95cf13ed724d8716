//! `hammer lab gateway`: an OAuth-protected gateway, and how hammer loads it.

use std::io;
use std::path::PathBuf;

use hammer_lab::LabStats;
use hammer_lab_gateway::{GatewayLabHandle, GatewayLabPlan};
use hammer_report::ExitCode;
use serde_json::json;

use crate::args::LabGatewayArgs;
use crate::command::foreground::until_signal;
use crate::error::CliError;
use crate::output::FileFolder;
use crate::output::standard::{print, say_notes};
use crate::plan::path::PlanPath;
use crate::plan::read::SourcedPlan;
use crate::protocol::registry::Registry;

use super::process::{config, quoted, reached, told, unserved};

pub(super) fn serve(args: &LabGatewayArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let settings = config::<GatewayLabPlan>(args.config.as_deref(), &args.set, registry)?;
    let SourcedPlan { mut plan, source } = settings;
    say_notes(&source)?;
    plan.serve.listen = args.listen.unwrap_or(plan.serve.listen);
    let certificate = plan.serve.tls.as_ref().map(|tls| tls.certificate.clone());
    let lab = GatewayLabHandle::spawn(plan)
        .map_err(|error| unserved(error, args.listen, &PlanPath::default(), &source))?;
    let url = reached(&lab.url);
    let mut target = json!({ "url": url });
    let mut token_file = None;
    if let (Some(folder), Some(token), Some(keys)) =
        (&args.out, lab.target().token(A_DAY), lab.target().jwk_set())
    {
        let folder = FileFolder::made("--out", folder)?;
        folder.write("jwks.json", keys.as_bytes())?;
        let path = folder.write("token", token.as_bytes())?;
        target["token"] = json!({ "file": path });
        token_file = Some(path);
    }
    let trust = certificate.map_or_else(String::new, |path| {
        let path = path.canonicalize().unwrap_or(path);
        format!(" --cacert {}", quoted(&path.to_string_lossy()))
    });
    // What is on standard output is read by programs.
    let said = lines(&url, &trust, token_file.as_ref());
    print(io::stderr(), |out| out.write_all(said.as_bytes()))?;
    until_signal(&target)?;
    let (lies, unlisted_lies) = lab.target().told_lies();
    let stats: LabStats = lab.stop();
    let mut counts = json!(stats);
    if !lies.is_empty() {
        let lies: Vec<_> = lies
            .iter()
            .map(|lie| json!({ "kind": lie.kind, "method": lie.method, "path": lie.path }))
            .collect();
        counts["lies"] = json!(lies);
        counts["unlisted_lies"] = json!(unlisted_lies);
    }
    told(&counts)
}

/// How hammer loads it, as a shell takes it.
fn lines(url: &str, trust: &str, token: Option<&PathBuf>) -> String {
    let Some(token) = token else { return WITHOUT_FILES.to_owned() };
    let bearer = format!("{trust} --bearer-file {}", quoted(&token.to_string_lossy()));
    format!(
        "hammer loads it, and each of its hops by itself, by\n\n    \
         hammer http get {url}/{bearer} -n 10000 -c 50\n    \
         hammer http get {url}/hops/authenticated/{bearer} -n 10000 -c 50\n    \
         hammer http get {url}/hops/backend/{trust} -n 10000 -c 50\n\n"
    )
}

/// Seconds.
const A_DAY: u64 = 86_400;
const WITHOUT_FILES: &str =
    "give --out DIR for a token that it takes, where it takes any, and for commands that use it\n";
