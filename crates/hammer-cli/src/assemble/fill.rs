//! The fill of a plan: a run of its own ahead of the one that is measured.

use std::sync::Arc;

use hammer_core::dispatch::FillGoal;
use hammer_core::run::RunSpec;

use super::{OpenedPlan, described};
use crate::error::CliError;
use crate::plan::error::PlanFault;
use crate::plan::path::PlanPath;
use crate::protocol::lane::LaneRequest;
use crate::protocol::service::OpenService;
use crate::protocol::{FillCorpus, RunFiles};
use crate::resources;

/// A fill, ready to be carried out.
pub(crate) struct AssembledFill {
    /// Its run.
    pub(crate) spec: RunSpec,
    /// How far it comes.
    pub(crate) goal: Arc<FillGoal>,
    /// How many operations were accepted by earlier ones.
    pub(crate) before: u64,
    /// What it writes.
    pub(crate) corpus: Option<Box<dyn FillCorpus>>,
    /// What it writes besides its corpus and the report.
    pub(crate) files: Vec<Box<dyn RunFiles>>,
}

impl OpenedPlan<'_> {
    /// Prepares the fill ahead of the run, where the plan has one; its corpus is emptied first where `is_emptied`.
    ///
    /// # Errors
    /// When the plan contradicts itself, or what it names cannot be read or written.
    pub(crate) fn fill(&self, is_emptied: bool) -> Result<Option<AssembledFill>, CliError> {
        let plan = self.plan;
        let (Some(fill), Some((place, workload))) = (&plan.fill, plan.filling()) else { return Ok(None) };
        let planned = self.planned(self.instants);
        let mut open = described(&self.open, &planned)?;
        let protocol = workload.operations.keys().next().and_then(|key| self.registry.of_workload(key));
        // Every workload has a section, and every section a protocol, once the plan was checked.
        let Some(protocol) = protocol else { return Ok(None) };
        let mut corpus = None;
        if let Some(file) = &fill.corpus {
            let at = || PlanPath::of("fill").key("corpus");
            let opened = open[protocol].corpus(workload, file, is_emptied || !fill.resume);
            corpus = opened.map_err(|fault| fault.at(at()))?;
            if corpus.is_none() {
                return Err(PlanFault::Misfit(NO_CORPUS.to_owned()).at(at()).into());
            }
        }
        let before = corpus.as_ref().map_or(0, |corpus| corpus.entries());
        let first = corpus.as_ref().map_or(FIRST_FILLED, |corpus| corpus.first_seq().max(FIRST_FILLED));
        let goal = fill.goal(before, first);
        let services: Vec<OpenService> = open.iter().flat_map(|open| open.services()).collect();
        let users = fill.users.get();
        let load = fill.load(&goal, plan.seed);
        let lane = LaneRequest {
            planned,
            workload,
            place,
            load,
            in_flight: users,
            warm_up: users,
            services: &services,
        };
        let mut lanes = vec![open[protocol].lane(lane)?];
        lanes.extend(open.iter_mut().flat_map(|open| open.upkeep()));
        let files = open.iter_mut().flat_map(|open| open.take_files()).collect();
        let stops = open.iter().flat_map(|open| open.stops()).collect();
        let mut observers = Vec::new();
        for open in open {
            observers.extend(open.observers()?);
        }
        let shards = if plan.target.lab.is_some() { 1 } else { resources::cores().min(users) };
        let shards = plan.threads.shards.map_or(shards, |shards| shards.get().min(users));
        let spec = RunSpec {
            measurement: fill.timeout.map(|span| span.duration().into()),
            lanes,
            stops,
            observers,
            goal: Some(Arc::clone(&goal)),
            shards: shards.min(plan.target.least_connections().unwrap_or(usize::MAX)).max(1).into(),
            ..self.spec(self.instants)
        };
        Ok(Some(AssembledFill { spec, goal, before, corpus, files }))
    }
}

/// Above all numbers that operations of a measured run have, so that a fill sends nothing that is sent again.
const FIRST_FILLED: u64 = 1 << 40;
const NO_CORPUS: &str = "what the workload sends leaves no entries that could be read back";
