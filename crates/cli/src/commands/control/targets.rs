//! The runs that a control command applies to.

use clap::Args;
use everstep_model::Verb;

use crate::arguments::{RunFilter, values};
use crate::context::Context;
use crate::runs;
use crate::usage_error::UsageError;

#[derive(Args, Debug)]
pub(crate) struct Targets {
    /// IDs of the runs
    #[arg(value_name = "RUN", value_parser = values::run_id)]
    runs: Vec<String>,
    #[command(flatten)]
    filter: RunFilter,
    /// Apply to all runs
    #[arg(long, conflicts_with = "runs")]
    all: bool,
    /// Reason to record in the journal
    #[arg(long)]
    pub(super) reason: Option<String>,
    /// Only list the runs that would be affected
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Do not ask for confirmation on a terminal
    #[arg(long, short)]
    pub(super) yes: bool,
}

impl Targets {
    /// Whether the runs are named, and not selected by a filter or `--all`.
    pub(super) fn is_named(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Returns the ID if exactly one run is named.
    pub(super) fn single(&self) -> Option<&str> {
        match self.runs.as_slice() {
            [run] => Some(run),
            _ => None,
        }
    }

    /// Returns the ID of the only run, which `flag` requires.
    pub(super) fn exactly_one(&self, verb: Verb, flag: &str) -> Result<&str, UsageError> {
        self.single().ok_or_else(|| {
            UsageError::new(
                format!("`{flag}` requires exactly one run"),
                format!("everstep {verb} RUN {flag} OPERATION"),
            )
        })
    }

    /// Returns the IDs of the named or matching runs.
    pub(super) async fn ids(&self, verb: Verb, context: &Context) -> anyhow::Result<Vec<String>> {
        match (self.runs.is_empty(), self.filter.is_empty(), self.all) {
            (false, true, _) => Ok(self.runs.clone()),
            (true, false, _) | (true, true, true) => {
                let (runs, _) = runs::list(context, &self.filter, usize::MAX).await?;
                Ok(runs.into_iter().map(|run| run.id.to_string()).collect())
            }
            (true, true, false) => Err(UsageError::new(
                format!("no runs to {verb}"),
                format!(
                    "Name runs (everstep {verb} RUN…), filter them with --type, --status or --tag, or pass --all. \
                     --dry-run lists the affected runs."
                ),
            )
            .into()),
            (false, false, _) => Err(UsageError::new(
                "name runs or pass a filter, not both",
                format!("See `everstep {verb} --help`."),
            )
            .into()),
        }
    }
}
