//! The canonical workflows: each primitive and mixtures of them, with the requests of their clients and operators, and what must be
//! true in the end however often processes die on the way. Those who let processes die tell these stories: the tests of
//! `everstep` after every commit, the simulation at every call of store and bus.
//!
//! **The walk of one story.** A process opens an engine with [`Story::define`] and calls [`Story::tell`], which starts run `r`, makes
//! the requests and waits for the end. If the process dies, another one does the same from the beginning: runs are started
//! by id and events carry dedup ids, so nothing happens twice that must not. What the code does to the world is written down
//! in [`Outside`], which outlives every process. Whoever comes to the end compares: the result, the order of undos, and that
//! only what was in flight when a process died was done again. [`Story::replay`] replays a journal against the same code.

mod branches;
mod claims;
mod clients;
mod control;
mod outside;
mod plain;
mod sagas;
mod story;
mod talk;

pub use claims::Broken;
pub use outside::Outside;
pub use story::{Registry, Replaying, Story};

/// All of them.
pub const ALL: &[Story] = &[
    Story::of::<plain::StepsThatAreRetriedAndSleeps>(),
    Story::of::<plain::EarlyResultsAndFencedSteps>(),
    Story::of::<plain::ALoopThatForgetsItsPast>(),
    Story::of::<talk::EventsThatComeEarlyInBatchesAndWithAnAnswer>(),
    Story::of::<talk::AQuestionThatIsAnsweredTwice>(),
    Story::of::<talk::AMessageToAnotherRun>(),
    Story::of::<branches::JoinsWithinJoins>(),
    Story::of::<branches::ARaceOfAStepAnEventAndATimer>(),
    Story::of::<branches::ASwitchWhoseValueIsNotTheSameTwice>(),
    Story::of::<branches::ChildrenThatSucceedAndFail>(),
    Story::of::<sagas::ARollbackThroughALoopAndAJoin>(),
    Story::of::<sagas::ARollbackThroughChildren>(),
    Story::of::<sagas::ThePointOfNoReturnAndAnExplicitRollback>(),
    Story::of::<control::APauseAndAResume>(),
    Story::of::<control::ACancellationWithRollback>(),
    Story::of::<control::AStepThatIsSkippedARunThatIsRecoveredAndItsFork>(),
];

/// The one of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Story> {
    ALL.iter().find(|story| story.name == name)
}
