//! Plans that are carried out by turns, so that what changes with time changes for each of them.

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::{env, fs, io};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use super::seeds::PlanSeeds;
use crate::args::{ChangeArgs, CompareArgs, PlanArgs};
use crate::assemble::check;
use crate::error::{CliError, StartError, UsageError};
use crate::plan::sweep::{self, PlannedRun};
use crate::plan::{Plan, read};
use crate::protocol::registry::Registry;
use crate::signals::EndSignals;

/// The reports of plans, for each plan those of its runs.
pub(super) struct Rounds {
    pub(super) reports: Vec<Vec<PathBuf>>,
    folder: PathBuf,
    /// Goes with them, where nobody keeps them.
    temporary: Option<TempDir>,
}

impl Rounds {
    /// Carries each plan out in every round, each run in a process of its own, which starts as cold as any other. Every other round is in the reverse order.
    pub(super) fn carried_out(args: &CompareArgs, registry: &Registry) -> Result<Self, CliError> {
        let plans = args.run.iter().map(|plan| check_plan(plan, registry));
        let plans = plans.collect::<Result<Vec<Plan>, CliError>>()?;
        expect_series(args, &plans)?;
        let seeds: Vec<PlanSeeds> = plans.iter().map(PlanSeeds::of).collect();
        let runtime = Builder::new_current_thread().enable_all().build().map_err(StartError::Runtime)?;
        let mut signals = runtime.block_on(async { EndSignals::listen() }).map_err(StartError::Signals)?;
        let (folder, temporary) = folder(args.keep.as_deref())?;
        let mut rounds = Self { reports: vec![Vec::new(); args.run.len()], folder, temporary };
        match rounds.carry_out_all(args, &seeds, (&runtime, &mut signals)) {
            Ok(()) => Ok(rounds),
            Err(error) => Err(rounds.cut_short(error)),
        }
    }

    fn carry_out_all(
        &mut self,
        args: &CompareArgs,
        seeds: &[PlanSeeds],
        (runtime, signals): (&Runtime, &mut EndSignals),
    ) -> Result<(), CliError> {
        for round in 1..=args.rounds {
            let mut places: Vec<usize> = (0..args.run.len()).collect();
            if round % 2 == 0 {
                places.reverse();
            }
            for place in places {
                let report = self.folder.join(format!("{}-{round}.json", super::letter(place)));
                let changes = if args.same_seed { Vec::new() } else { seeds[place].of_round(round) };
                carry_out((&args.run[place], &changes), &report, (runtime, signals))?;
                self.reports[place].push(report);
            }
        }
        Ok(())
    }

    /// What ended the runs, with where the reports of those before are.
    fn cut_short(self, error: CliError) -> CliError {
        match error {
            error if self.reports.iter().all(Vec::is_empty) => error,
            CliError::Usage(why) => self.kept(why).into(),
            CliError::Interrupted => CliError::InterruptedRounds(self.kept_folder()),
            error => error,
        }
    }

    /// What came of the load is worth more than a mistake in what was asked of it: the reports stay where they are.
    pub(super) fn kept(self, why: UsageError) -> UsageError {
        UsageError::Kept { why: Box::new(why), folder: self.kept_folder() }
    }

    fn kept_folder(self) -> PathBuf {
        self.temporary.map_or(self.folder, TempDir::keep)
    }
}

/// The plan, of which nothing is wrong: before any other is carried out.
fn check_plan(path: &Path, registry: &Registry) -> Result<Plan, CliError> {
    let args = PlanArgs { plan: path.to_owned(), changes: ChangeArgs::default() };
    let planned = read::plan(&args, registry.grammar())?;
    let runs = sweep::runs(&planned, registry.grammar())?;
    for PlannedRun { plan, .. } in &runs {
        check(registry, &plan.plan).map_err(|error| error.placed(&plan.source))?;
    }
    if runs.len() == 1 {
        Ok(planned.plan)
    } else {
        Err(UsageError::SeveralRuns { plan: path.to_owned() }.into())
    }
}

/// Whether each plan has the workload of the series that the verdict should go by.
fn expect_series(args: &CompareArgs, plans: &[Plan]) -> Result<(), UsageError> {
    let Some((workload, _)) = args.series.as_ref().and_then(|path| path.split_once('/')) else {
        return Ok(());
    };
    let lacks = |plan: &Plan| !plan.workloads.iter().any(|own| own.name.to_string() == workload);
    match args.run.iter().zip(plans).find(|(_, plan)| lacks(plan)) {
        Some((path, _)) => Err(UsageError::NoWorkload { plan: path.clone(), workload: workload.to_owned() }),
        None => Ok(()),
    }
}

fn folder(kept: Option<&Path>) -> Result<(PathBuf, Option<TempDir>), UsageError> {
    let Some(kept) = kept else {
        let made = TempDir::new().map_err(|source| UsageError::Folder { path: env::temp_dir(), source })?;
        return Ok((made.path().to_owned(), Some(made)));
    };
    let unusable = |source| UsageError::Folder { path: kept.to_owned(), source };
    fs::create_dir_all(kept).map_err(unusable)?;
    // Reports of another comparison would be taken for some of this one.
    match fs::read_dir(kept).map_err(unusable)?.next() {
        None => Ok((kept.to_owned(), None)),
        Some(_) => Err(unusable(io::ErrorKind::DirectoryNotEmpty.into())),
    }
}

/// One run of a plan that is changed so, whose text is not shown: what is said against it stands in its report.
fn carry_out(
    (plan, changes): (&Path, &[String]),
    report: &Path,
    (runtime, signals): (&Runtime, &mut EndSignals),
) -> Result<(), CliError> {
    let unstarted = |source| UsageError::Program { source };
    let mut run = Command::new(env::current_exe().map_err(unstarted)?);
    run.arg("run").arg(plan).arg("--out").arg(report).arg("--quiet");
    run.args(changes.iter().flat_map(|change| ["--set", change]));
    // In a group of its own, so that a terminal signals it through here alone.
    run.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    let (ended, is_asked) = runtime.block_on(waited_for(run, signals)).map_err(unstarted)?;
    match (ended.code(), ended.signal()) {
        _ if is_asked => Err(CliError::Interrupted),
        (Some(130), _) => Err(CliError::Interrupted),
        (Some(_), _) if report.exists() => Ok(()),
        (Some(code), _) => {
            // What a server was told before, as roots of chains and devices, follows from the seed.
            let changes = match changes {
                [] => String::new(),
                changes => format!(" with {} (--same-seed keeps the plan's)", changes.join(", ")),
            };
            Err(UsageError::NoReport { plan: plan.to_owned(), changes, code }.into())
        }
        (None, signal) => {
            Err(UsageError::Killed { plan: plan.to_owned(), signal: signal.unwrap_or_default() }.into())
        }
    }
}

/// Waits for the end of a run, and hands it each signal that asks for an end: it answers them as any run does. Says as well whether one came.
async fn waited_for(mut run: Command, signals: &mut EndSignals) -> io::Result<(ExitStatus, bool)> {
    let mut child = run.spawn()?;
    // Nobody else waits for it, so that the id stays its own until `ended` is there.
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let mut ended = tokio::task::spawn_blocking(move || child.wait());
    let mut is_asked = false;
    loop {
        tokio::select! {
            status = &mut ended => return Ok((status.map_err(io::Error::other)??, is_asked)),
            () = signals.arrived() => {
                is_asked = true;
                if let Some(id) = id {
                    // What has ended in between needs no signal.
                    let _ = kill_process(id, Signal::TERM);
                }
            }
        }
    }
}
