//! `hammer http get|post`: a plan from one line.

use hammer_http::split_url;
use hammer_report::ExitCode;
use hammer_values::TimeSpan;
use serde_json::{Map, Value, json};

use crate::args::{HttpArgs, HttpCommand};
use crate::error::{CliError, UsageError};
use crate::protocol::registry::Registry;

use super::one_line::LinePlan;

/// Carries it out.
pub(crate) fn load(command: &HttpCommand, registry: &Registry) -> Result<ExitCode, CliError> {
    let (method, args) = match command {
        HttpCommand::Get(args) => ("GET", args),
        HttpCommand::Post(args) => ("POST", args),
    };
    let plan = LinePlan::read(plan(method, args)?, &FLAGS, &args.line, registry)?;
    plan.carry_out(&args.line.end, registry)
}

fn plan(method: &str, args: &HttpArgs) -> Result<Value, UsageError> {
    let (endpoint, path) = split_url(&args.url).map_err(UsageError::from)?;
    Ok(json!({
        "target": target(&endpoint.to_string(), args),
        "workloads": [{
            "name": "http",
            "http": request(method, &path, args)?,
            "load": load_plan(args),
            "in_flight": args.connections,
            "timeout": args.timeout,
        }],
        "phases": { "measurement": args.duration },
        "threads": { "shards": args.shards },
    }))
}

fn load_plan(args: &HttpArgs) -> Value {
    json!({
        "rate": args.rate.as_deref().map(rate),
        "arrivals": if args.poisson { "poisson" } else { "even" },
        "users": args.rate.is_none().then_some(args.connections),
        "operations": args.requests.or(args.duration.is_none().then_some(REQUESTS)),
    })
}

/// A bare number is a second's, as other tools have it.
pub(super) fn rate(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    if is_number { format!("{text}/s") } else { text.to_owned() }
}

fn request(method: &str, path: &str, args: &HttpArgs) -> Result<Value, UsageError> {
    let data = args.data.as_deref();
    let body_file = data.and_then(|text| text.strip_prefix('@'));
    let has_bearer = args.bearer_file.is_some() || args.bearer_env.is_some();
    // Of a URL without a path; any other contradicts the method's.
    let path = if args.grpc.is_some() && path == "/" { "" } else { path };
    Ok(json!({
        "method": if args.grpc.is_some() { "POST" } else { method },
        "path": path,
        "grpc": args.grpc,
        "headers": headers(&args.headers)?,
        "body": data.filter(|_| body_file.is_none()),
        "body_file": body_file,
        "expect": args.expect,
        "bearer": has_bearer.then(|| json!({ "file": args.bearer_file, "env": args.bearer_env })),
    }))
}

/// All values of a name are sent, in their order.
fn headers(texts: &[String]) -> Result<Map<String, Value>, UsageError> {
    let mut headers = Map::new();
    for (place, text) in (1..).zip(texts) {
        let (name, value) = text.split_once(':').ok_or(UsageError::Header(place))?;
        let value = Value::from(value.trim());
        match headers.get_mut(name.trim()) {
            None => drop(headers.insert(name.trim().to_owned(), value)),
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = json!([first.take(), value]),
        }
    }
    Ok(headers)
}

fn target(url: &str, args: &HttpArgs) -> Value {
    let version = match (args.http2 || args.grpc.is_some(), url.starts_with("https:")) {
        (true, true) => "2",
        (true, false) => "2-prior-knowledge",
        (false, _) => "negotiated",
    };
    json!({
        "url": url,
        "authorized": args.authorized,
        "connection": {
            "http": version,
            "connections": args.connections,
            "keepalive": !args.disable_keepalive,
            "redirects": args.redirects,
        },
        "tls": { "roots": args.cacert.iter().collect::<Vec<_>>(), "insecure": args.insecure },
    })
}

pub(super) fn time(flag: &'static str, text: &str) -> Result<TimeSpan, UsageError> {
    text.parse().map_err(|source| UsageError::Value { flag, source })
}

/// Which key each argument stands for.
const FLAGS: [(&str, &str); 21] = [
    ("URL", "target.url"),
    ("URL", "workloads[0].http.path"),
    ("-c", "workloads[0].in_flight"),
    ("-c", "workloads[0].load.users"),
    ("-c", "target.connection.connections"),
    ("-n", "workloads[0].load.operations"),
    ("-z", "phases.measurement"),
    ("--rate", "workloads[0].load.rate"),
    ("--poisson", "workloads[0].load.arrivals"),
    ("-H", "workloads[0].http.headers"),
    ("-d", "workloads[0].http.body"),
    ("-d", "workloads[0].http.body_file"),
    ("--grpc", "workloads[0].http.grpc"),
    ("-t", "workloads[0].timeout"),
    ("--expect", "workloads[0].http.expect"),
    ("--bearer-file", "workloads[0].http.bearer.file"),
    ("--bearer-env", "workloads[0].http.bearer.env"),
    ("--redirects", "target.connection.redirects"),
    ("--cacert", "target.tls.roots"),
    ("--authorized", "target.authorized"),
    ("--shards", "threads.shards"),
];
/// As hey and oha.
const REQUESTS: u64 = 200;
