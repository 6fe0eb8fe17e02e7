//! The actions of operators on a simulated run.

use everstep_model::{RunStatus, StepStatus};

use super::agenda::Task;
use super::case::{Case, Progress};
use super::case_failure::CaseFailure;
use super::drive::refused;
use super::intervention::{Intervention, Planned};
use crate::client::{ControlError, RunHandle};
use crate::control::Done;
use crate::engine::Engine;

impl Case<'_> {
    pub(super) async fn intervene(
        &self,
        engine: &Engine,
        progress: &mut Progress,
        planned: Planned,
    ) -> Result<(), CaseFailure> {
        let run = engine.run(&self.scenario.id).await.map_err(refused)?;
        if planned.what == Intervention::Pause {
            let resumed_at = self.observer.elapsed() + planned.pause;
            progress.agenda.add(resumed_at, Task::Resume);
        }
        let what = match control(&run, planned).await {
            Ok(Some(done)) => {
                self.observer.count(|summary| summary.interventions += 1);
                done.to_string()
            }
            Ok(None) => "there is none".to_owned(),
            Err(error) => format!("refused: {error}"),
        };
        let line = format!("an operator {}: {what}", planned.what);
        self.observer.write(&line);
        Ok(())
    }

    pub(super) async fn resume(&self, engine: &Engine) -> Result<(), CaseFailure> {
        let run = engine.run(&self.scenario.id).await.map_err(refused)?;
        let what = match run.resume().await {
            Ok(done) => done.to_string(),
            Err(error) => format!("refused: {error}"),
        };
        self.observer.write(&format!("the run is resumed: {what}"));
        Ok(())
    }
}

/// Makes the request. Returns `None` if there is no step for it.
async fn control(run: &RunHandle, planned: Planned) -> Result<Option<Done>, ControlError> {
    let is_open = |status: StepStatus| matches!(status, StepStatus::Running | StepStatus::Retrying);
    let done = match planned.what {
        Intervention::Cancel => run.cancel().await?,
        Intervention::ForceFail => run.force_fail("an operator made it fail").await?,
        Intervention::Pause => run.pause().await?,
        Intervention::Recover => run.recover().await?,
        Intervention::RetryRollback => run.retry_rollback().await?,
        Intervention::SkipStep => match pick_step(run, planned.pick, is_open).await? {
            Some(step) => run.skip_step(step).await?,
            None => return Ok(None),
        },
        Intervention::FailStep => match pick_step(run, planned.pick, is_open).await? {
            Some(step) => run.fail_operation(step, "an operator made it fail").await?,
            None => return Ok(None),
        },
        Intervention::Restart => match pick_step(run, planned.pick, |_| true).await? {
            Some(step) => run.restart_from(step).await?,
            None => return Ok(None),
        },
    };
    Ok(Some(done))
}

async fn pick_step(
    run: &RunHandle,
    pick: u64,
    is_wanted: fn(StepStatus) -> bool,
) -> Result<Option<String>, ControlError> {
    let overview = run.inspect().await?.overview;
    if overview.end == Some(RunStatus::Terminated) {
        return Ok(None);
    }
    let steps = overview.steps.iter();
    let wanted: Vec<String> = steps
        .filter(|step| is_wanted(step.status))
        .map(|step| step.location.to_string())
        .collect();
    let index = usize::try_from(pick).unwrap_or_default() % wanted.len().max(1);
    Ok(wanted.get(index).cloned())
}
