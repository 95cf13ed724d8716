//! `hammer http`: a plan from one line.

use hammer_report::ExitCode;
use hammer_values::TimeSpan;
use serde_json::{Map, Value, json};

use crate::args::{HttpArgs, HttpCommand};
use crate::error::{CliError, UsageError};
use crate::protocol::registry::Registry;

use super::one_line::{self, LinePlan, rate};
use request_place::{PATHS, RequestPlace, placeholder};

mod request_place;

/// Carries it out.
pub(crate) fn load(command: &HttpCommand, registry: &Registry) -> Result<ExitCode, CliError> {
    let (method, args) = command.parts();
    let plan = LinePlan::read(plan(method, args)?, &FLAGS, &args.line, registry)?;
    plan.carry_out(&args.line.end, registry)
}

fn plan(method: &str, args: &HttpArgs) -> Result<Value, UsageError> {
    if operations(args).is_some() && has_warm_up(args) {
        return Err(UsageError::CountedWarmUp);
    }
    let place = RequestPlace::of(args.url.as_deref(), args.urls.as_deref())?;
    Ok(json!({
        "target": target(&place.endpoint.to_string(), args),
        "workloads": [{
            "name": "http",
            "http": request(method, &place, args)?,
            "load": load_plan(args),
            "in_flight": connections(args),
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
        "users": args.rate.is_none().then(|| connections(args)),
        "operations": operations(args),
    })
}

/// How many are sent in all, where a number ends it.
fn operations(args: &HttpArgs) -> Option<u64> {
    args.requests.or(args.duration.is_none().then_some(REQUESTS))
}

/// As many as there are operations for at most: a user beyond them would dial and send nothing.
fn connections(args: &HttpArgs) -> usize {
    let most = operations(args).map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX));
    args.connections.min(most)
}

/// Whether load goes ahead of measurement, as far as the time can be read.
fn has_warm_up(args: &HttpArgs) -> bool {
    let warm_up = args.line.warm_up.as_deref().and_then(|text| text.parse::<TimeSpan>().ok());
    warm_up.is_some_and(|warm_up| warm_up != TimeSpan::ZERO)
}

fn request(method: &str, place: &RequestPlace, args: &HttpArgs) -> Result<Value, UsageError> {
    let data = args.data.as_deref();
    let body_file = data.and_then(|text| text.strip_prefix('@'));
    let has_bearer = args.bearer_file.is_some() || args.bearer_env.is_some();
    // Of a URL without a path; any other contradicts the method's.
    let path = if args.grpc.is_some() && place.path == "/" { "" } else { &place.path };
    let mut values = Map::new();
    values.extend(place.values.clone().map(|paths| (PATHS.to_owned(), paths)));
    values.extend(args.bodies.as_ref().map(|lines| (BODIES.to_owned(), json!({ "lines": lines }))));
    let body = data.filter(|_| body_file.is_none()).map(str::to_owned);
    let body = body.or_else(|| args.bodies.as_ref().map(|_| placeholder(BODIES)));
    let basic = args.basic_user.as_deref();
    let password = (args.basic_password_file.as_ref(), args.basic_password_env.as_ref());
    Ok(json!({
        "method": if args.grpc.is_some() { "POST" } else { method },
        "path": path,
        "grpc": args.grpc,
        "headers": headers(&args.headers)?,
        "body": body,
        "body_file": body_file,
        "expect": args.expect,
        "values": values,
        "bearer": has_bearer.then(|| json!({ "file": args.bearer_file, "env": args.bearer_env })),
        "basic": basic.map(|user| one_line::basic(user, password)),
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
            "connections": connections(args),
            "keepalive": !args.disable_keepalive,
            "redirects": args.redirects,
            "connect_to": args.connect_to,
            "unix_socket": args.unix_socket,
        },
        "tls": {
            "roots": args.cacert.iter().collect::<Vec<_>>(),
            "certificate": args.cert,
            "key": args.key,
            "insecure": args.insecure,
        },
    })
}

pub(super) fn time(flag: &'static str, text: &str) -> Result<TimeSpan, UsageError> {
    text.parse().map_err(|source| UsageError::Value { flag, source })
}

/// Which key each argument stands for.
const FLAGS: [(&str, &str); 30] = [
    ("--connect-to", "target.connection.connect_to"),
    ("--unix-socket", "target.connection.unix_socket"),
    ("URL", "target.url"),
    ("--urls", "workloads[0].http.values.path"),
    ("--bodies", "workloads[0].http.values.body"),
    ("--basic-user", "workloads[0].http.basic.user"),
    ("--basic-password-file", "workloads[0].http.basic.password.file"),
    ("--basic-password-env", "workloads[0].http.basic.password.env"),
    ("--cert", "target.tls.certificate"),
    ("--key", "target.tls.key"),
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
/// The name of the values that are bodies.
const BODIES: &str = "body";
/// As hey and oha.
const REQUESTS: u64 = 200;
