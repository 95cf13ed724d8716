//! `hammer http get|post`: a plan from one line.

use std::collections::BTreeMap;

use hammer_exchange::token::TokenPlan;
use hammer_http::{HttpPlan, split_url};
use hammer_report::ExitCode;
use hammer_values::{OneOrMany, Rate, TimeSpan};

use crate::args::{HttpArgs, HttpCommand};
use crate::error::{CliError, UsageError};
use crate::plan::load::{LoadPlan, Spacing};
use crate::plan::read::SourcedPlan;
use crate::plan::section::Sections;
use crate::plan::source::PlanSource;
use crate::plan::target::{ConnectionPlan, TargetPlan, TlsPlan, VersionPlan};
use crate::plan::{HooksPlan, OutputPlan, PhasesPlan, Plan, ThreadsPlan, WorkloadPlan};
use crate::protocol::http::{REQUEST, URL};
use crate::protocol::registry::Registry;

use super::run;

/// Carries it out.
pub(crate) fn load(command: &HttpCommand, registry: &Registry) -> Result<ExitCode, CliError> {
    let (method, args) = match command {
        HttpCommand::Get(args) => ("GET", args),
        HttpCommand::Post(args) => ("POST", args),
    };
    let plan = SourcedPlan { plan: plan(method, args)?, source: PlanSource::arguments() };
    run::of_plan(&plan, &args.output, registry)
}

fn plan(method: &str, args: &HttpArgs) -> Result<Plan, UsageError> {
    let (endpoint, path) = split_url(&args.url)?;
    let measurement = args.duration.as_deref().map(|text| time("-z", text)).transpose()?;
    let workload = WorkloadPlan {
        name: "http".to_owned(),
        operations: Sections::one(REQUEST, request(method, path, args)?),
        load: load_plan(args, measurement.is_some())?,
        in_flight: args.connections,
        backlog: BACKLOG,
        timeout: time("-t", &args.timeout)?,
        thresholds: Vec::new(),
    };
    Ok(Plan {
        name: None,
        seed: 0,
        target: target(endpoint.to_string(), args),
        workloads: vec![workload],
        phases: PhasesPlan { measurement, ..PhasesPlan::default() },
        stop: None,
        thresholds: Vec::new(),
        threads: ThreadsPlan { shards: args.shards, ..ThreadsPlan::default() },
        interval: TimeSpan::from_secs(1),
        rounds: 1,
        sweep: BTreeMap::new(),
        hooks: HooksPlan::default(),
        output: OutputPlan::default(),
    })
}

fn load_plan(args: &HttpArgs, timed: bool) -> Result<LoadPlan, UsageError> {
    let operations = args.requests.or((!timed).then_some(REQUESTS));
    let rate = args.rate.as_deref().map(rate).transpose()?;
    Ok(LoadPlan {
        rate,
        arrivals: if args.poisson { Spacing::Poisson } else { Spacing::Even },
        users: rate.is_none().then_some(args.connections),
        operations,
        ..LoadPlan::default()
    })
}

/// A bare number is a second's, as other tools have it.
pub(super) fn rate(text: &str) -> Result<Rate, UsageError> {
    let is_number = text.parse::<f64>().is_ok();
    let parsed = if is_number { format!("{text}/s").parse() } else { text.parse() };
    parsed.map_err(|source| UsageError::Value { flag: "--rate", source })
}

fn request(method: &str, path: String, args: &HttpArgs) -> Result<HttpPlan, UsageError> {
    let (body, body_file) = match args.data.as_deref() {
        Some(text) => match text.strip_prefix('@') {
            Some(file) => (None, Some(file.into())),
            None => (Some(text.to_owned()), None),
        },
        None => (None, None),
    };
    let bearer = TokenPlan { file: args.bearer_file.clone(), env: args.bearer_env.clone() };
    Ok(HttpPlan {
        service: None,
        method: method.to_owned(),
        path,
        headers: headers(&args.headers)?,
        body,
        body_file,
        expect: args.expect.clone(),
        contains: None,
        bearer: (bearer != TokenPlan::default()).then_some(bearer),
    })
}

/// All values of a name are sent, in their order.
fn headers(texts: &[String]) -> Result<BTreeMap<String, OneOrMany>, UsageError> {
    let mut headers = BTreeMap::<String, OneOrMany>::new();
    for (place, text) in (1..).zip(texts) {
        let (name, value) = text.split_once(':').ok_or(UsageError::Header(place))?;
        let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
        headers
            .entry(name)
            .and_modify(|values| values.push(value.clone()))
            .or_insert_with(|| OneOrMany::One(value));
    }
    Ok(headers)
}

fn target(url: String, args: &HttpArgs) -> TargetPlan {
    let over_tls = url.starts_with("https:");
    TargetPlan {
        unnamed: Sections::one(URL, OneOrMany::One(url)),
        authorized: args.authorized.clone(),
        connection: ConnectionPlan {
            http: match (args.http2, over_tls) {
                (true, true) => VersionPlan::Http2,
                (true, false) => VersionPlan::Http2PriorKnowledge,
                (false, _) => VersionPlan::Negotiated,
            },
            connections: Some(args.connections),
            keepalive: !args.disable_keepalive,
            redirects: args.redirects,
            ..ConnectionPlan::default()
        },
        tls: TlsPlan {
            roots: args.cacert.iter().cloned().collect(),
            insecure: args.insecure,
            ..TlsPlan::default()
        },
        ..TargetPlan::default()
    }
}

pub(super) fn time(flag: &'static str, text: &str) -> Result<TimeSpan, UsageError> {
    text.parse().map_err(|source| UsageError::Value { flag, source })
}

/// As hey and oha.
const REQUESTS: u64 = 200;
const BACKLOG: usize = 10_000;
