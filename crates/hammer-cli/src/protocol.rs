//! What a protocol adds to plans, and what it makes of them. Whoever reads, checks, assembles or shows a run loops over the
//! protocols of the registry; but for the commands that are one's own, nothing above names one.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::http::Uri;
use hammer_core::dispatch::LanePlan;
use hammer_core::observe::Observer;
use hammer_core::run::StopRule;
use hammer_core::runtime::threaded::ThreadedRuntime;
use hammer_measure::headline::Headline;
use hammer_report::report::AccountedJob;
use hammer_report::{Reason, Report};
use serde_json::Value;

use crate::earlier_runs::EarlierRuns;
use crate::error::CliError;
use crate::plan::compat::CompatPlan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::grammar::StopKey;
use crate::plan::section::Section;
use crate::plan::{Plan, WorkloadPlan};
use crate::tui::spec::{PanelSide, PanelSpec, ProtocolPage};

pub(crate) mod attest;
pub(crate) mod ct;
pub(crate) mod http;
mod http_page;
pub(crate) mod lab;
pub(crate) mod lane;
pub(crate) mod pki;
pub(crate) mod registry;
pub(crate) mod service;
pub(crate) mod sigstore;
#[cfg(test)]
mod tests;
mod tokens;
pub(crate) mod trillian;

use lab::Lab;
use lane::LaneRequest;
use service::OpenService;
pub(crate) use tokens::is_of_tokens;

/// A protocol as the registry knows it.
pub(crate) trait Protocol: Sync {
    /// The keys that it adds to plans; no other protocol may have them.
    fn sections(&self) -> Vec<Section>;

    /// What of it can end the arrivals.
    fn stop_keys(&self) -> Vec<StopKey> {
        Vec::new()
    }

    /// Whether runs of the plan make an observation that a key of `stop` is about, of whichever protocol that key is.
    fn will_observe(&self, _plan: &Plan, _observation: &str) -> bool {
        false
    }

    /// What can be said against its part of a plan without starting, dialling or reading anything that it names. It is asked of
    /// every plan, also of one that has nothing of this protocol, before the first of the plan's runs; the folder for
    /// evidence is not known then.
    ///
    /// # Errors
    /// When that contradicts itself, or another part of the plan.
    fn check(&self, planned: &RunPlan<'_>) -> Result<(), PlanError>;

    /// Finds what the plan names of it, or starts it where it is embedded: at the start of each run of a plan that was checked,
    /// also of one that has nothing of this protocol, which then has no endpoints, observers, headlines or rules.
    ///
    /// # Errors
    /// When what is named cannot be read, or an embedded target does not start.
    fn open<'a>(&self, planned: &RunPlan<'a>) -> Result<Box<dyn OpenProtocol + 'a>, CliError>;

    /// Those services of the target that the plan itself names by URLs, and that are asked whether they are ready before anything of
    /// the plan is opened.
    fn named_services(&self, _plan: &Plan) -> Vec<OpenService> {
        Vec::new()
    }

    /// What the dashboard shows of its workloads in the protocol's own words; of several protocols, the first with a workload on a
    /// side is shown.
    fn panel(&self) -> Option<PanelSpec> {
        None
    }

    /// What the dashboard shows of it in its users' words, on a page of its own.
    fn page(&self) -> Option<ProtocolPage> {
        None
    }

    /// On which side of its panel a workload stands.
    fn side(&self, _workload: &WorkloadPlan) -> PanelSide {
        PanelSide::Neither
    }

    /// The jobs of which another tool's report tells, in series of its part of a plan.
    fn accounted(&self, _plan: &Plan, _compat: CompatPlan) -> Vec<AccountedJob> {
        Vec::new()
    }

    /// What the reader of the report must be told of its part of a plan.
    fn notes(&self, _plan: &Plan) -> Vec<String> {
        Vec::new()
    }

    /// What shows that a promise to that workload was broken, in the protocol's own words, of the bytes that its verifier was handed; none
    /// where those are shown as they are.
    fn shown_evidence(&self, _workload: &WorkloadPlan, _bytes: &[u8]) -> Option<Value> {
        None
    }

    /// What figures of a report say together of its part of a plan, that none of them says alone.
    fn conclusions(&self, _plan: &Plan, _report: &Report) -> Vec<Conclusion> {
        Vec::new()
    }
}

/// A sentence about a whole report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Conclusion {
    /// It says why something is held against the run.
    Reason(Reason),
    /// The reader should know it.
    Note(String),
    /// Answers were held against what the plan says of them, and some were as it says.
    Expected,
}

/// The part of a run that is a protocol's: its services have been found, and its embedded targets run.
pub(crate) trait OpenProtocol {
    /// Every endpoint of its services, so that none is dialled that nobody allowed.
    fn endpoints(&self) -> Vec<Uri>;

    /// Those of its services that any HTTP request may be sent to; a plan may have none of them.
    fn services(&self) -> Vec<OpenService> {
        Vec::new()
    }

    /// Its services as they are asked whether they are ready: all of them, by the path that the plan says behind each URL.
    fn probed(&self) -> Vec<OpenService> {
        vec![OpenService { name: None, endpoints: self.endpoints() }]
    }

    /// Those of its services that calls of gRPC go to, and that may be asked before the run how they are: none that is embedded.
    fn called(&self) -> Vec<CalledService> {
        Vec::new()
    }

    /// Asks its services what they say of themselves before a run, once they are ready where the plan says when they are: of every run and
    /// fill, before anything else of it is made.
    ///
    /// # Errors
    /// When one does not say what workloads live by.
    fn describe(&mut self, _planned: &RunPlan<'_>) -> Result<(), CliError> {
        Ok(())
    }

    /// Its embedded targets, which the run's owner keeps from now on.
    fn take_labs(&mut self) -> Vec<Box<dyn Lab>>;

    /// The same services for another run of the plan that was opened: a fill has a run of its own, ahead of the measured one, and where
    /// embedded targets are kept each later run is one, of a plan that may differ in all but those. Embedded targets stay with whoever
    /// took them.
    ///
    /// # Errors
    /// When an observer's client cannot be made.
    fn reopened<'b>(&self, planned: &RunPlan<'b>) -> Result<Box<dyn OpenProtocol + 'b>, CliError>;

    /// Opens the corpus to which the lane of this workload, made next, adds what it gets accepted; empties it first where that is asked
    /// for. None where the workload's operations leave nothing that could be read back by a file.
    ///
    /// # Errors
    /// When the file cannot be written, or is no corpus.
    fn corpus(
        &mut self,
        _workload: &WorkloadPlan,
        _file: &Path,
        _is_emptied: bool,
    ) -> Result<Option<Box<dyn FillCorpus>>, PlanFault> {
        Ok(None)
    }

    /// One of its workloads, which has a section of this protocol, with its load.
    ///
    /// # Errors
    /// When the workload does not fit the services, or names what cannot be read.
    fn lane(&mut self, lane: LaneRequest<'_>) -> Result<Arc<dyn LanePlan<ThreadedRuntime>>, PlanError>;

    /// What is kept up beside the operations because they live by it, with series of its own.
    fn upkeep(&mut self) -> Vec<Arc<dyn LanePlan<ThreadedRuntime>>> {
        Vec::new()
    }

    /// What the reader of the report must be told of what was found, before the run.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Whether it will have observers. The names of observations are one space for a run, and an auditor of any protocol tells a
    /// `tree_size`: a plan in which two protocols observe is refused until their names are kept apart.
    fn observes(&self) -> bool {
        false
    }

    /// What an observation of that name is called in this run: under each of several targets it has a name of its own.
    fn observed(&self, observation: &str) -> Vec<String> {
        vec![observation.to_owned()]
    }

    /// What ends the arrivals whatever the plan says.
    fn stops(&self) -> Vec<StopRule> {
        Vec::new()
    }

    /// Which of its observations a report names first.
    fn headlines(&self) -> Vec<Headline> {
        Vec::new()
    }

    /// The files that its workloads write besides the report, once every lane is made.
    fn take_files(&mut self) -> Vec<Box<dyn RunFiles>> {
        Vec::new()
    }

    /// Who looks at its services beside the load, once every lane is made.
    ///
    /// # Errors
    /// When a client for that cannot be made.
    fn observers(self: Box<Self>) -> Result<Vec<Box<dyn Observer>>, PlanError> {
        Ok(Vec::new())
    }
}

/// A service that calls of gRPC go to.
pub(crate) struct CalledService {
    /// What the report calls it.
    pub(crate) name: &'static str,
    /// Where it is.
    pub(crate) endpoints: Vec<Uri>,
}

/// The corpus of a fill, while that is carried out.
pub(crate) trait FillCorpus {
    /// How many entries it had before.
    fn entries(&self) -> u64;

    /// The number that the next operation may have: none that ever filled it has it.
    fn first_seq(&self) -> u64;

    /// What the reader of the report must be told of what it had before.
    fn note(&self) -> Option<String>;

    /// Has all that was accepted written.
    ///
    /// # Errors
    /// When it cannot be.
    fn finish(self: Box<Self>) -> io::Result<WrittenCorpus>;
}

/// What a fill has written.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrittenCorpus {
    /// Entries that were added.
    pub(crate) added: u64,
    /// Entries for which there was no room on their way to the file, or of which nothing can be written.
    pub(crate) lost: u64,
    /// Entries that the service had before, and of which nothing can be written.
    pub(crate) known: u64,
    /// The last of them, in words.
    pub(crate) last: Option<String>,
}

/// Files that a run writes besides its report.
pub(crate) trait RunFiles {
    /// What is told of them once the run is over.
    ///
    /// # Errors
    /// The file that could not be written.
    fn finish(&self) -> Result<String, (PathBuf, io::Error)>;
}

/// A run that a plan asks for.
#[derive(Clone, Copy)]
pub(crate) struct RunPlan<'a> {
    /// The plan.
    pub(crate) plan: &'a Plan,
    /// The wall clock at the run's epoch, milliseconds since the Unix epoch.
    pub(crate) epoch_unix_ms: u64,
    /// The folder for what has to be shown to somebody who broke a promise.
    pub(crate) evidence: &'a Path,
    /// What earlier runs of the plan left in the target.
    pub(crate) earlier: &'a EarlierRuns,
    /// Whether its embedded targets have served an earlier run of the plan.
    pub(crate) is_kept: bool,
}
