//! How each run ended: the rows of the final table.

use std::time::Duration;

use everstep::{RunHandle, RunInfo, RunStatus, StepStatus};

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

/// A duration as people say it.
fn lasting(duration: Duration) -> String {
    let millis = duration.as_millis();
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", duration.as_secs_f64()),
        60_000..3_600_000 => format!("{} min", millis / 60_000),
        3_600_000..86_400_000 => format!("{} h", millis / 3_600_000),
        _ => format!("{} days", millis / 86_400_000),
    }
}
