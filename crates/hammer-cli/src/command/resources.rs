//! `hammer resources`: what processes, control groups and this machine use, for a run on another machine. What its plan needs is printed
//! as JSON.

use std::net::SocketAddr;
use std::sync::Mutex;

use hammer_lab::serve::ServePlan;
use hammer_net::guard;
use hammer_report::ExitCode;
use hammer_values::Word;
use serde_json::{Value, json};

use super::foreground::until_signal;
use crate::args::ResourcesArgs;
use crate::error::{CliError, UsageError};
use crate::page_server::{PageConfig, PageServer};
use crate::plan::resources::MACHINE;
use crate::resources::cgroup::CgroupSelector;
use crate::resources::exporter::{ComponentSelector, Exporter};
use crate::resources::processes::ProcessSelector;

/// Serves until a signal.
pub(crate) fn serve(args: &ResourcesArgs) -> Result<ExitCode, CliError> {
    let ResourcesArgs { listen, authorized, .. } = args;
    if guard::check("", *listen, authorized.as_deref()).is_err() {
        return Err(UsageError::PublicListener(*listen).into());
    }
    let components = components(args)?;
    let names: Vec<String> = components.iter().map(|(name, _)| name.clone()).collect();
    let mut exporter = Exporter::new(components);
    for (name, pid) in args.processes.iter().filter_map(|text| text.split_once('=')) {
        if !pid.parse().is_ok_and(|pid| exporter.has_process(pid)) {
            return Err(refused(PROCESS, &format!("{name}={pid}"), "there is no such process"));
        }
    }
    let host = exporter.host();
    let serve = ServePlan { listen: *listen, ..ServePlan::default() };
    let server = PageServer::spawn(PageConfig::new(serve, Mutex::new(exporter)))?;
    until_signal(&block(&reached(&server.url, *listen, &host), &names, &host))?;
    drop(server);
    Ok(ExitCode::Clean)
}

/// What is served, by unique names.
fn components(args: &ResourcesArgs) -> Result<Vec<(String, ComponentSelector)>, CliError> {
    let mut all: Vec<(String, ComponentSelector)> = Vec::new();
    let flags = [(PROCESS, &args.processes), ("--command", &args.command), ("--cgroup", &args.cgroup)];
    let given = flags.into_iter().flat_map(|(flag, texts)| texts.iter().map(move |text| (flag, text)));
    for (flag, text) in given {
        let (name, what) = text.split_once('=').ok_or_else(|| refused(flag, text, "it has no `=`"))?;
        let name = name.parse::<Word>().map_err(|error| refused(flag, text, &error.to_string()))?;
        if name.as_str() == MACHINE || all.iter().any(|(taken, _)| taken == name.as_str()) {
            return Err(refused(flag, text, &format!("`{name}` is taken")));
        }
        let selector = match flag {
            _ if what.trim().is_empty() => return Err(refused(flag, text, "nothing is behind the `=`")),
            PROCESS => {
                let pid =
                    what.parse().map_err(|_| refused(flag, text, "expected the number of a process"))?;
                ComponentSelector::Processes(ProcessSelector::Pid(pid))
            }
            "--command" => ComponentSelector::Processes(ProcessSelector::Command(what.to_owned())),
            _ if what.contains('/') => ComponentSelector::Cgroup(CgroupSelector::Folder(what.into())),
            _ => ComponentSelector::Cgroup(CgroupSelector::Unit(what.to_owned())),
        };
        all.push((name.to_string(), selector));
    }
    Ok(all)
}

fn refused(flag: &'static str, text: &str, reason: &str) -> CliError {
    UsageError::Component { flag, text: text.to_owned(), reason: reason.to_owned() }.into()
}

/// The page as another machine reaches it: whoever listens on all addresses is known by its name.
fn reached(url: &str, listen: SocketAddr, host: &str) -> String {
    match listen.ip().is_unspecified() && !host.is_empty() {
        true => {
            let (_, behind) = url.rsplit_once(':').unwrap_or_default();
            format!("http://{host}:{behind}")
        }
        false => url.to_owned(),
    }
}

/// What stands under `resources` of a plan.
fn block(url: &str, names: &[String], host: &str) -> Value {
    let page = |name: &String| json!({ "name": name, "url": url, "labels": { "name": name } });
    // The machine is called as its components are not.
    let own = host.split('.').next().filter(|host| host.parse::<Word>().is_ok()).unwrap_or("server");
    let is_free = |name: &str| name != MACHINE && names.iter().all(|taken| taken != name);
    let own = if is_free(own) { own.to_owned() } else { format!("{own}-machine") };
    json!({
        "metrics": names.iter().map(page).collect::<Vec<Value>>(),
        "machines": [{ "name": own, "url": url }],
    })
}

const PROCESS: &str = "NAME=PID";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_names_the_machine_as_no_component_is_called() {
        let names = ["rekor".to_owned()];
        let of = |host: &str| block("http://10.0.0.7:9/metrics", &names, host);
        assert_eq!(
            of("db1.internal"),
            json!({
                "metrics": [{ "name": "rekor", "url": "http://10.0.0.7:9/metrics", "labels": { "name": "rekor" } }],
                "machines": [{ "name": "db1", "url": "http://10.0.0.7:9/metrics" }],
            })
        );
        assert_eq!(of("rekor")["machines"][0]["name"], "rekor-machine");
        assert_eq!(of("")["machines"][0]["name"], "server");
        assert_eq!(of("machine")["machines"][0]["name"], "machine-machine");
    }

    #[test]
    fn a_listener_on_all_addresses_is_reached_by_the_name_of_its_machine() {
        let page = |listen: &str, url: &str| reached(url, listen.parse().unwrap(), "db1");
        assert_eq!(page("0.0.0.0:0", "http://0.0.0.0:9123/metrics"), "http://db1:9123/metrics");
        assert_eq!(page("[::]:0", "http://[::]:9123/metrics"), "http://db1:9123/metrics");
        assert_eq!(page("10.0.0.7:0", "http://10.0.0.7:9123/metrics"), "http://10.0.0.7:9123/metrics");
    }
}
