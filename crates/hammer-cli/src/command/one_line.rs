//! A plan from one line: one or more workloads within the bounds that the line gives.

use std::io;
use std::path::{Path, PathBuf};

use hammer_report::ExitCode;
use serde_json::{Value, json};

use crate::args::{BoundsArgs, LineArgs, LineEndArgs, LoadArgs, ReachArgs};
use crate::assemble::check;
use crate::error::CliError;
use crate::output::standard::print;
use crate::plan::Plan;
use crate::plan::error::PlanError;
use crate::plan::printed::printed;
use crate::plan::read::{SourcedPlan, of_flags};
use crate::protocol::registry::Registry;

use super::run;

/// The plan that a line stands for, as the line has it and as it is read.
pub(super) struct LinePlan {
    written: Value,
    sourced: SourcedPlan<Plan>,
}

impl LinePlan {
    /// Reads it with what every line may say; `flags` are the keys that the arguments of this one stand for.
    pub(super) fn read(
        mut written: Value,
        flags: &[(&str, &str)],
        line: &LineArgs,
        registry: &Registry,
    ) -> Result<Self, PlanError> {
        if let Some(warm_up) = &line.warm_up {
            written["phases"]["warm_up"] = json!(warm_up);
        }
        if !line.thresholds.is_empty() {
            written["thresholds"] = json!(line.thresholds);
        }
        Self::of_end(written, flags, &line.end, registry)
    }

    /// The same of a line that measures nothing.
    pub(super) fn of_end(
        mut written: Value,
        flags: &[(&str, &str)],
        end: &LineEndArgs,
        registry: &Registry,
    ) -> Result<Self, PlanError> {
        if end.print_plan {
            end.add_to(&mut written);
        }
        let sourced = of_flags(written.clone(), &[flags, &LINE].concat(), registry.grammar())?;
        Ok(Self { written, sourced })
    }

    /// As it is read.
    pub(super) fn plan(&self) -> &Plan {
        &self.sourced.plan
    }

    /// Carries it out, or prints it where the line asks for that.
    pub(super) fn carry_out(&self, end: &LineEndArgs, registry: &Registry) -> Result<ExitCode, CliError> {
        self.carry_out_with(None, end, registry)
    }

    /// The same of a plan that fills a corpus which is gone with the command.
    pub(super) fn carry_out_with(
        &self,
        passing: Option<&Path>,
        end: &LineEndArgs,
        registry: &Registry,
    ) -> Result<ExitCode, CliError> {
        if !end.print_plan {
            return run::of_plan_with(&self.sourced, passing, &end.output, registry);
        }
        let SourcedPlan { plan, source } = &self.sourced;
        check(registry, plan).map_err(|error| error.placed(source))?;
        let text = printed(&self.written, registry.grammar())?;
        print(io::stdout(), |out| out.write_all(text.as_bytes()))?;
        Ok(ExitCode::Clean)
    }
}

impl LineEndArgs {
    /// Adds what of a command line stands in plans as well.
    fn add_to(&self, written: &mut Value) {
        let output = &self.output;
        written["output"] =
            json!({ "report": output.out, "events": output.events, "samples": output.samples });
        if output.tolerate_lag {
            written["health"] = json!({ "on_fail": "warn" });
        }
    }
}

/// A workload of that name, whose operations stand under `section`.
pub(super) fn workload(
    name: &str,
    (section, operations): (&str, Value),
    load: &Value,
    bounds: &BoundsArgs,
) -> Value {
    json!({
        "name": name,
        section: operations,
        "load": load,
        "in_flight": bounds.in_flight,
        "timeout": bounds.timeout,
    })
}

/// The plan of workloads on a target.
pub(super) fn plan(target: &Value, workloads: &[Value], bounds: &BoundsArgs) -> Value {
    json!({
        "seed": bounds.seed.unwrap_or_default(),
        "target": target,
        "workloads": workloads,
        "phases": { "measurement": bounds.duration },
    })
}

impl LoadArgs {
    /// As a plan would have it.
    pub(super) fn plan(&self) -> Value {
        let rate = self.rate.as_deref().or(self.users.is_none().then_some(RATE));
        load(rate, self.users)
    }
}

/// A bare number is a second's, as other tools have it.
pub(super) fn rate(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    if is_number { format!("{text}/s") } else { text.to_owned() }
}

/// A load of a rate or of users.
pub(super) fn load(rate: Option<&str>, users: Option<usize>) -> Value {
    json!({ "rate": rate.map(self::rate), "users": users })
}

/// A user with a password in a file or an environment variable, as a plan has both.
pub(super) fn basic(user: &str, (file, env): (Option<&PathBuf>, Option<&String>)) -> Value {
    json!({ "user": user, "password": { "file": file, "env": env } })
}

impl ReachArgs {
    /// The target whose services stand under `section`.
    pub(super) fn target(&self, section: &str, services: &Value) -> Value {
        json!({
            section: services,
            "authorized": self.authorized,
            "tls": { "roots": self.cacert.iter().collect::<Vec<&PathBuf>>() },
        })
    }
}

/// Which key each argument stands for that lines of one workload have in common.
pub(super) const ONE_LOAD: [(&str, &str); 2] =
    [("--rate", "workloads[0].load.rate"), ("--users", "workloads[0].load.users")];

/// The same of bounds, and of how services are reached.
pub(super) const BOUNDS: [(&str, &str); 7] = [
    ("--cacert", "target.tls.roots"),
    ("--authorized", "target.authorized"),
    ("-z", "phases.measurement"),
    ("-c", "workloads[0].in_flight"),
    ("-c", "workloads[1].in_flight"),
    ("-t", "workloads[0].timeout"),
    ("-t", "workloads[1].timeout"),
];

/// The same of what every line may say.
const LINE: [(&str, &str); 2] = [("--threshold", "thresholds"), ("--warm-up", "phases.warm_up")];

/// What is sent where neither a rate nor users are given.
const RATE: &str = "20/s";
