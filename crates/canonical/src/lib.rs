//! The canonical workflows: scenarios for each primitive and combinations of them, with the
//! requests of clients and operators, and assertions that hold however often processes crash. The
//! tests of `everstep` crash processes after every commit, the simulation at every call of store
//! and bus.
//!
//! **One scenario.** A process opens an engine with [`Scenario::define`] and calls
//! [`Scenario::drive`], which starts run `r`, sends the requests and waits for the end. After a
//! crash, another process repeats this from the beginning. Runs are started by ID and events have
//! deduplication IDs, so repeating them has no effect. Effects on the outside are recorded in
//! [`Outside`], which outlives every process. At the end the scenario checks the result, the order
//! of undos, and that only effects in flight during a crash were repeated. [`Scenario::replay`]
//! replays a journal against the same code.

mod assertions;
mod branches;
mod clients;
mod control;
mod outside;
mod plain;
mod sagas;
mod scenario;
mod talk;

pub use assertions::AssertionFailed;
pub use outside::Outside;
pub use scenario::{Registry, ReplayRegistry, Scenario};

/// All canonical workflows.
pub const ALL: &[Scenario] = &[
    Scenario::of::<plain::StepsThatAreRetriedAndSleeps>(),
    Scenario::of::<plain::EarlyResultsAndFencedSteps>(),
    Scenario::of::<plain::ALoopThatForgetsItsPast>(),
    Scenario::of::<talk::EventsThatComeEarlyInBatchesAndWithAnAnswer>(),
    Scenario::of::<talk::AQuestionThatIsAnsweredTwice>(),
    Scenario::of::<talk::AMessageToAnotherRun>(),
    Scenario::of::<branches::JoinsWithinJoins>(),
    Scenario::of::<branches::ARaceOfAStepAnEventAndATimer>(),
    Scenario::of::<branches::ASwitchWhoseValueIsNotTheSameTwice>(),
    Scenario::of::<branches::ChildrenThatSucceedAndFail>(),
    Scenario::of::<sagas::ARollbackThroughALoopAndAJoin>(),
    Scenario::of::<sagas::ARollbackThroughChildren>(),
    Scenario::of::<sagas::ThePointOfNoReturnAndAnExplicitRollback>(),
    Scenario::of::<control::APauseAndAResume>(),
    Scenario::of::<control::ACancellationWithRollback>(),
    Scenario::of::<control::AStepThatIsSkippedARunThatIsRecoveredAndItsFork>(),
];

/// Returns the canonical workflow with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Scenario> {
    ALL.iter().find(|scenario| scenario.name == name)
}
