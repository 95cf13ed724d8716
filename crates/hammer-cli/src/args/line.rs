//! What every command takes that makes a plan of one line.

use clap::Args;

use super::output::OutputArgs;

/// What is expected of what one line sends, and what becomes of its plan.
#[derive(Debug, Args)]
pub(crate) struct LineArgs {
    /// Expect this of the figures, as under `thresholds` of a plan ('p99(response) < 100ms', 'share(accepted) > 99%'); again for each
    /// further one
    #[arg(long = "threshold", value_name = "EXPECTATION")]
    pub(crate) thresholds: Vec<String>,
    /// Load ahead of the rest, whose figures do not count [default: none, but 3s of `sigstore mixed`]
    #[arg(long, value_name = "TIME")]
    pub(crate) warm_up: Option<String>,
    #[command(flatten)]
    pub(crate) end: LineEndArgs,
}

/// What becomes of the plan that a line stands for.
#[derive(Debug, Args)]
pub(crate) struct LineEndArgs {
    /// Print the plan that the line stands for, to grow in a file (`hammer run FILE`), and send nothing. Where reports go is said of a run but
    /// for --out and --events, which are in the plan
    #[arg(long)]
    pub(crate) print_plan: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
