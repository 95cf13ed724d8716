//! `hammer ctl`: steers a run of another process over the door of its live page.

use std::io;
use std::path::PathBuf;
use std::rc::Rc;

use bytes::Bytes;
use hammer_core::clock::MonotonicClock;
use hammer_core::runtime::Clock;
use hammer_measure::connection::ConnectionLog;
use hammer_measure::{Nanos, shown_lines};
use hammer_net::{Answer, Client, ClientConfig, Request, Resend, Secret};
use hammer_report::ExitCode;
use hammer_report::text::number::{per_second, plural};
use http::{StatusCode, Uri};
use serde_json::{Value, json};

use crate::args::{CtlArgs, CtlCommand};
use crate::before_run::ask;
use crate::error::{CliError, UsageError};
use crate::output::standard::print;
use crate::plan::target_url::TargetUrl;
use crate::scrape::PageSource;
use crate::web::AskedRate;
use crate::web::token_file::known_for;

/// Asks, and prints what is answered.
///
/// # Errors
/// When there is no answer, or the run does not do what it is asked.
pub(crate) fn steer(args: &CtlArgs) -> Result<ExitCode, CliError> {
    let url = TargetUrl::try_from(args.url.clone());
    let url = url.map_err(|source| UsageError::Value { flag: "URL", source })?;
    let refused = |why: String| UsageError::Unsteered { url: url.to_string(), why };
    if let CtlCommand::Rate { rate, .. } = &args.command {
        // What cannot be a rate of any run needs no run to say so.
        rate.parse::<AskedRate>().map_err(refused)?;
    }
    let asked = asked(&args.command);
    if !matches!(url.url().path(), "" | "/") {
        return Err(refused("a live page has no path: its address is enough".to_owned()).into());
    }
    let token = token(args, url.url()).map_err(refused)?;
    let has_token = token.is_some();
    let roots: Vec<PathBuf> = args.cacert.iter().cloned().collect();
    let source =
        PageSource { bearer: token, roots, ..PageSource::open(url.url().clone(), args.authorized.clone()) };
    let (status, body) = exchange(&source, asked.as_ref())?.map_err(refused)?;
    let foreign = || refused(format!("the answer is {}, and none of a live page", status.as_u16()));
    let said: Value = serde_json::from_slice(&body).map_err(|_| foreign())?;
    let is_of_page = match &args.command {
        CtlCommand::Status => said["schema"].as_str().is_some_and(|schema| schema.starts_with(STATUS_SCHEMA)),
        _ => said["id"].is_u64() && said["event"].is_object(),
    };
    if status.is_success() && !is_of_page {
        return Err(foreign().into());
    }
    if args.json {
        let text = String::from_utf8_lossy(&body);
        print(io::stdout(), |out| writeln!(out, "{}", shown_lines(text.trim_end())))?;
    }
    let is_answer = status.is_success() || said["id"].is_u64();
    if status == StatusCode::UNAUTHORIZED && !has_token {
        return Err(refused(NO_TOKEN.to_owned()).into());
    }
    if !is_answer {
        return Err(refused(told(&said, status)).into());
    }
    let text = match &args.command {
        CtlCommand::Status => status_text(&said),
        _ => command_text(&said),
    };
    if !status.is_success() {
        return Err(refused(text).into());
    }
    if !args.json {
        print(io::stdout(), |out| writeln!(out, "{}", shown_lines(&text)))?;
    }
    Ok(ExitCode::Clean)
}

/// The command as it is sent; none where the run is only asked how it stands.
fn asked(command: &CtlCommand) -> Option<Value> {
    Some(match command {
        CtlCommand::Status => return None,
        CtlCommand::Pause => json!({ "command": "pause" }),
        CtlCommand::Resume => json!({ "command": "resume" }),
        CtlCommand::Rate { workload, rate } => {
            json!({ "command": "rate", "workload": workload, "rate": rate })
        }
        CtlCommand::InFlight { workload, limit } => {
            json!({ "command": "in_flight", "workload": workload, "limit": limit })
        }
        CtlCommand::Stop { reason } => json!({ "command": "stop", "reason": reason }),
        CtlCommand::Mark { text } => json!({ "command": "mark", "text": text }),
    })
}

/// The token that goes along; none where none is found.
fn token(args: &CtlArgs, url: &Uri) -> Result<Option<Secret>, String> {
    let read = |path: &PathBuf| Secret::from_file(path).map_err(|error| format!("failed to {error}"));
    if let Some(path) = &args.web_token {
        return read(path).map(Some);
    }
    let host = url.host().unwrap_or_default();
    let host = if host.eq_ignore_ascii_case("localhost") { "127.0.0.1" } else { host };
    let port = url.port_u16().unwrap_or(if url.scheme_str() == Some("https") { 443 } else { 80 });
    match known_for(&format!("{host}:{port}")).filter(|path| path.exists()) {
        Some(path) => read(&path).map(Some),
        None => Ok(None),
    }
}

/// Sends it, and has the status and the body of the answer.
fn exchange(
    source: &PageSource,
    asked: Option<&Value>,
) -> Result<Result<(StatusCode, Bytes), String>, CliError> {
    let clock: Rc<dyn Clock> = Rc::new(MonotonicClock::starting_now());
    ask(async {
        let config = ClientConfig { resend: Resend::Never, ..source.client() };
        let failed = |error: &dyn std::fmt::Display| format!("failed to {error}");
        let client =
            Client::new(config, clock.clone(), ConnectionLog::default()).map_err(|error| failed(&error))?;
        let path = |path: &str| client.path(path).map_err(|error| failed(&error));
        let request = match asked {
            Some(asked) => Request::post(path("/commands")?, Bytes::from(asked.to_string())),
            None => Request::get(path("/status")?),
        };
        let mut answer = Answer::new();
        tokio::select! {
            sent = client.send(&request, &mut answer) => sent.map_err(|error| failed(&error))?,
            () = clock.sleep_until(clock.now().saturating_add(WITHIN)) => {
                return Err(format!("there was no answer within {WITHIN}"));
            }
        }
        Ok((answer.status, Bytes::copy_from_slice(&answer.body)))
    })
}

/// Why nothing was done.
fn told(said: &Value, status: StatusCode) -> String {
    match said["error"].as_str() {
        _ if status == StatusCode::NOT_FOUND => {
            "no run answers there (404): is it the address that --web has?".to_owned()
        }
        Some(why) => why.to_owned(),
        None => format!("the answer is {}", status.as_u16()),
    }
}

/// As a plan has it: `500/s`, `0.04/s`.
fn rate_text(rate: f64) -> String {
    if rate < 10.0 { format!("{}/s", (rate * 1e4).round() / 1e4) } else { per_second(rate) }
}

/// `command 3 at 12.4s: ...`.
fn command_text(said: &Value) -> String {
    let at = Nanos(said["event"]["at_ns"].as_u64().unwrap_or_default());
    format!("command {} at {at}: {}", said["id"], said["words"].as_str().unwrap_or_default())
}

/// How the run stands, in a few lines.
fn status_text(said: &Value) -> String {
    let text = |key: &str| said[key].as_str().unwrap_or_default().to_owned();
    let name = said["name"].as_str().map_or_else(String::new, |name| format!(", {name}"));
    let paused = if said["paused"] == true { ", paused" } else { "" };
    let phase = text("phase").replace('_', "-");
    let ended = said["exit_code"].as_u64().map_or_else(String::new, |code| format!(", exit {code}"));
    let mut lines = vec![format!("run {}{name}: {phase}{paused}{ended}", said["run"])];
    lines.extend(Some(text("line")).filter(|line| !line.is_empty()));
    for workload in said["workloads"].as_array().into_iter().flatten() {
        let limit = &workload["in_flight"];
        let load = match (workload["closed_loop"] == true, workload["rate_per_s"].as_f64()) {
            (true, _) => plural(limit.as_u64().unwrap_or_default(), "user"),
            (false, rate) => {
                let rate = rate.map_or_else(|| "a rate that changes".to_owned(), rate_text);
                let times = workload["factor"].as_f64().filter(|factor| (factor - 1.0).abs() > f64::EPSILON);
                let times = times.map(|factor| (factor * 1e4).round() / 1e4);
                let times = times.map_or_else(String::new, |factor| format!(" ({factor} times the plan's)"));
                format!("{rate}{times}, {limit} in flight at most")
            }
        };
        lines.push(format!("{}: {load}", workload["name"].as_str().unwrap_or_default()));
    }
    lines.join("\n")
}

const NO_TOKEN: &str =
    "it needs its token, and this machine keeps none for that address; --web-token names the file with it";
/// How the schema of a status starts, in front of its version.
const STATUS_SCHEMA: &str = "hammer.status/";
/// A run answers at once.
const WITHIN: Nanos = Nanos::from_secs(10);
