//! Workloads on the services of a run.

use std::sync::Arc;
use std::time::Duration;

use hammer_audit::LogAuditor;
use hammer_core::compose::{Mixed, MixedPart};
use hammer_core::dispatch::LanePlan;
use hammer_core::draw::Draws;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_net::ClientConfig;
use hammer_sigstore::{
    BundleFiles, CorpusProbe, EntryReadBack, FollowLink, FollowedHeads, MixedPlan, ReadRekor, RekorTilesLog,
    ServiceReadPlan, ServiceReadWorkload, SignPlan, SignWorkload, SigstoreError, SigstoreRun,
    SigstoreService, TimestampPlan, TimestampWorkload, TufPlan, TufWorkload, VerifyPlan, VerifyWorkload,
};

use super::corpora::{FilledCorpus, held_against};
use super::opened::OpenTarget;
use super::sections::{MIXED, READ, SIGN, TIMESTAMP, TUF, VERIFY, mixed, verify};
use super::{FollowedRekor, is_followed, reads_rekor2};
use crate::plan::Plan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::protocol::lane::LaneRequest;

/// Why a workload cannot be made: what its own crate says, or the plan.
enum LaneFault {
    Sigstore(SigstoreError),
    Plan(PlanError),
}

impl From<SigstoreError> for LaneFault {
    fn from(error: SigstoreError) -> Self {
        Self::Sigstore(error)
    }
}

/// Flows that sign.
pub(super) fn signs(
    plan: &SignPlan,
    open: &OpenTarget,
    (auditor, followed): (Option<&mut LogAuditor>, Option<&mut FollowedRekor>),
    (corpus, bundles): (Option<FilledCorpus>, &mut Vec<Arc<BundleFiles>>),
    lane: LaneRequest<'_>,
) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
    let made = SignWorkload::new(plan, &open.target, &run(&lane), |service| client(&lane, open, service));
    let made = made.map_err(|fault| told(fault, &lane, open, SIGN))?.warm_up(lane.warm_up);
    let made = match corpus {
        Some(FilledCorpus { sink, probe }) => {
            let on_tiles = if plan.rekor.is_on_tiles() { ReadRekor::V2 } else { ReadRekor::V1 };
            // Services that start with the run have nothing of what was logged before.
            let may_lag = if open.is_embedded() { Duration::ZERO } else { plan.missing_after.duration() };
            let held = match probe {
                Some(_) => held_against_its_log(probe.as_ref(), (on_tiles, may_lag), open, &lane),
                None => expect_its_log(on_tiles, open, &lane),
            };
            held.map_err(|fault| match fault {
                LaneFault::Sigstore(error) if error.is_of_corpus() => {
                    let refused = PlanFault::failed(error).at(PlanPath::of("fill").key("corpus"));
                    or_of_log(refused, on_tiles, open)
                }
                fault => told(fault, &lane, open, SIGN),
            })?;
            made.filling(sink)
        }
        None => made,
    };
    let made = match bundle_files(plan, &lane, SIGN, bundles)? {
        Some(files) => made.bundles(files),
        None => made,
    };
    let made = held_to_the_log(made, plan, (auditor, followed), &lane);
    Ok(lane.with(made))
}

/// What is signed is looked for in its log, and kept for those who read it.
fn held_to_the_log(
    made: SignWorkload,
    plan: &SignPlan,
    (auditor, followed): (Option<&mut LogAuditor>, Option<&mut FollowedRekor>),
    lane: &LaneRequest<'_>,
) -> SignWorkload {
    let is_read = plan.rekor.is_on_tiles() && reads_rekor2(lane.planned.plan);
    let made = if is_read { made.read_back() } else { made };
    if !plan.audit {
        return made.heads(heads_of(auditor.as_deref(), followed.as_deref()));
    }
    if let Some(auditor) = auditor.filter(|_| plan.rekor.is_on_tiles()) {
        return made.audited(auditor.link(lane.workload.name.as_str()));
    }
    match followed.filter(|_| is_followed(plan)) {
        Some(rekor) => made.followed(entries_link(rekor, plan, lane)),
        None => made,
    }
}

/// What is read is held to the log that is followed, where it is.
fn joined_to_the_log(
    made: VerifyWorkload,
    plan: &VerifyPlan,
    (auditor, followed): (Option<&mut LogAuditor>, Option<&mut FollowedRekor>),
    lane: &LaneRequest<'_>,
) -> VerifyWorkload {
    if !plan.audit {
        return made.heads(heads_of(auditor.as_deref(), followed.as_deref()));
    }
    match (plan.rekor, auditor, followed) {
        (ReadRekor::V1, _, Some(rekor)) => made.followed(reads_link(rekor, lane)),
        (ReadRekor::V2, Some(auditor), _) => {
            made.joined(RekorTilesLog::follow_reads(auditor, lane.workload.name.as_str()))
        }
        _ => made,
    }
}

/// Refuses flows that verify, behind a fill, whose answers could not be judged: what is wrong with them is told ahead of it.
pub(super) fn expect_judged(plan: &Plan, open: &OpenTarget) -> Result<(), PlanError> {
    if plan.fill.is_none() {
        return Ok(());
    }
    for (place, workload) in plan.measured() {
        let (read, key) = match (verify(workload), mixed(workload)) {
            (Some(read), _) => (read, VERIFY),
            (None, Some(mixed)) => (&mixed.verify, MIXED),
            (None, None) => continue,
        };
        open.target.can_judge_reads(read).map_err(|error| match error.key() {
            Some(_) => PlanFault::failed(error).at(open.at.clone()),
            None => PlanFault::failed(error).at(PlanPath::workload(place).key(key)),
        })?;
    }
    Ok(())
}

/// Flows that verify.
pub(super) fn verifies(
    plan: &VerifyPlan,
    open: &OpenTarget,
    followers: (Option<&mut LogAuditor>, Option<&mut FollowedRekor>),
    lane: LaneRequest<'_>,
) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
    let made = VerifyWorkload::new(plan, &open.target, &run(&lane), |service| client(&lane, open, service));
    let made = made.map_err(|fault| told(fault, &lane, open, VERIFY))?.warm_up(lane.warm_up);
    let held = held_against_its_log(made.probe(), (plan.rekor, plan.missing_after.duration()), open, &lane);
    held.map_err(|fault| told_of_log(fault, &lane, open, (VERIFY, plan.rekor)))?;
    let made = joined_to_the_log(made, plan, followers, &lane);
    Ok(lane.with(made))
}

/// Refuses a corpus that is not of the log which the plan reads, as far as the log shows it.
fn held_against_its_log(
    probe: Option<&CorpusProbe>,
    (rekor, may_lag): (ReadRekor, Duration),
    open: &OpenTarget,
    lane: &LaneRequest<'_>,
) -> Result<(), LaneFault> {
    if probe.is_none() {
        return Ok(());
    }
    let log = client(lane, open, read_at(rekor))?;
    Ok(held_against(probe, (rekor, log), lane.planned.epoch_unix_ms, may_lag)?)
}

/// Refuses a log to fill that is none where it is read, which else would be told behind the fill. Where services start with the run it is
/// there.
fn expect_its_log(rekor: ReadRekor, open: &OpenTarget, lane: &LaneRequest<'_>) -> Result<(), LaneFault> {
    if open.is_embedded() || open.target.endpoints.at(read_at(rekor)).is_empty() {
        return Ok(());
    }
    let log = client(lane, open, read_at(rekor))?;
    Ok(held_against(None, (rekor, log), lane.planned.epoch_unix_ms, Duration::ZERO)?)
}

/// The service by which a log is read.
const fn read_at(rekor: ReadRekor) -> SigstoreService {
    match rekor {
        ReadRekor::V1 => SigstoreService::Rekor,
        ReadRekor::V2 => SigstoreService::RekorTilesRead,
    }
}

/// Both, by weight.
pub(super) fn mixes(
    plan: &MixedPlan,
    open: &OpenTarget,
    (mut auditor, mut followed): (Option<&mut LogAuditor>, Option<&mut FollowedRekor>),
    bundles: &mut Vec<Arc<BundleFiles>>,
    lane: LaneRequest<'_>,
) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
    let (run, warm_up) = (run(&lane), lane.warm_up);
    let refused = |fault: LaneFault| told(fault, &lane, open, MIXED);
    let client = |service| client(&lane, open, service);
    let sign = SignWorkload::new(&plan.sign, &open.target, &run, client).map_err(refused)?.warm_up(warm_up);
    let sign = match bundle_files(&plan.sign, &lane, MIXED, bundles)? {
        Some(files) => sign.bundles(files),
        None => sign,
    };
    let verify =
        VerifyWorkload::new(&plan.verify, &open.target, &run, client).map_err(refused)?.warm_up(warm_up);
    let may_lag = plan.verify.missing_after.duration();
    held_against_its_log(verify.probe(), (plan.verify.rekor, may_lag), open, &lane)
        .map_err(|fault| told_of_log(fault, &lane, open, (MIXED, plan.verify.rekor)))?;
    let sign = held_to_the_log(sign, &plan.sign, (auditor.as_deref_mut(), followed.as_deref_mut()), &lane);
    let verify = joined_to_the_log(verify, &plan.verify, (auditor, followed), &lane);
    let first = MixedPart { name: "sign".to_owned(), weight: plan.sign_weight, workload: sign };
    let second = MixedPart { name: "verify".to_owned(), weight: plan.verify_weight, workload: verify };
    let draws = Draws::new(run.seed, run.workload);
    Ok(lane.with(Mixed::new(first, second, draws)))
}

/// Timestamps.
pub(super) fn timestamps(
    plan: &TimestampPlan,
    open: &OpenTarget,
    lane: LaneRequest<'_>,
) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
    let client = client(&lane, open, SigstoreService::Timestamp);
    let client = client.map_err(|fault| told(fault, &lane, open, TIMESTAMP))?;
    let made = TimestampWorkload::new(plan, &open.target, &run(&lane), client);
    let made = made.map_err(|error| told(error.into(), &lane, open, TIMESTAMP))?.warm_up(lane.warm_up);
    Ok(lane.with(made))
}

/// Reads of single services.
pub(super) fn reads(
    plan: &ServiceReadPlan,
    open: &OpenTarget,
    (auditor, followed): (Option<&LogAuditor>, Option<&FollowedRekor>),
    lane: LaneRequest<'_>,
) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
    let made =
        ServiceReadWorkload::new(plan, &open.target, &run(&lane), |service| client(&lane, open, service));
    let made = made.map_err(|fault| told(fault, &lane, open, READ))?.warm_up(lane.warm_up);
    let made = made.within(lane.workload.timeout.duration().into());
    Ok(lane.with(made.heads(heads_of(auditor, followed))))
}

/// Where heads go that no promise waits for.
fn heads_of(auditor: Option<&LogAuditor>, followed: Option<&FollowedRekor>) -> FollowedHeads {
    let rekor = followed.map(|followed| followed.auditor.heads());
    FollowedHeads { rekor, tiles: auditor.map(LogAuditor::heads) }
}

/// Refreshes of the TUF repository.
pub(super) fn refreshes(
    plan: &TufPlan,
    open: &OpenTarget,
    lane: LaneRequest<'_>,
) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError> {
    let refused = |fault: LaneFault| told(fault, &lane, open, TUF);
    let client = client(&lane, open, SigstoreService::Tuf).map_err(refused)?;
    let root = open.tuf_root.as_deref();
    let missing = SigstoreError::Missing { key: "tuf", what: "root of the TUF repository" };
    let root = root.ok_or(missing).map_err(|error| refused(error.into()))?;
    let made = TufWorkload::new(plan, root, &open.target.trust, &run(&lane), client);
    let made = made.map_err(|error| refused(error.into()))?.warm_up(lane.warm_up);
    Ok(lane.with(made))
}

fn entries_link(rekor: &mut FollowedRekor, plan: &SignPlan, lane: &LaneRequest<'_>) -> FollowLink {
    let FollowedRekor { log, auditor } = rekor;
    let (name, seed) = (lane.workload.name.as_str(), lane.planned.plan.seed);
    let (share, missing_after) = (plan.read_back(), plan.missing_after.duration());
    log.follow_entries(auditor, name, EntryReadBack { share, missing_after, seed })
}

fn reads_link(rekor: &mut FollowedRekor, lane: &LaneRequest<'_>) -> FollowLink {
    let FollowedRekor { log, auditor } = rekor;
    log.follow_reads(auditor, lane.workload.name.as_str())
}

/// Where the first flows of a workload leave bundles; kept in `all` too, since somebody has to say what became of them.
fn bundle_files(
    plan: &SignPlan,
    lane: &LaneRequest<'_>,
    section: &str,
    all: &mut Vec<Arc<BundleFiles>>,
) -> Result<Option<Arc<BundleFiles>>, PlanError> {
    let Some(bundles) = &plan.bundles else { return Ok(None) };
    let opened = BundleFiles::open(bundles, lane.workload.name.as_str());
    let at = || lane.at(section).keys(if section == MIXED { "sign.bundles" } else { "bundles" });
    let files = Arc::new(opened.map_err(|error| PlanFault::failed(error).at(at()))?);
    all.push(files.clone());
    Ok(Some(files))
}

fn run(lane: &LaneRequest<'_>) -> SigstoreRun {
    let planned = lane.planned;
    SigstoreRun { seed: planned.plan.seed, epoch_unix_ms: planned.epoch_unix_ms, workload: lane.place as u64 }
}

fn client(
    lane: &LaneRequest<'_>,
    open: &OpenTarget,
    service: SigstoreService,
) -> Result<ClientConfig, LaneFault> {
    let endpoints = open.target.endpoints.needed(service)?;
    let mut client = lane.client(None, endpoints).map_err(LaneFault::Plan)?;
    if service.is_grpc() {
        client.version = client.version.of_calls().ok_or(SigstoreError::GrpcOverHttp1)?;
    }
    Ok(client)
}

/// The same of what is held against the log of a corpus: that may be the wrong one of both.
fn told_of_log(
    fault: LaneFault,
    lane: &LaneRequest<'_>,
    open: &OpenTarget,
    (key, rekor): (&str, ReadRekor),
) -> PlanError {
    let is_of_corpus = matches!(&fault, LaneFault::Sigstore(error) if error.is_of_corpus());
    let refused = told(fault, lane, open, key);
    if is_of_corpus { or_of_log(refused, rekor, open) } else { refused }
}

/// The key that says where that log is can be why just as well; where services start with the run, none does.
fn or_of_log(refused: PlanError, rekor: ReadRekor, open: &OpenTarget) -> PlanError {
    if open.is_embedded() {
        return refused;
    }
    let services = match rekor {
        ReadRekor::V1 => &[SigstoreService::Rekor][..],
        ReadRekor::V2 => &[SigstoreService::RekorTiles, SigstoreService::RekorTilesRead],
    };
    services.iter().fold(refused, |refused, service| refused.or_at(open.at.clone().key(service.key())))
}

/// What has a key is wrong with the target, everything else with the workload.
fn told(fault: LaneFault, lane: &LaneRequest<'_>, open: &OpenTarget, key: &str) -> PlanError {
    match fault {
        LaneFault::Plan(error) => error,
        LaneFault::Sigstore(error) if error.is_of_corpus() => {
            let at = lane.at(key);
            let at = if key == MIXED { at.key("verify") } else { at };
            let is_empty = matches!(error, SigstoreError::CorpusEmpty { .. });
            let refused = PlanFault::failed(error).at(at.clone().key("corpus"));
            if is_empty { refused.or_at(at.key("rekor")) } else { refused }
        }
        LaneFault::Sigstore(error) if error.is_of_artifact() => {
            let at = lane.at(key);
            let at = if key == MIXED { at.key("sign") } else { at };
            PlanFault::failed(error).at(at.key("artifact_file"))
        }
        LaneFault::Sigstore(error @ SigstoreError::GrpcOverHttp1) => {
            PlanFault::failed(error).at(lane.at(key)).or_at(PlanPath::of("target.connection.http"))
        }
        LaneFault::Sigstore(error) if error.key().is_some() => PlanFault::failed(error).at(open.at.clone()),
        LaneFault::Sigstore(error) => PlanFault::failed(error).at(lane.at(key)),
    }
}
