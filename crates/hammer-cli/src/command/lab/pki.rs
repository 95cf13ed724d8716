//! `hammer lab pki`: a signature service, and how hammer loads it.

use std::io;
use std::path::PathBuf;

use hammer_lab::LabStats;
use hammer_lab_pki::{PkiLabHandle, PkiLabPlan};
use hammer_report::ExitCode;
use serde_json::json;

use crate::args::LabPkiArgs;
use crate::command::foreground::until_signal;
use crate::error::CliError;
use crate::output::FileFolder;
use crate::output::standard::{print, say_notes};
use crate::plan::path::PlanPath;
use crate::plan::read::SourcedPlan;
use crate::protocol::registry::Registry;

use super::process::{config, quoted, reached, told, unserved};

pub(super) fn serve(args: &LabPkiArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let settings = config::<PkiLabPlan>(args.config.as_deref(), &args.set, registry)?;
    let SourcedPlan { mut plan, source } = settings;
    say_notes(&source)?;
    plan.serve.listen = args.listen.unwrap_or(plan.serve.listen);
    let access_token = plan.access_token.clone();
    let certificate = plan.serve.tls.as_ref().map(|tls| tls.certificate.clone());
    let lab = PkiLabHandle::spawn(plan)
        .map_err(|error| unserved(error, args.listen, &PlanPath::default(), &source))?;
    let url = reached(&lab.url);
    let mut target = json!({ "url": url });
    let mut files = None;
    if let Some(folder) = &args.out {
        let folder = FileFolder::made("--out", folder)?;
        let token = folder.write("token", access_token.as_bytes())?;
        let roots = lab.target().timestamp_authority().pem().join("\n");
        let roots = folder.write("timestamp-roots.pem", roots.as_bytes())?;
        target["token"] = json!({ "file": token });
        target["timestamp_roots_pem_files"] = json!([roots]);
        files = Some((token, roots));
    }
    let trust = certificate.map_or_else(String::new, |path| {
        let path = path.canonicalize().unwrap_or(path);
        format!(" --cacert {}", quoted(&path.to_string_lossy()))
    });
    // What is on standard output is read by programs.
    let said = lines(&url, &trust, files.as_ref());
    print(io::stderr(), |out| out.write_all(said.as_bytes()))?;
    until_signal(&target)?;
    let (lies, unlisted_lies) = lab.target().told_lies();
    let LabStats { requests, connections, revocation_lists, .. } = lab.stop();
    let lies: Vec<_> = lies.iter().map(|lie| json!({ "kind": lie.kind, "subject": lie.subject })).collect();
    let mut counts =
        json!({ "requests": requests, "connections": connections, "revocation_lists": revocation_lists });
    if !lies.is_empty() {
        counts["lies"] = json!(lies);
        counts["unlisted_lies"] = json!(unlisted_lies);
    }
    told(&counts)
}

/// How hammer loads it, as a shell takes it: with the files of its token and of whom timestamps lead to.
fn lines(url: &str, trust: &str, files: Option<&(PathBuf, PathBuf)>) -> String {
    let Some((token, roots)) = files else { return WITHOUT_FILES.to_owned() };
    let token = format!("--token-file {}", quoted(&token.to_string_lossy()));
    let roots = format!("--timestamp-roots {}", quoted(&roots.to_string_lossy()));
    format!(
        "hammer signs here by\n\n    \
         hammer pki auth {url}{trust} {token} --rate 50/s --for 10s\n    \
         hammer pki cades {url}{trust} {token} --rate 20/s --for 10s\n    \
         hammer pki pades {url}{trust} {token} --timestamp {roots} --users 10 --for 10s\n    \
         hammer pki validate {url}{trust} {token} --altered 10% --users 10 --for 10s\n    \
         hammer pki timestamp {url}{trust} {token} {roots} --rate 50/s --for 10s\n    \
         hammer pki timestamp {url}/tsa{trust} --by http {token} {roots} --rate 50/s --for 10s\n\n"
    )
}

const WITHOUT_FILES: &str = "give --out DIR for the files of its token and of the root of its timestamps, and for commands that use them\n";
