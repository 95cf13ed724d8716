//! Signature services in plans: signatures, logins and timestamps.

use std::borrow::Cow;
use std::sync::Arc;

use hammer_core::dispatch::LanePlan;
use hammer_core::observe::{Named, Observer};
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_exchange::ServiceConfig;
use hammer_lab_pki::PkiLabPlan;
use hammer_measure::headline::Headline;
use hammer_pki::plan::{
    AuthenticateBy, AuthenticatePlan, SignPlan, TimestampBy, TimestampPlan, ValidatePlan,
};
use hammer_pki::{
    AuthenticateWorkload, Dialect, DocumentLengths, Documents, GivenFiles, KeptFiles, PkiError, SignConfig,
    SignWorkload, SignatureJudge, SignatureKind, TimestampInterface, TimestampJudge, TimestampWorkload,
    ValidateConfig, ValidateWorkload, ValidatedFiles, WaitingFiles,
};
use hammer_report::Report;
use hammer_report::report::AccountedJob;
use hammer_values::ByteSize;
use http::Uri;

use super::lab::Lab;
use super::lane::LaneRequest;
use super::{Conclusion, OpenProtocol, Protocol, RunPlan};
use crate::error::CliError;
use crate::plan::Plan;
use crate::plan::compat::CompatPlan;
use crate::plan::document::LabSettings;
use crate::plan::error::{KeyedError, PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::section::Section;
use crate::tui::spec::ProtocolPage;

mod accounted;
mod check;
mod conclusions;
mod list_server;
mod opened;
mod page;
pub(crate) mod roots;
pub(crate) mod sections;

use list_server::WatchedLists;
use opened::{LISTS, SigningService, opened};
use sections::{SIGN, TARGET, TIMESTAMP, VALIDATE, all, authenticate, sign, timestamp, uses, validate};

/// The protocol.
pub(crate) struct Pki;

impl KeyedError for PkiError {
    fn key(&self) -> Option<Cow<'_, str>> {
        self.key().map(Cow::from)
    }
}

impl LabSettings for PkiLabPlan {
    const RENAMED: &[hammer_values::RenamedKey] = &[];
}

impl Protocol for Pki {
    fn sections(&self) -> Vec<Section> {
        all()
    }

    fn page(&self) -> Option<ProtocolPage> {
        Some(page::PAGE)
    }

    fn check(&self, planned: &RunPlan<'_>) -> Result<(), PlanError> {
        check::check(planned.plan)
    }

    fn accounted(&self, plan: &Plan, compat: CompatPlan) -> Vec<AccountedJob> {
        match compat {
            CompatPlan::RestPki => accounted::jobs(plan),
            CompatPlan::RhtasBenchmark => Vec::new(),
        }
    }

    fn conclusions(&self, plan: &Plan, report: &Report) -> Vec<Conclusion> {
        conclusions::all(plan, report)
    }

    fn open<'a>(&self, planned: &RunPlan<'a>) -> Result<Box<dyn OpenProtocol + 'a>, CliError> {
        let mut labs: Vec<Box<dyn Lab>> = Vec::new();
        let is_used = planned.plan.workloads.iter().any(uses);
        let target = is_used.then(|| opened(planned.plan, &mut labs)).transpose()?;
        Ok(Box::new(OpenPki { target, labs, kept_files: Vec::new() }))
    }
}

/// What a run has of it.
struct OpenPki {
    /// The service, where a workload goes to it.
    target: Option<SigningService>,
    labs: Vec<Box<dyn Lab>>,
    /// The large files of each workload that can have some, by its name.
    kept_files: Vec<(String, Arc<KeptFiles>)>,
}

impl OpenProtocol for OpenPki {
    fn endpoints(&self) -> Vec<Uri> {
        self.target.iter().flat_map(|target| target.endpoints.clone()).collect()
    }

    fn take_labs(&mut self) -> Vec<Box<dyn Lab>> {
        std::mem::take(&mut self.labs)
    }

    fn reopened<'b>(&self, _planned: &RunPlan<'b>) -> Result<Box<dyn OpenProtocol + 'b>, CliError> {
        Ok(Box::new(Self { target: self.target.clone(), labs: Vec::new(), kept_files: Vec::new() }))
    }

    fn headlines(&self) -> Vec<Headline> {
        let has_lists = self.target.as_ref().is_some_and(|target| target.lists.is_some());
        let of_lists = [("fetches", "CRLs sent"), ("bytes", "CRL bytes")];
        let of_lists = of_lists.map(|(name, label)| Headline::size(format!("{LISTS}/{name}"), label));
        of_lists.into_iter().filter(|_| has_lists).collect()
    }

    fn observers(self: Box<Self>) -> Result<Vec<Box<dyn Observer>>, PlanError> {
        let watched = |(name, files): (String, _)| -> Box<dyn Observer> {
            Box::new(Named::new(name, Box::new(WaitingFiles::new(files))))
        };
        let lists = self.target.and_then(|target| target.lists).map(|lists| -> Box<dyn Observer> {
            Box::new(Named::new(LISTS, Box::new(WatchedLists::of(lists))))
        });
        Ok(self.kept_files.into_iter().map(watched).chain(lists).collect())
    }

    fn lane(&mut self, lane: LaneRequest<'_>) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
        let Some(target) = &self.target else {
            return Err(PlanFault::Missing.at(PlanPath::of("target").key(TARGET)));
        };
        let mut client = lane.client(None, &target.endpoints)?;
        client.bearer = target.token.clone();
        let service = ServiceConfig { warm_up: lane.warm_up, ..ServiceConfig::new(TARGET, client) };
        if let Some(plan) = sign(lane.workload) {
            let config = sign_config(plan, target, &lane, service);
            let config = config.map_err(|error| PlanFault::failed(error).at(lane.at(SIGN)))?;
            if config.documents.longest() >= LARGE {
                KeptFiles::check_room().map_err(|error| PlanFault::failed(error).at(lane.at(SIGN)))?;
                self.kept_files.push((lane.workload.name.to_string(), Arc::clone(&config.judge.kept_files)));
            }
            return Ok(lane.with(SignWorkload::new(config)));
        }
        if let Some(AuthenticatePlan { by }) = authenticate(lane.workload) {
            let by_token = *by == AuthenticateBy::Token;
            return Ok(lane.with(AuthenticateWorkload::new(target.signers.clone(), by_token, service)));
        }
        if let Some(plan) = validate(lane.workload) {
            let config = validate_config(plan, target, &lane, service);
            let config = config.map_err(|error| PlanFault::failed(error).at(lane.at(VALIDATE)))?;
            if !plan.has_files() && plan.size.bytes() >= LARGE {
                KeptFiles::check_room().map_err(|error| PlanFault::failed(error).at(lane.at(VALIDATE)))?;
            }
            return Ok(lane.with(ValidateWorkload::new(config)));
        }
        let Some(plan) = timestamp(lane.workload) else {
            return Err(PlanFault::Missing.at(lane.at(TIMESTAMP)));
        };
        let Some(authorities) = target.timestamps.clone() else {
            return Err(PlanFault::failed(PkiError::NoTimestampRoots).at(PlanPath::of("target").key(TARGET)));
        };
        let judge = TimestampJudge {
            authorities,
            epoch_unix_ms: lane.planned.epoch_unix_ms,
            skew_ms: target.skew_ms,
        };
        let of = (lane.planned.plan.seed, lane.place as u64);
        let made = TimestampWorkload::new(interface(plan, target.dialect), of, judge, service);
        Ok(lane.with(made))
    }
}

/// Bytes of the shortest document that may come back in a file.
const LARGE: u64 = 512 << 10;
/// The plan of timestamps of whoever names none.
const DEFAULT_PLAN: &str = "default";
/// From how many bytes on the vendor's clients upload in parts (restpki-client 1.3.1).
const MULTIPART_FROM: u64 = 5 << 20;

/// How a service of that dialect is asked for timestamps.
fn interface(plan: &TimestampPlan, dialect: Dialect) -> TimestampInterface {
    match (plan.by, dialect) {
        (TimestampBy::Http, _) => TimestampInterface::Http { path: plan.path.clone().unwrap_or_default() },
        (TimestampBy::Json, Dialect::Dss) => TimestampInterface::Dss,
        (TimestampBy::Json, Dialect::RestPki) => {
            let plan = plan.plan.clone().unwrap_or_else(|| DEFAULT_PLAN.to_owned());
            TimestampInterface::RestPki { plan }
        }
    }
}

fn sign_config(
    plan: &SignPlan,
    target: &SigningService,
    lane: &LaneRequest<'_>,
    service: ServiceConfig,
) -> Result<SignConfig, PkiError> {
    let seed = lane.planned.plan.seed;
    let kinds: Vec<(SignatureKind, u16)> = plan.mix.drawn().map(|(kind, weight)| (*kind, weight)).collect();
    let lengths = match plan.most_size {
        Some(most) => DocumentLengths::Between(plan.size.bytes(), most.bytes()),
        None => DocumentLengths::Of(plan.size.bytes()),
    };
    let documents = Documents::new(seed, lane.place as u64, lengths)?;
    let judge = SignatureJudge {
        documents: documents.clone(),
        kept_files: Arc::default(),
        signers: Arc::clone(&target.known),
        timestamps: target.timestamps.clone(),
        epoch_unix_ms: lane.planned.epoch_unix_ms,
        skew_ms: target.skew_ms,
    };
    Ok(SignConfig {
        dialect: target.dialect,
        kinds,
        by_digest: plan.by_digest,
        by_url: plan.by_url,
        multipart_from: match target.dialect {
            Dialect::RestPki => Some(plan.multipart_from.map_or(MULTIPART_FROM, ByteSize::bytes)),
            Dialect::Dss => None,
        },
        signers: target.signers.clone(),
        security_context: plan.security_context.clone(),
        documents,
        judge,
        service,
        seed: seed ^ lane.place as u64,
    })
}

fn validate_config(
    plan: &ValidatePlan,
    target: &SigningService,
    lane: &LaneRequest<'_>,
    service: ServiceConfig,
) -> Result<ValidateConfig, PkiError> {
    let files = match GivenFiles::read(plan)? {
        Some(files) => ValidatedFiles::Given(files),
        None => {
            let signs = SignPlan {
                mix: plan.mix.clone(),
                size: plan.size,
                security_context: plan.security_context.clone(),
                ..SignPlan::default()
            };
            ValidatedFiles::Signed(Box::new(SignWorkload::new(sign_config(
                &signs,
                target,
                lane,
                service.clone(),
            )?)))
        }
    };
    Ok(ValidateConfig {
        dialect: target.dialect,
        files,
        altered: plan.altered.of_1(),
        security_context: plan.security_context.clone(),
        service,
        seed: lane.planned.plan.seed ^ lane.place as u64,
    })
}
