//! `hammer attest provision`, `verify` and `well-known`: a plan from one line.

use std::io;

use hammer_core::clock::unix_millis;
use hammer_report::ExitCode;
use serde_json::{Value, json};

use crate::args::{AuthArgs, LineArgs, ProvisionArgs, VerifyDevicesArgs, WellKnownArgs};
use crate::command::one_line::{BOUNDS, LinePlan, ONE_LOAD, basic, plan, workload};
use crate::error::{CliError, UsageError};
use crate::output::standard::print;
use crate::plan::error::PlanError;
use crate::protocol::attest::sections::{PROVISION, TARGET, VERIFY, WELL_KNOWN};
use crate::protocol::registry::Registry;

pub(super) fn provision(args: &ProvisionArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let signer = args.signer_key.as_ref().zip(args.signer_certificate.as_ref());
    let provision = json!({
        "devices": { "first": args.first, "count": args.count, "models": args.models },
        "signer": signer.map(|(key, certificate)| json!({ "key": key, "certificate": certificate })),
    });
    let mut load = args.load.plan();
    load["operations"] = json!(args.operations);
    let workload = workload("provision", (PROVISION, provision), &load, &args.load.bounds);
    let services = json!({ "provisioning_url": args.urls, "auth": args.auth.plan() });
    let mut plan = plan(&args.reach.target(TARGET, &services), &[workload], &args.load.bounds);
    if args.operations.is_some() {
        plan["phases"] = json!({});
    }
    let own = [
        ("URL", "target.attest.provisioning_url"),
        ("-n", "workloads[0].load.operations"),
        ("--count", "workloads[0].attest_provision.devices.count"),
        ("--models", "workloads[0].attest_provision.devices.models"),
        ("--signer-certificate", "workloads[0].attest_provision.signer.certificate"),
        ("--signer-key", "workloads[0].attest_provision.signer"),
    ];
    let planned = read(plan, &[own.as_slice(), &args.auth.flags()].concat(), &args.line, registry)?;
    planned.carry_out(&args.line.end, registry)
}

pub(super) fn verify(args: &VerifyDevicesArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    args.check()?;
    let services = json!({
        "verification_url": args.urls,
        "provisioning_url": args.provisioning.iter().collect::<Vec<_>>(),
        "auth": args.auth.plan(),
    });
    let bounds = &args.load.bounds;
    let verifies = workload("verify", (VERIFY, args.flows()), &args.load.plan(), bounds);
    let mut plan = plan(&args.reach.target(TARGET, &services), &[verifies], bounds);
    // Those of another command may be there already, and would be refused, or be there twice.
    let seed = bounds.seed.unwrap_or_else(|| if args.count.is_some() { 0 } else { unix_millis() });
    plan["seed"] = json!(seed);
    let filled = args.filled();
    if let (Some(count), Some(workloads)) = (filled, plan["workloads"].as_array_mut()) {
        let provision = json!({ "devices": { "models": args.models } });
        workloads.push(json!({ "name": FILLED, PROVISION: provision, "timeout": bounds.timeout }));
        plan["fill"] = json!({ "workload": FILLED, "operations": count, "users": FILL_USERS });
    }
    let own = [
        ("URL", "target.attest.verification_url"),
        ("--provisioning", "target.attest.provisioning_url"),
        ("--devices", "fill.operations"),
        ("--count", "workloads[0].attest_verify.devices.count"),
        ("--models", "workloads[0].attest_verify.devices.models"),
        ("--models", "workloads[1].attest_provision.devices.models"),
        ("--bad", "workloads[0].attest_verify.bad.share"),
        ("--provisioning", "workloads[1].attest_provision"),
    ];
    let planned = read(plan, &[own.as_slice(), &args.auth.flags()].concat(), &args.line, registry)?;
    if let Some(count) = filled.filter(|_| !args.line.end.print_plan) {
        let said = format!("provisions {count} devices first, and verifies those (--seed {seed})\n");
        print(io::stderr(), |out| out.write_all(said.as_bytes()))?;
    }
    planned.carry_out(&args.line.end, registry)
}

pub(super) fn well_known(args: &WellKnownArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let document = &args.document;
    let key = format!("{document}_url");
    let services = json!({ &key: args.urls });
    let reads = json!({ "mix": { document: 1 } });
    let bounds = &args.load.bounds;
    let workload = workload("well-known", (WELL_KNOWN, reads), &args.load.plan(), bounds);
    let plan = plan(&args.reach.target(TARGET, &services), &[workload], bounds);
    let planned = read(plan, &[("URL", &format!("target.attest.{key}"))], &args.line, registry)?;
    planned.carry_out(&args.line.end, registry)
}

impl VerifyDevicesArgs {
    /// Finds a secret that nobody would be shown. The plan takes it: another workload might show it.
    fn check(&self) -> Result<(), UsageError> {
        let is_shown = self.provisioning.is_some() && self.count.is_none();
        match self.auth.plan() {
            Some(_) if !is_shown => Err(UsageError::Lacking { flag: self.auth.flag(), lacks: NOBODY_ASKS }),
            _ => Ok(()),
        }
    }

    /// How many devices are provisioned first, where some are.
    fn filled(&self) -> Option<u64> {
        let is_filled = self.count.is_none() && !self.provision_at_start;
        is_filled.then(|| self.devices.unwrap_or(FILLED_FIRST))
    }

    /// What its flows do.
    fn flows(&self) -> Value {
        json!({
            "devices": { "first": self.first, "count": self.count, "models": self.models },
            "provision_at_start": self.provision_at_start,
            "nonce": self.nonce,
            "profile": self.profile.name(),
            "bad": { "share": self.bad },
            "pinned": !self.unpinned,
            "read_result": self.read_result,
            "delete": !self.no_delete,
        })
    }
}

impl AuthArgs {
    /// As a plan would have it.
    fn plan(&self) -> Option<Value> {
        if let Some(user) = &self.basic_user {
            let password = (self.basic_password_file.as_ref(), self.basic_password_env.as_ref());
            return Some(json!({ "basic": basic(user, password) }));
        }
        let has_token = self.token_file.is_some() || self.token_env.is_some();
        has_token.then(|| json!({ "bearer": { "file": self.token_file, "env": self.token_env } }))
    }

    /// The one of them that says where the secret is.
    const fn flag(&self) -> &'static str {
        match self {
            Self { basic_password_file: Some(_), .. } => "--basic-password-file",
            Self { basic_password_env: Some(_), .. } => "--basic-password-env",
            Self { token_env: Some(_), .. } => "--token-env",
            _ => "--token-file",
        }
    }

    /// Which key each of them stands for.
    const fn flags(&self) -> [(&'static str, &'static str); 2] {
        [("--basic-user", "target.attest.auth.basic.user"), (self.flag(), "target.attest.auth")]
    }
}

fn read(
    plan: Value,
    own: &[(&str, &str)],
    line: &LineArgs,
    registry: &Registry,
) -> Result<LinePlan, PlanError> {
    // The first flag of a key is the one that is named.
    LinePlan::read(plan, &[own, &ONE_LOAD, &BOUNDS].concat(), line, registry)
}

const NOBODY_ASKS: &str = "verification asks nobody for it, and nothing is provisioned";
/// The workload that provisions what is verified.
const FILLED: &str = "provision";
/// How many devices `verify` provisions first where the line does not say it, and by how many users at once.
const FILLED_FIRST: u64 = 100;
const FILL_USERS: u64 = 10;
