//! How each run ended: the rows of the final table.

use everstep::{RunHandle, RunInfo, RunStatus, StepStatus};

use super::story::lasting;

/// One run.
#[derive(Debug)]
pub(super) struct Row {
    info: RunInfo,
}

/// The rows of all runs.
pub(super) async fn of(runs: impl Iterator<Item = &RunHandle>) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for run in runs {
        let info = run.inspect().await?;
        rows.push(Row { info });
    }
    Ok(rows)
}

impl Row {
    pub(super) fn is_completed(&self) -> bool {
        self.info.row.status == RunStatus::Completed
    }

    /// Run, workflow, status, steps and duration.
    pub(super) fn cells(&self) -> [String; 5] {
        let (row, overview) = (&self.info.row, &self.info.overview);
        let completed = overview
            .steps
            .iter()
            .filter(|step| step.status == StepStatus::Completed);
        let end = overview.completed_at.or(overview.updated_at);
        [
            row.id.to_string(),
            row.workflow.to_string(),
            row.status.to_string(),
            completed.count().to_string(),
            end.map_or_else(String::new, |end| lasting(row.created_at.until(end))),
        ]
    }
}
