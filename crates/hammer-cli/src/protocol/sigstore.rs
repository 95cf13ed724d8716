//! Sigstore in plans: its services, and flows that sign and verify.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hammer_audit::{LogAuditor, LogPlace};
use hammer_core::dispatch::LanePlan;
use hammer_core::observe::{Named, Observer};
use hammer_core::run::StopRule;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_measure::headline::Headline;
use hammer_report::Report;
use hammer_report::report::AccountedJob;
use hammer_sigstore::{
    BundleFiles, CorpusStart, CorpusWriter, FulcioInterface, ReadRekor, RekorLog, RekorTilesLeaves,
    RekorTilesLog, RekorVersion, SignPlan, SigstoreError, SigstoreService, SigstoreTargetPlan, TrustSource,
    TufTargetPlan, VerifyPlan,
};
use http::Uri;

use super::lab::Lab;
use super::lane::LaneRequest;
use super::tokens::OAUTH;
use super::{CalledService, Conclusion, FillCorpus, OpenProtocol, Protocol, RunFiles, RunPlan};
use crate::error::CliError;
use crate::plan::compat::CompatPlan;
use crate::plan::error::{KeyedError, PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::section::Section;
use crate::plan::{Plan, WorkloadPlan};
use crate::tui::spec::{PanelSide, PanelSpec, ProtocolPage};

mod accounted;
mod conclusions;
mod corpora;
mod embedded;
mod following_links;
pub(crate) mod issuer;
mod lanes;
mod opened;
mod panel;
mod preflight;
mod rotation;
mod sections;
mod served;
mod tokens;
mod tuf;

use corpora::{FilledCorpus, OwnCorpus};
use embedded::EmbeddedPlan;
use following_links::{FollowingLinks, is_audited, is_read, lags_at_most};
use opened::OpenTarget;
use panel::{PAGE, PANEL, side};
use sections::{
    LAB, SIGN, TARGET, all, mixed, read, sign, signs, timestamp, tuf as refreshes, uses, verifies, verify,
};

/// The protocol.
pub(crate) struct Sigstore;

impl KeyedError for SigstoreError {
    fn key(&self) -> Option<Cow<'_, str>> {
        self.key().map(Cow::from)
    }

    fn others(&self) -> Vec<&'static str> {
        self.others()
    }
}

impl Protocol for Sigstore {
    fn sections(&self) -> Vec<Section> {
        all()
    }

    fn will_observe(&self, plan: &Plan, observation: &str) -> bool {
        observation == TREE_SIZE
            && [false, true].iter().any(|on_tiles| lags_at_most(plan, *on_tiles).is_some())
    }

    fn check(&self, planned: &RunPlan<'_>) -> Result<(), PlanError> {
        let plan = planned.plan;
        if plan.compat == Some(CompatPlan::RhtasBenchmark) && accounted::jobs(plan).is_empty() {
            return Err(PlanFault::Misfit(NOTHING_TO_COUNT.to_owned()).at(PlanPath::of("compat")));
        }
        let has_target = plan.target.unnamed.keys().any(|key| key == TARGET);
        let has_lab = plan.target.lab.as_ref().is_some_and(|lab| lab.kind.keys().any(|key| key == LAB));
        let mut links = FollowingLinks::of(plan);
        let target = plan.target.unnamed.get::<SigstoreTargetPlan>(TARGET);
        if target.is_some_and(|target| target.trust == TrustSource::Servers && target.trusted_root.is_some())
        {
            let twice = SigstoreError::Both { one: "trusted_root", other: "trust" };
            return Err(PlanFault::failed(twice).at(PlanPath::of("target").key(TARGET)));
        }
        for (place, workload) in plan.workloads.iter().enumerate() {
            let Some((key, services)) = uses(workload) else { continue };
            let at = PlanPath::workload(place).key(key);
            if !links.has_room_for(workload) {
                return Err(PlanFault::Misfit(TOO_MANY_FOLLOW.to_owned()).at(at));
            }
            if !has_target && !has_lab {
                return Err(PlanFault::Misfit(NO_TARGET.to_owned()).at(at));
            }
            let is_granted = plan
                .target
                .unnamed
                .get::<SigstoreTargetPlan>(TARGET)
                .is_some_and(|target| target.identity().grant.is_some())
                || plan.target.lab.as_ref().is_some_and(|lab| {
                    lab.kind.get::<EmbeddedPlan>(LAB).is_some_and(EmbeddedPlan::is_granted)
                });
            if is_granted && workload.name.as_str() == OAUTH {
                let at = PlanPath::workload(place).key("name");
                return Err(PlanFault::Taken(OAUTH.to_owned()).at(at));
            }
            let mut measured = plan.measured().map(|(_, workload)| workload);
            if let Some(verify) = verify(workload).filter(|plan| plan.corpus.is_none())
                && !measured.any(|workload| signs(workload).is_some_and(|sign| verify.rekor.has(sign.rekor)))
            {
                return Err(PlanFault::Misfit(nothing_to_verify(verify.rekor)).at(at));
            }
            if services.is_empty() && read(workload).is_some() {
                return Err(PlanFault::failed(SigstoreError::NothingToRead).at(at));
            }
            let shows_tokens = signs(workload).is_some_and(|sign| sign.fulcio != FulcioInterface::None);
            if shows_tokens && target.is_some_and(|target| !target.identity().has_source()) {
                let at = PlanPath::of("target").key(TARGET);
                return Err(PlanFault::failed(SigstoreError::NO_TOKENS).at(at));
            }
            let target = plan.target.unnamed.get::<SigstoreTargetPlan>(TARGET);
            // Files are read as the run starts.
            if let Some(target) = target.filter(|target| target.signing_config.is_none()) {
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
        corpora::expect_there(planned.plan)?;
        let is_used = planned.plan.workloads.iter().any(|workload| uses(workload).is_some());
        let mut labs = Vec::new();
        let target = match is_used {
            true => Some(opened::opened(planned.plan, planned.epoch_unix_ms, &mut labs)?),
            false => None,
        };
        target.as_ref().map_or(Ok(()), |target| lanes::expect_judged(planned.plan, target))?;
        let auditor = target.as_ref().map(|target| auditor(planned, target)).transpose()?.flatten();
        let followed = target.as_ref().map(|target| followed(planned, target)).transpose()?.flatten();
        let (filled, bundles, called) = (None, Vec::new(), called(planned.plan));
        let is_kept = planned.is_kept;
        Ok(Box::new(OpenSigstore { target, labs, auditor, followed, filled, is_kept, bundles, called }))
    }

    fn accounted(&self, plan: &Plan, compat: CompatPlan) -> Vec<AccountedJob> {
        match compat {
            CompatPlan::RhtasBenchmark => accounted::jobs(plan),
            CompatPlan::RestPki => Vec::new(),
        }
    }

    fn panel(&self) -> Option<PanelSpec> {
        Some(PANEL)
    }

    fn page(&self) -> Option<ProtocolPage> {
        Some(PAGE)
    }

    fn side(&self, workload: &WorkloadPlan) -> PanelSide {
        side(workload)
    }

    fn conclusions(&self, plan: &Plan, report: &Report) -> Vec<Conclusion> {
        conclusions::all(plan, report)
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
    /// Of the log of Rekor v2, shared by the workloads that write to it or verify by it, so that it is read once.
    auditor: Option<LogAuditor>,
    /// Of the log of Rekor v1, likewise.
    followed: Option<FollowedRekor>,
    /// The corpus that the next lane adds to.
    filled: Option<FilledCorpus>,
    /// Whether embedded services have served an earlier run of the plan.
    is_kept: bool,
    /// Where flows leave bundles.
    bundles: Vec<Arc<BundleFiles>>,
    /// The services that workloads call over gRPC.
    called: Vec<SigstoreService>,
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
        let Some(target) = &mut self.target else { return Vec::new() };
        let of_tokens = target.tokens.as_mut().map(|tokens| std::mem::take(&mut tokens.notes));
        target.notes.iter().cloned().chain(of_tokens.into_iter().flatten()).collect()
    }

    fn observes(&self) -> bool {
        self.auditor.is_some() || self.followed.is_some()
    }

    fn called(&self) -> Vec<CalledService> {
        let Some(target) = self.target.as_ref().filter(|target| !target.is_embedded()) else {
            return Vec::new();
        };
        let called = |service: &SigstoreService| CalledService {
            name: service.name(),
            endpoints: target.target.endpoints.at(*service).to_vec(),
        };
        self.called.iter().map(called).collect()
    }

    fn describe(&mut self, planned: &RunPlan<'_>) -> Result<(), CliError> {
        let Some(target) = &mut self.target else { return Ok(()) };
        if planned.plan.target.preflight != Some(false) {
            let notes = preflight::look(planned.plan, target)?;
            // Services of a later run are asked again, and may say as little.
            target.notes.retain(|note| !notes.contains(note));
            target.notes.extend(notes);
        }
        Ok(())
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
            is_kept: planned.is_kept,
            bundles: Vec::new(),
            called: self.called.clone(),
        }))
    }

    fn corpus(
        &mut self,
        workload: &WorkloadPlan,
        file: &Path,
        is_emptied: bool,
    ) -> Result<Option<Box<dyn FillCorpus>>, PlanFault> {
        let (Some(signs), Some(target)) = (sign(workload), &self.target) else { return Ok(None) };
        if signs.rekor == RekorVersion::None {
            return Ok(None);
        }
        // What every line of the file would repeat.
        let artifact = signs.artifact_file.as_ref();
        let length = artifact.and_then(|path| std::fs::metadata(path).ok()).map_or(0, |found| found.len());
        if length > MOST_REPEATED {
            return Err(PlanFault::Misfit(REPEATED.to_owned()));
        }
        let rekor = if signs.rekor.is_on_tiles() { ReadRekor::V2 } else { ReadRekor::V1 };
        let start =
            CorpusStart { is_anew: is_emptied, is_embedded: target.is_embedded(), is_kept: self.is_kept };
        let writer = CorpusWriter::open(file, start, &target.target.trust, rekor);
        let writer = writer.map_err(PlanFault::failed)?;
        self.filled = Some(FilledCorpus { sink: writer.sink(), probe: writer.probe() });
        Ok(Some(Box::new(OwnCorpus { writer, file: file.to_owned() })))
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
            return lanes::verifies(plan, target, (self.auditor.as_mut(), self.followed.as_mut()), lane);
        }
        if let Some(plan) = mixed(lane.workload) {
            let followers = (self.auditor.as_mut(), self.followed.as_mut());
            return lanes::mixes(plan, target, followers, &mut self.bundles, lane);
        }
        if let Some(plan) = read(lane.workload) {
            return lanes::reads(plan, target, (self.auditor.as_ref(), self.followed.as_ref()), lane);
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
        is_observed.then(|| Headline::size(TREE_SIZE, "tree size")).into_iter().collect()
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
        let (tokens, rotation) = self.target.map_or((None, None), |target| (target.tokens, target.rotation));
        let watch = tokens.map(|tokens| -> Box<dyn Observer> { Box::new(tokens.watch) });
        let rotation = rotation.map(|rotation| -> Box<dyn Observer> { Box::new(rotation) });
        Ok(tiles.into_iter().chain(followed).map(observer).chain(watch).chain(rotation).collect())
    }
}

impl OpenSigstore {
    /// Whether the logs of Rekor v1 and v2 are both followed.
    fn are_both(&self) -> bool {
        self.auditor.is_some() && self.followed.is_some()
    }
}

/// The services that workloads of a plan call over gRPC.
fn called(plan: &Plan) -> Vec<SigstoreService> {
    let used = plan.workloads.iter().filter_map(uses).flat_map(|(_, services)| services);
    let mut called: Vec<SigstoreService> = Vec::new();
    for service in used.filter(|service| service.is_called()) {
        if !called.contains(&service) {
            called.push(service);
        }
    }
    called
}

/// Who follows Rekor v1, where a workload is shown heads of it; where nobody looks for entries, as far as its keys are trusted.
fn followed(planned: &RunPlan<'_>, target: &OpenTarget) -> Result<Option<FollowedRekor>, PlanError> {
    let Some(lags_at_most) = lags_at_most(planned.plan, false) else { return Ok(None) };
    let is_audited = is_audited(planned.plan, false);
    if !is_audited && !target.target.trust.has_rekor_keys() {
        return Ok(None);
    }
    let failed = |error: SigstoreError| PlanFault::failed(error).at(target.at.clone());
    let read = target.target.endpoints.needed(SigstoreService::Rekor).map_err(failed)?;
    let client = planned.plan.target.client(None, read.to_vec(), 1, planned.plan.seed)?;
    let url = read.first().map_or_else(String::new, ToString::to_string);
    let log = RekorLog::new(url, target.target.trust.clone(), lags_at_most);
    let (place, name) = (LogPlace::Servers(Box::new(client)), SigstoreService::Rekor.name());
    let epoch = planned.epoch_unix_ms;
    let auditor = match is_audited {
        true => LogAuditor::by_answers(name, log.clone(), place, epoch),
        false => LogAuditor::of_heads_by_answers(name, log.clone(), place, epoch),
    };
    let auditor = auditor.tolerant(!is_read(planned.plan, false));
    Ok(Some(FollowedRekor { log, auditor: auditor.folder(planned.evidence.to_owned()) }))
}

/// Whether what a plan gets logged is on Rekor v1, and followed.
fn is_followed(plan: &SignPlan) -> bool {
    plan.audit && plan.rekor == RekorVersion::V1
}

/// The auditor of Rekor v2, where a workload is shown heads of it; where nobody looks for entries, as far as its key is trusted.
fn auditor(planned: &RunPlan<'_>, target: &OpenTarget) -> Result<Option<LogAuditor>, PlanError> {
    let Some(lags_at_most) = lags_at_most(planned.plan, true) else { return Ok(None) };
    let failed = |error: SigstoreError| PlanFault::failed(error).at(target.at.clone());
    let is_audited = is_audited(planned.plan, true);
    let verifier = match target.target.trust.expect_rekor_tiles().map_err(failed) {
        Ok(verifier) => verifier.clone(),
        Err(_) if !is_audited => return Ok(None),
        Err(fault) => return Err(fault),
    };
    let read = match target.target.endpoints.needed(SigstoreService::RekorTilesRead).map_err(failed) {
        Ok(read) => read,
        // Where nobody audits, nobody need say where the tiles are.
        Err(_) if !is_read(planned.plan, true) => return Ok(None),
        Err(fault) => return Err(fault),
    };
    let client = planned.plan.target.client(None, read.to_vec(), 1, planned.plan.seed)?;
    let url = read.first().map_or_else(String::new, ToString::to_string);
    let (log, place) = (RekorTilesLog::new(url, verifier, lags_at_most), LogPlace::Servers(Box::new(client)));
    let name = SigstoreService::RekorTiles.name();
    let epoch = planned.epoch_unix_ms;
    let auditor = match is_audited {
        true => LogAuditor::by_tiles_and_heads::<RekorTilesLeaves, _>(name, log, place, epoch),
        false => LogAuditor::of_heads_by_tiles::<RekorTilesLeaves, _>(name, log, place, epoch),
    };
    let auditor = auditor.tolerant(!is_read(planned.plan, true));
    Ok(Some(auditor.folder(planned.evidence.to_owned())))
}

/// Whether flows of a run verify what its sign flows get logged in Rekor v2.
fn reads_rekor2(plan: &Plan) -> bool {
    let reads = |plan: &VerifyPlan| plan.corpus.is_none() && plan.is_on_tiles();
    plan.workloads.iter().filter_map(verifies).any(reads)
}

fn nothing_to_verify(rekor: ReadRekor) -> String {
    let (log, key) = match rekor {
        ReadRekor::V1 => ("v1", "`rekor: v1`"),
        ReadRekor::V2 => ("v2", "`rekor: v2` or `v2-grpc`"),
    };
    format!(
        "flows that verify read what flows of the same run got logged on Rekor {log}; give a workload `sigstore_sign` with {key}, or `corpus`"
    )
}

/// Bytes of a file that every entry of a corpus is about.
const MOST_REPEATED: u64 = 2 << 10;
const REPEATED: &str = "each of its lines would hold the whole `artifact_file` of what is signed, which is 2 KiB at most with a corpus; without that file each flow signs an artifact of its own";
const TOO_MANY_FOLLOW: &str = "a log is followed for 256 workloads at most, of which one that verifies on Rekor v2 counts for two and a mixed one for its parts: give this one `audit: false`, or leave it out";
const NOTHING_TO_COUNT: &str =
    "no flow signs or verifies; give a workload `sigstore_sign`, `sigstore_verify` or `sigstore_mixed`";
const NO_TARGET: &str = "there is no service of Sigstore; give `target.sigstore`, or `target.lab.sigstore`";
/// The observation of whoever follows a log.
const TREE_SIZE: &str = "tree_size";
