//! A run that is over, as a test's assertions see it.

use everstep_model::{Body, Location, Payload, RunId, RunStatus};

use super::case::{Played, Remains};
use super::plan::Plan;
use super::scenario::Scenario;
use super::subject::Simulated;
use crate::client::WaitError;
use crate::testing::journal::JournalView;

/// A run of a simulation that is over, and what is left of it. See [`simulate`](super::simulate).
pub struct SimulatedRun<'a, W, World = ()> {
    pub(super) played: &'a Played,
    pub(super) remains: &'a Remains,
    pub(super) scenario: &'a Scenario,
    pub(super) plan: &'a Plan,
    pub(super) world: &'a World,
    pub(super) workflow: std::marker::PhantomData<fn() -> W>,
}

impl<W: Simulated, World> SimulatedRun<'_, W, World> {
    /// What it returned, or why it did not.
    ///
    /// # Errors
    /// If it ended otherwise than with a result.
    ///
    /// # Panics
    /// If its result is not an output of the workflow.
    #[track_caller]
    pub fn output(&self) -> Result<W::Output, &WaitError> {
        let decode = |payload: &Payload| match payload.decode() {
            Ok(output) => output,
            Err(error) => panic!("the result of the run does not fit its type: {error}"),
        };
        self.remains.result.as_ref().map(decode)
    }
}

impl<W, World> SimulatedRun<'_, W, World> {
    /// How it ended.
    #[must_use]
    pub fn status(&self) -> RunStatus {
        self.remains.status
    }

    /// The world of this case, as the run left it.
    #[must_use]
    pub fn world(&self) -> &World {
        self.world
    }

    /// How often the work of a step was begun, over all processes, named as in
    /// [`mock_step`](super::Simulation::mock_step). `rollback:charge` is what undoes `charge`.
    ///
    /// A process that dies before a result is durable leaves no trace of the attempt, and the next one begins it anew. So this
    /// is at most `recorded(step) + crashes()` for a step without siblings, and what the work does outside must bear
    /// that.
    #[must_use]
    pub fn calls(&self, step: &str) -> u32 {
        self.played.mocks.calls(step)
    }

    /// How many attempts of a step have a result or a failure in a journal, named by its place or its name.
    #[must_use]
    pub fn recorded(&self, step: &str) -> u32 {
        let entries = self.remains.journals.values().flatten();
        let ended = entries.filter(|entry| match &entry.record.body {
            Body::StepCompleted(done) => is_step(&done.location, step),
            Body::StepFailed(failed) => is_step(&failed.location, step),
            _ => false,
        });
        u32::try_from(ended.count()).unwrap_or(u32::MAX)
    }

    /// How often a process died.
    #[must_use]
    pub fn crashes(&self) -> u32 {
        u32::try_from(self.played.summary.crashes).unwrap_or(u32::MAX)
    }

    /// Its journal.
    #[must_use]
    pub fn journal(&self) -> JournalView {
        let journals = self.remains.journals.iter();
        let own = journals.filter(|(id, _)| id.as_str() == self.scenario.id);
        JournalView::new(own.flat_map(|(_, journal)| journal.clone()).collect())
    }

    /// The journals of all runs, also those of its children.
    #[must_use]
    pub fn journals(&self) -> Vec<(RunId, JournalView)> {
        let journals = self.remains.journals.iter();
        let view =
            |(id, journal): (&RunId, &Vec<_>)| (id.clone(), JournalView::new(journal.clone()));
        journals.map(view).collect()
    }

    /// Which case this is, as `EVERSTEP_SEED` names it: a seed, `clean`, `before-3`, `after-3`.
    #[must_use]
    pub fn case(&self) -> String {
        self.plan.which.to_string()
    }

    /// What went wrong on purpose.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let faults = self.plan.faults.iter();
        faults.map(|fault| fault.describe(self.scenario)).collect()
    }

    /// Everything that happened, line by line, in true time.
    #[must_use]
    pub fn timeline(&self) -> &[String] {
        self.played.timeline.lines()
    }
}

impl<W, World> std::fmt::Debug for SimulatedRun<'_, W, World> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SimulatedRun({})", self.plan.which)
    }
}

/// Whether a step is meant by this: its place, or its name alone.
fn is_step(location: &Location, step: &str) -> bool {
    location.name.as_str() == step || location.to_string() == step
}
