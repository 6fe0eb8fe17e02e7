//! An ended run, for the assertions of a test.

use everstep_model::{Body, Location, Payload, RunId, RunStatus};

use super::case::{CaseResult, FinalState};
use super::plan::Plan;
use super::scenario::Scenario;
use super::subject::Simulated;
use crate::client::WaitError;
use crate::testing::journal::JournalView;

/// An ended run of a simulation. See [`simulate`](super::simulate).
pub struct SimulatedRun<'a, W, World = ()> {
    pub(super) case_result: &'a CaseResult,
    pub(super) final_state: &'a FinalState,
    pub(super) scenario: &'a Scenario,
    pub(super) plan: &'a Plan,
    pub(super) world: &'a World,
    pub(super) workflow: std::marker::PhantomData<fn() -> W>,
}

impl<W: Simulated, World> SimulatedRun<'_, W, World> {
    /// The output of the run, or why it has none.
    ///
    /// # Errors
    /// If the run did not complete.
    ///
    /// # Panics
    /// If its result is not an output of the workflow.
    #[track_caller]
    pub fn output(&self) -> Result<W::Output, &WaitError> {
        let decode = |payload: &Payload| match payload.decode() {
            Ok(output) => output,
            Err(error) => panic!("the result of the run does not match its type: {error}"),
        };
        self.final_state.result.as_ref().map(decode)
    }
}

impl<W, World> SimulatedRun<'_, W, World> {
    /// The final status of the run.
    #[must_use]
    pub fn status(&self) -> RunStatus {
        self.final_state.status
    }

    /// The external world of this case after the run.
    #[must_use]
    pub fn world(&self) -> &World {
        self.world
    }

    /// The number of attempts of a step over all processes. The step is named as in
    /// [`mock_step`](super::Simulation::mock_step); `rollback:charge` is the undo of `charge`.
    ///
    /// If a process crashes before a result is durable, no trace of the attempt is left, and the
    /// next process starts it again. So this is at most `recorded(step) + crashes()` for a step
    /// without siblings, and the external effects of the work must tolerate that.
    #[must_use]
    pub fn calls(&self, step: &str) -> u32 {
        self.case_result.mocks.calls(step)
    }

    /// The number of attempts of a step, named by its location or its name, that have a result or a
    /// failure in a journal.
    #[must_use]
    pub fn recorded(&self, step: &str) -> u32 {
        let entries = self.final_state.journals.values().flatten();
        let ended = entries.filter(|entry| match &entry.record.body {
            Body::StepCompleted(done) => is_step(&done.location, step),
            Body::StepFailed(failed) => is_step(&failed.location, step),
            _ => false,
        });
        u32::try_from(ended.count()).unwrap_or(u32::MAX)
    }

    /// The number of crashes.
    #[must_use]
    pub fn crashes(&self) -> u32 {
        u32::try_from(self.case_result.summary.crashes).unwrap_or(u32::MAX)
    }

    /// The journal of the run.
    #[must_use]
    pub fn journal(&self) -> JournalView {
        let journals = self.final_state.journals.iter();
        let own = journals.filter(|(id, _)| id.as_str() == self.scenario.id);
        JournalView::new(own.flat_map(|(_, journal)| journal.clone()).collect())
    }

    /// The journals of all runs, including children.
    #[must_use]
    pub fn journals(&self) -> Vec<(RunId, JournalView)> {
        let journals = self.final_state.journals.iter();
        let view =
            |(id, journal): (&RunId, &Vec<_>)| (id.clone(), JournalView::new(journal.clone()));
        journals.map(view).collect()
    }

    /// The name of the case as in `EVERSTEP_SEED`: a seed, `clean`, `before-3`, `after-3`.
    #[must_use]
    pub fn case(&self) -> String {
        self.plan.which.to_string()
    }

    /// The faults of the case.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let faults = self.plan.faults.iter();
        faults.map(|fault| fault.describe(self.scenario)).collect()
    }

    /// The timeline, line by line, in true time.
    #[must_use]
    pub fn timeline(&self) -> &[String] {
        self.case_result.timeline.lines()
    }
}

debug_by_name!(impl<W, World> SimulatedRun<'_, W, World>: plan.which);

/// Whether the text is the location or the name of a step.
fn is_step(location: &Location, step: &str) -> bool {
    location.name.as_str() == step || location.to_string() == step
}
