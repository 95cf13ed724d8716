//! `hammer pki`: signature services, loaded from one line.

use std::io;
use std::path::PathBuf;

use hammer_pki::MadeAuthority;
use hammer_report::ExitCode;
use hammer_values::ByteSize;
use serde_json::{Value, json};

use crate::args::{
    CadesArgs, DocumentsArgs, LineArgs, LoadArgs, PkiAuthArgs, PkiCommand, PkiRootsArgs, PkiServiceArgs,
    PkiSignArgs, PkiTimestampArgs, PkiValidateArgs, PlanArgs, SignersArgs,
};
use crate::command::one_line::{BOUNDS, LinePlan, ONE_LOAD, plan, workload};
use crate::error::{CliError, TargetError, UsageError};
use crate::output::standard::{print, say_notes};
use crate::plan::read::{self, SourcedPlan};
use crate::plan::target::ConnectionPlan;
use crate::protocol::pki;
use crate::protocol::pki::sections::{AUTHENTICATE, SIGN, TARGET, TIMESTAMP, VALIDATE};
use crate::protocol::registry::Registry;

/// Carries it out.
pub(crate) fn command(command: &PkiCommand, registry: &Registry) -> Result<ExitCode, CliError> {
    match command {
        PkiCommand::Auth(args) => auth(args, registry),
        PkiCommand::Cades(args) => cades(args, registry),
        PkiCommand::Pades(args) => pades(args, registry),
        PkiCommand::Roots(args) => roots(args, registry),
        PkiCommand::Timestamp(args) => timestamp(args, registry),
        PkiCommand::Validate(args) => validate(args, registry),
    }
}

fn auth(args: &PkiAuthArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let service = args.service.plan(Some(&args.signers), &[])?;
    let operations = ("auth", AUTHENTICATE, json!({ "by": args.by }));
    // What DSS has none of is the whole section.
    let own = [("--by", "workloads[0].pki_authenticate.by"), ("--dialect", "workloads[0].pki_authenticate")];
    loaded(&args.service, &service, operations, &own, (&args.load, &args.line), registry)
}

fn cades(args: &CadesArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let CadesArgs { sign: args, by_digest } = args;
    let mut signs = args.documents.plan(if args.documents.timestamp { "cades-t" } else { "cades" });
    signs["by_digest"] = json!(by_digest);
    sign(args, signs, registry)
}

fn pades(args: &PkiSignArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let signs = args.documents.plan(if args.documents.timestamp { "pades-t" } else { "pades" });
    sign(args, signs, registry)
}

fn sign(args: &PkiSignArgs, signs: Value, registry: &Registry) -> Result<ExitCode, CliError> {
    let service = args.service.plan(Some(&args.signers), &args.documents.timestamp_roots)?;
    let operations = ("sign", SIGN, signs);
    loaded(&args.service, &service, operations, &DOCUMENTS, (&args.load, &args.line), registry)
}

fn validate(args: &PkiValidateArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let service = args.service.plan(Some(&args.signers), &[])?;
    let files = &args.files;
    let validates = given(json!({
        "valid": files.valid,
        "invalid": files.invalid,
        "indeterminate": files.indeterminate,
        "altered": files.altered,
        "size": files.size,
        "security_context": files.security_context,
    }));
    let operations = ("validate", VALIDATE, validates);
    loaded(&args.service, &service, operations, &VALIDATED, (&args.load, &args.line), registry)
}

fn timestamp(args: &PkiTimestampArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let service = args.service.plan(None, &args.timestamp_roots)?;
    let asked = given(json!({ "by": args.by, "path": args.path, "plan": args.plan }));
    let operations = ("timestamp", TIMESTAMP, asked);
    let own = [
        ("--by", "workloads[0].pki_timestamp.by"),
        ("--path", "workloads[0].pki_timestamp.path"),
        ("--plan", "workloads[0].pki_timestamp.plan"),
    ];
    loaded(&args.service, &service, operations, &own, (&args.load, &args.line), registry)
}

fn roots(args: &PkiRootsArgs, registry: &Registry) -> Result<ExitCode, CliError> {
    let PkiRootsArgs { plan, authorities, changes } = args;
    let authorities = match (plan, authorities) {
        (Some(plan), _) => {
            let args = PlanArgs { plan: plan.clone(), changes: changes.clone() };
            let SourcedPlan { plan, source } = read::plan(&args, registry.grammar())?;
            say_notes(&source)?;
            pki::roots::authorities(&plan).map_err(|error| error.placed(&source))?
        }
        (None, number) => {
            let number = usize::try_from(number.unwrap_or_default()).unwrap_or(usize::MAX);
            let made = MadeAuthority::all(changes.seed.unwrap_or_default(), number);
            made.map_err(TargetError::failed)?
        }
    };
    if authorities.is_empty() {
        return Err(UsageError::NoAuthorities.into());
    }
    print(io::stdout(), |out| {
        authorities.iter().try_for_each(|authority| out.write_all(authority.pem().as_bytes()))
    })?;
    Ok(ExitCode::Clean)
}

fn loaded(
    reached: &PkiServiceArgs,
    service: &Value,
    (name, section, operations): (&str, &str, Value),
    own: &[(&str, &str)],
    (load, line): (&LoadArgs, &LineArgs),
    registry: &Registry,
) -> Result<ExitCode, CliError> {
    let mut target = reached.reach.target(TARGET, service);
    if let Some(limit) = response_limit(&operations) {
        target["connection"] = json!({ "response_limit": limit });
    }
    let workload = workload(name, (section, operations), &load.plan(), &load.bounds);
    let plan = plan(&target, &[workload], &load.bounds);
    // The first flag of a key is the one that is named.
    let flags = [own, &[reached.token_flag()], &SERVICE, &ONE_LOAD, &BOUNDS].concat();
    LinePlan::read(plan, &flags, line, registry)?.carry_out(&line.end, registry)
}

/// As much as the largest of these documents takes in base64 with what stands beside it, where that is more than any answer may have by itself.
fn response_limit(operations: &Value) -> Option<String> {
    let largest = operations.get("most_size").or(operations.get("size"))?.as_str()?;
    let bytes = largest.parse::<ByteSize>().ok()?.bytes();
    let mib = bytes.saturating_mul(4).div_ceil(3).div_ceil(1 << 20).saturating_add(1);
    (mib > ConnectionPlan::default().response_limit.bytes() >> 20).then(|| format!("{mib}MiB"))
}

impl PkiServiceArgs {
    /// The service as a plan would have it.
    fn plan(&self, signers: Option<&SignersArgs>, roots: &[PathBuf]) -> Result<Value, UsageError> {
        let has_token = self.token_file.is_some() || self.token_env.is_some();
        let token = has_token.then(|| json!({ "file": self.token_file, "env": self.token_env }));
        let mut plan = given(json!({
            "url": self.urls,
            "dialect": self.dialect,
            "token": token,
            "timestamp_roots_pem_files": roots,
            "made_signers": signers.and_then(|signers| signers.made_signers),
        }));
        if let Some(signers) = signers {
            plan["signers"] = signers.plan()?;
            plan["made_authorities"] = signers.authorities();
        }
        Ok(plan)
    }

    /// The one that says where the token is.
    const fn token_flag(&self) -> (&'static str, &'static str) {
        let flag = if self.token_env.is_some() { "--token-env" } else { "--token-file" };
        (flag, "target.pki.token")
    }
}

impl SignersArgs {
    fn plan(&self) -> Result<Value, UsageError> {
        if self.signer_key.len() != self.signer_certificates.len() {
            return Err(UsageError::Lacking { flag: "--signer-key", lacks: NOT_AS_MANY });
        }
        let both = self.signer_key.iter().zip(&self.signer_certificates);
        Ok(both
            .map(|(key, certificate)| json!({ "key_file": key, "certificate_file": certificate }))
            .collect())
    }
}

impl SignersArgs {
    /// Who issues the certificates of those that are made.
    fn authorities(&self) -> Value {
        let crl = given(json!({
            "size": self.crl_size,
            "delay": self.crl_delay,
            "listen": self.crl_listen,
            "url": self.crl_url,
        }));
        self.authorities.map_or(Value::Null, |number| json!({ "number": number, "crl": crl }))
    }
}

impl DocumentsArgs {
    /// What is signed, as that kind of signature.
    fn plan(&self, kind: &str) -> Value {
        given(json!({
            "mix": { kind: 1 },
            "size": self.size,
            "most_size": self.most_size,
            "security_context": self.security_context,
        }))
    }
}

/// The same without what is not given, for which there is a default.
fn given(mut written: Value) -> Value {
    if let Some(keys) = written.as_object_mut() {
        keys.retain(|_, value| !value.is_null());
    }
    written
}

/// Which key each argument about the service stands for.
const SERVICE: [(&str, &str); 10] = [
    ("URL", "target.pki.url"),
    ("--dialect", "target.pki.dialect"),
    ("--timestamp-roots", "target.pki.timestamp_roots_pem_files"),
    ("--signer-key and --signer-certificate", "target.pki.signers"),
    ("--made-signers", "target.pki.made_signers"),
    ("--crl-size", "target.pki.made_authorities.crl.size"),
    ("--crl-delay", "target.pki.made_authorities.crl.delay"),
    ("--crl-listen", "target.pki.made_authorities.crl.listen"),
    ("--crl-url", "target.pki.made_authorities.crl.url"),
    ("--authorities", "target.pki.made_authorities"),
];
/// The same of documents.
const DOCUMENTS: [(&str, &str); 4] = [
    ("--size", "workloads[0].pki_sign.size"),
    ("--most-size", "workloads[0].pki_sign.most_size"),
    ("--by-digest", "workloads[0].pki_sign.by_digest"),
    ("--security-context", "workloads[0].pki_sign.security_context"),
];
/// The same of what is validated.
const VALIDATED: [(&str, &str); 6] = [
    ("--valid", "workloads[0].pki_validate.valid"),
    ("--invalid", "workloads[0].pki_validate.invalid"),
    ("--indeterminate", "workloads[0].pki_validate.indeterminate"),
    ("--altered", "workloads[0].pki_validate.altered"),
    ("--size", "workloads[0].pki_validate.size"),
    ("--security-context", "workloads[0].pki_validate.security_context"),
];
const NOT_AS_MANY: &str = "each signer has one --signer-key and one --signer-certificate";
