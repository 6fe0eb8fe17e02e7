//! Testing workflows: on a virtual clock, with mocked steps, crashes on demand, and recorded
//! journals.
//!
//! [`virtual_time`] runs a test whose clock moves only when everything waits, so a 30-day sleep
//! takes no time. Inside it, a [`TestEngine`] runs workflows like a real engine.
//!
//! ```
//! use everstep::testing::{Mock, TestEngine, virtual_time};
//! use everstep::{Ctx, Error, Result, Workflow, Workflows, days};
//!
//! struct Trial;
//! impl Workflow for Trial {
//!     const NAME: &'static str = "trial";
//!     type Input = String;
//!     type Output = u32;
//!     type Interface = ();
//!
//!     async fn run(&self, ctx: Ctx<Self>, customer: String) -> Result<u32> {
//!         ctx.sleep("trial", days(30)).await?;
//!         ctx.step("charge", || async { Err(Error::new(format!("no bank here for {customer}"))) }).await
//!     }
//! }
//!
//! virtual_time(async {
//!     let mut test = TestEngine::builder()
//!         .workflows(Workflows::new().workflow(Trial))
//!         .mock_step("charge", Mock::returns(&12))
//!         .start()
//!         .await;
//!     let run = test.start::<Trial>(&"ada".to_owned()).id("trial-1").await.unwrap();
//!     test.advance(days(10)).await;
//!     test.restart().await; // everything but the store is gone
//!     let run = test.run_of::<Trial>("trial-1").await.unwrap();
//!     assert_eq!(run.wait().await.unwrap(), 12);
//!     assert_eq!(test.calls("charge"), 1);
//!     test.journal(&run).await.assert_kinds(&[
//!         "created", "sleeping", "timer_fired", "step_started", "step_completed", "completed",
//!     ]);
//! });
//! ```
//!
//! [`simulate`] runs a workflow many times, with crashes at every commit, late and repeated events,
//! and clock jumps.
//!
//! [`replay_check`] replays a recorded journal against today's code, without side effects. It shows
//! before a deployment whether the new code fits the runs in progress.

mod builder;
mod difference;
mod earlier_records;
mod engine;
mod journal;
mod lines;
mod mock;
mod plug;
mod replay_check;
#[cfg(feature = "remote")]
mod served;
mod simulate;
mod virtual_time;
mod wait_limit;

pub use builder::TestEngineBuilder;
pub use engine::TestEngine;
pub use everstep_engine::simulation::VirtualRuntime;
pub use everstep_machine::Divergence;
pub use journal::{JournalView, StepLine};
pub use lines::{InvalidJournalText, journal_from_lines, journal_to_lines};
pub use mock::Mock;
pub use replay_check::{
    Recording, ReplayEnd, ReplayError, ReplayReport, replay_check, replay_check_function,
};
pub use simulate::{
    Intervention, PlainFunction, Simulated, SimulatedRun, Simulation, SimulationSummary, simulate,
    simulate_function, simulate_in,
};
pub use virtual_time::virtual_time;
