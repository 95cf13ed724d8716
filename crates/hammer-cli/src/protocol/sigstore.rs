//! Sigstore in plans: its services, and flows that sign and verify.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hammer_audit::{LogAuditor, LogPlace};
use hammer_core::dispatch::LanePlan;
use hammer_core::observe::{Named, Observer};
use hammer_core::run::StopRule;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_measure::headline::Headline;
use hammer_sigstore::{
    BundleFiles, CorpusSink, CorpusWriter, CorpusWritten, RekorLog, RekorTilesLeaves, RekorTilesLog,
    RekorVersion, SignPlan, SigstoreError, SigstoreService, SigstoreTargetPlan, TufTargetPlan,
};
use http::Uri;

use super::lab::Lab;
use super::lane::LaneRequest;
use super::{FillCorpus, OpenProtocol, Protocol, RunFiles, RunPlan, WrittenCorpus};
use crate::error::CliError;
use crate::plan::error::{KeyedError, PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::section::Section;
use crate::plan::{Plan, WorkloadPlan};
use crate::tui::spec::{PanelSide, PanelSpec};

pub(crate) mod issuer;
mod lanes;
mod opened;
mod panel;
mod sections;
mod tokens;
mod tuf;

use opened::OpenTarget;
use panel::{PANEL, side};
use sections::{LAB, SIGN, TARGET, all, mixed, read, sign, timestamp, tuf as refreshes, uses, verify};
use tokens::OAUTH;

/// The protocol.
pub(crate) struct Sigstore;

impl KeyedError for SigstoreError {
    fn key(&self) -> Option<&'static str> {
        self.key()
    }
}

impl Protocol for Sigstore {
    fn sections(&self) -> Vec<Section> {
        all()
    }

    fn check(&self, planned: &RunPlan<'_>) -> Result<(), PlanError> {
        let plan = planned.plan;
        let has_target = plan.target.unnamed.keys().any(|key| key == TARGET);
        let has_lab = plan.target.lab.as_ref().is_some_and(|lab| lab.kind.keys().any(|key| key == LAB));
        for (place, workload) in plan.workloads.iter().enumerate() {
            let Some((key, services)) = uses(workload) else { continue };
            let at = PlanPath::workload(place).key(key);
            if !has_target && !has_lab {
                return Err(PlanFault::Misfit(NO_TARGET.to_owned()).at(at));
            }
            let is_granted = plan
                .target
                .unnamed
                .get::<SigstoreTargetPlan>(TARGET)
                .is_some_and(|target| target.identity.grant.is_some());
            if is_granted && workload.name.as_str() == OAUTH {
                let at = PlanPath::workload(place).key("name");
                return Err(PlanFault::Taken(OAUTH.to_owned()).at(at));
            }
            let has_corpus = verify(workload).is_some_and(|plan| plan.corpus.is_some());
            let mut measured = plan.measured().map(|(_, workload)| workload);
            if verify(workload).is_some() && !has_corpus && !measured.any(logs_on_rekor1) {
                return Err(PlanFault::Misfit(NOTHING_TO_VERIFY.to_owned()).at(at));
            }
            if services.is_empty() && read(workload).is_some() {
                return Err(PlanFault::failed(SigstoreError::NothingToRead).at(at));
            }
            if let Some(target) = plan.target.unnamed.get(TARGET) {
                let endpoints = hammer_sigstore::ServiceEndpoints::of(target);
                for service in services {
                    let needed = endpoints.needed(service).map(drop);
                    needed
                        .map_err(|error| PlanFault::failed(error).at(PlanPath::of("target").key(TARGET)))?;
                }
            }
        }
        Ok(())
    }

    fn open<'a>(&self, planned: &RunPlan<'a>) -> Result<Box<dyn OpenProtocol + 'a>, CliError> {
        let is_used = planned.plan.workloads.iter().any(|workload| uses(workload).is_some());
        let mut labs = Vec::new();
        let target = match is_used {
            true => Some(opened::opened(planned.plan, planned.epoch_unix_ms, &mut labs)?),
            false => None,
        };
        let auditor = target.as_ref().map(|target| auditor(planned, target)).transpose()?.flatten();
        let followed = target.as_ref().map(|target| followed(planned, target)).transpose()?.flatten();
        Ok(Box::new(OpenSigstore { target, labs, auditor, followed, filled: None, bundles: Vec::new() }))
    }

    fn panel(&self) -> Option<PanelSpec> {
        Some(PANEL)
    }

    fn side(&self, workload: &WorkloadPlan) -> PanelSide {
        side(workload)
    }

    fn notes(&self, plan: &Plan) -> Vec<String> {
        let target = plan.target.unnamed.get::<SigstoreTargetPlan>(TARGET);
        let source = target.and_then(|target| tuf::source(plan, target));
        let said = |tuf: &TufTargetPlan| {
            let url = tuf.url.as_slice().first().map(ToString::to_string).unwrap_or_default();
            format!(
                "answers are held to {}, as the TUF repository {url} had it before the run, verified from {}",
                tuf.target,
                tuf.root.display()
            )
        };
        source.map(said).into_iter().collect()
    }
}

/// What a run has of it.
struct OpenSigstore {
    /// The services, where a workload goes to them.
    target: Option<OpenTarget>,
    labs: Vec<Box<dyn Lab>>,
    /// Of the log of Rekor v2, shared by the workloads that write to it, so that it is read once.
    auditor: Option<LogAuditor>,
    /// Of the log of Rekor v1, likewise.
    followed: Option<FollowedRekor>,
    /// The corpus that the next lane adds to.
    filled: Option<CorpusSink>,
    /// Where flows leave bundles.
    bundles: Vec<Arc<BundleFiles>>,
}

/// The log of Rekor v1, and who follows it.
pub(crate) struct FollowedRekor {
    log: RekorLog,
    auditor: LogAuditor,
}

impl RunFiles for Arc<BundleFiles> {
    fn finish(&self) -> Result<String, (PathBuf, io::Error)> {
        BundleFiles::finish(self)
    }
}

impl OpenProtocol for OpenSigstore {
    fn endpoints(&self) -> Vec<Uri> {
        let Some(target) = &self.target else { return Vec::new() };
        let endpoints = &target.target.endpoints;
        let issuer = target.tokens.iter().filter_map(|tokens| tokens.endpoint.clone());
        let services = SigstoreService::ALL.into_iter().flat_map(|service| endpoints.at(service).to_vec());
        services.chain(issuer).collect()
    }

    fn upkeep(&mut self) -> Vec<Arc<dyn LanePlan<ThreadedRuntime>>> {
        let tokens = self.target.as_mut().and_then(|target| target.tokens.as_mut());
        tokens.and_then(|tokens| tokens.refresh.take()).into_iter().collect()
    }

    fn notes(&mut self) -> Vec<String> {
        let tokens = self.target.as_mut().and_then(|target| target.tokens.as_mut());
        tokens.map(|tokens| std::mem::take(&mut tokens.notes)).unwrap_or_default()
    }

    fn observes(&self) -> bool {
        self.auditor.is_some() || self.followed.is_some()
    }

    fn take_labs(&mut self) -> Vec<Box<dyn Lab>> {
        std::mem::take(&mut self.labs)
    }

    fn reopened<'b>(&self, planned: &RunPlan<'b>) -> Result<Box<dyn OpenProtocol + 'b>, CliError> {
        let again = |target: &OpenTarget| opened::reopened(target, planned.plan, planned.epoch_unix_ms);
        let target = self.target.as_ref().map(again).transpose()?;
        let auditor = target.as_ref().map(|target| auditor(planned, target)).transpose()?.flatten();
        let followed = target.as_ref().map(|target| followed(planned, target)).transpose()?.flatten();
        Ok(Box::new(OpenSigstore {
            target,
            labs: Vec::new(),
            auditor,
            followed,
            filled: None,
            bundles: Vec::new(),
        }))
    }

    fn corpus(
        &mut self,
        workload: &WorkloadPlan,
        file: &Path,
        is_emptied: bool,
    ) -> Result<Option<Box<dyn FillCorpus>>, PlanFault> {
        if sign(workload).is_none_or(|plan| plan.rekor == RekorVersion::None) {
            return Ok(None);
        }
        let writer = CorpusWriter::open(file, is_emptied).map_err(PlanFault::failed)?;
        self.filled = Some(writer.sink());
        Ok(Some(Box::new(OwnCorpus(writer))))
    }

    fn lane(&mut self, lane: LaneRequest<'_>) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
        let Some(target) = &self.target else {
            return Err(PlanFault::Missing.at(PlanPath::of("target").key(TARGET)));
        };
        if let Some(plan) = sign(lane.workload) {
            let followers = (self.auditor.as_mut(), self.followed.as_mut());
            return lanes::signs(plan, target, followers, (self.filled.take(), &mut self.bundles), lane);
        }
        if let Some(plan) = verify(lane.workload) {
            return lanes::verifies(plan, target, self.followed.as_mut(), lane);
        }
        if let Some(plan) = mixed(lane.workload) {
            return lanes::mixes(plan, target, self.followed.as_mut(), &mut self.bundles, lane);
        }
        if let Some(plan) = read(lane.workload) {
            return lanes::reads(plan, target, lane);
        }
        if let Some(plan) = refreshes(lane.workload) {
            return lanes::refreshes(plan, target, lane);
        }
        match timestamp(lane.workload) {
            Some(plan) => lanes::timestamps(plan, target, lane),
            None => Err(PlanFault::Missing.at(lane.at(SIGN))),
        }
    }

    /// Each of both logs has its numbers under its name.
    fn observed(&self, observation: &str) -> Vec<String> {
        if !self.are_both() {
            return self.observes().then(|| observation.to_owned()).into_iter().collect();
        }
        let services = [SigstoreService::RekorTiles, SigstoreService::Rekor];
        services.iter().map(|service| format!("{}/{observation}", service.name())).collect()
    }

    fn take_files(&mut self) -> Vec<Box<dyn RunFiles>> {
        self.bundles.drain(..).map(|files| -> Box<dyn RunFiles> { Box::new(files) }).collect()
    }

    fn stops(&self) -> Vec<StopRule> {
        // What a forked log accepts from then on says nothing.
        let names = self.observed(hammer_audit::LOG_FORKED).into_iter();
        names.map(|name| StopRule::at_least(name, 1.0)).collect()
    }

    fn headlines(&self) -> Vec<Headline> {
        let is_observed = self.observes();
        is_observed.then(|| Headline::size("tree_size", "tree size")).into_iter().collect()
    }

    fn observers(self: Box<Self>) -> Result<Vec<Box<dyn Observer>>, PlanError> {
        let are_both = self.are_both();
        let tiles = self.auditor.map(|auditor| (SigstoreService::RekorTiles, auditor));
        let followed = self.followed.map(|followed| (SigstoreService::Rekor, followed.auditor));
        let observer = |(service, auditor): (SigstoreService, LogAuditor)| -> Box<dyn Observer> {
            match are_both {
                true => Box::new(Named::new(service.name(), Box::new(auditor))),
                false => Box::new(auditor),
            }
        };
        let tokens = self.target.and_then(|target| target.tokens);
        let watch = tokens.map(|tokens| -> Box<dyn Observer> { Box::new(tokens.watch) });
        Ok(tiles.into_iter().chain(followed).map(observer).chain(watch).collect())
    }
}

/// The corpus of entries of Rekor.
struct OwnCorpus(CorpusWriter);

impl FillCorpus for OwnCorpus {
    fn entries(&self) -> u64 {
        self.0.entries()
    }

    fn first_seq(&self) -> u64 {
        self.0.first_seq()
    }

    fn finish(self: Box<Self>) -> io::Result<WrittenCorpus> {
        let CorpusWritten { added, lost, last } = self.0.finish()?;
        Ok(WrittenCorpus { added, lost, last })
    }
}

impl OpenSigstore {
    /// Whether the logs of Rekor v1 and v2 are both followed.
    fn are_both(&self) -> bool {
        self.auditor.is_some() && self.followed.is_some()
    }
}

/// Who follows Rekor v1, where a workload writes to it and wants that.
fn followed(planned: &RunPlan<'_>, target: &OpenTarget) -> Result<Option<FollowedRekor>, PlanError> {
    let of = |workload| sign(workload).or_else(|| mixed(workload).map(|mixed| &mixed.sign));
    let signs = planned.plan.workloads.iter().filter_map(of);
    let followed = signs.filter(|plan| is_followed(plan));
    let Some(lags_at_most) = followed.map(|plan| plan.missing_after.duration()).max() else {
        return Ok(None);
    };
    let failed = |error: SigstoreError| PlanFault::failed(error).at(target.at.clone());
    let read = target.target.endpoints.needed(SigstoreService::Rekor).map_err(failed)?;
    let client = planned.plan.target.client(None, read.to_vec(), 1, planned.plan.seed)?;
    let url = read.first().map_or_else(String::new, ToString::to_string);
    let log = RekorLog::new(url, target.target.trust.clone(), lags_at_most);
    let (place, name) = (LogPlace::Servers(Box::new(client)), SigstoreService::Rekor.name());
    let auditor = LogAuditor::by_answers(name, log.clone(), place, planned.epoch_unix_ms);
    Ok(Some(FollowedRekor { log, auditor: auditor.folder(planned.evidence.to_owned()) }))
}

/// Whether what a plan gets logged is on Rekor v1, and followed.
fn is_followed(plan: &SignPlan) -> bool {
    plan.audit && plan.rekor == RekorVersion::V1
}

/// The auditor of Rekor v2, where a workload writes to it and wants that.
fn auditor(planned: &RunPlan<'_>, target: &OpenTarget) -> Result<Option<LogAuditor>, PlanError> {
    let mut signs = planned.plan.workloads.iter().filter_map(sign);
    if !signs.any(|plan| plan.audit && plan.rekor.is_on_tiles()) {
        return Ok(None);
    }
    let failed = |error: SigstoreError| PlanFault::failed(error).at(target.at.clone());
    let verifier = target.target.trust.expect_rekor_tiles().map_err(failed)?.clone();
    let read = target.target.endpoints.needed(SigstoreService::RekorTilesRead).map_err(failed)?;
    let client = planned.plan.target.client(None, read.to_vec(), 1, planned.plan.seed)?;
    let url = read.first().map_or_else(String::new, ToString::to_string);
    let (log, place) = (RekorTilesLog::new(url, verifier), LogPlace::Servers(Box::new(client)));
    let name = SigstoreService::RekorTiles.name();
    let auditor = LogAuditor::by_tiles::<RekorTilesLeaves, _>(name, log, place, planned.epoch_unix_ms);
    Ok(Some(auditor.folder(planned.evidence.to_owned())))
}

/// Whether flows of a workload get entries of Rekor v1 logged, which others read back.
fn logs_on_rekor1(workload: &WorkloadPlan) -> bool {
    mixed(workload).is_some() || sign(workload).is_some_and(|plan| plan.rekor == RekorVersion::V1)
}

const NOTHING_TO_VERIFY: &str = "flows that verify read what flows of the same run got logged on Rekor v1; give a workload `sigstore_sign` with `rekor: v1`, or `corpus`";
const NO_TARGET: &str = "there is no service of Sigstore; give `target.sigstore`, or `target.lab.sigstore`";
