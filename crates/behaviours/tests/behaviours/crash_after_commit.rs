//! The process crashes around every commit of a scenario, and another process continues.

use std::time::Duration;

use everstep::testing::virtual_time;
use everstep::{Engine, EngineBuilder};

use crate::planned_crash::{CrashCase, CrashPlan, Medium, Scene, run_case};

/// A scenario: what happens, and the checks at the end.
pub(crate) struct Scenario<Define, Drive> {
    /// Registers the workflows.
    pub(crate) define: Define,
    /// Drives the runs to their end and checks them. It starts again from the beginning after a
    /// crash, so it starts runs by id.
    pub(crate) drive: Drive,
    /// The downtime after the crash.
    pub(crate) downtime: Duration,
}

/// Runs a scenario on both stores: without a crash, and with a crash around each of its commits.
pub(crate) fn crash_after_every_commit<Define, Drive>(scenario: &Scenario<Define, Drive>)
where
    Define: Fn(EngineBuilder) -> EngineBuilder,
    Drive: AsyncFn(Engine),
{
    let case = CrashCase {
        define: &scenario.define,
        drive: async |scene: &Scene| (scenario.drive)(scene.engine.clone()).await,
        downtime: scenario.downtime,
    };
    for medium in Medium::all() {
        let commits = virtual_time(run_case(&case, medium, CrashPlan::Never));
        println!("{medium:?}: it takes {commits} commits");
        for plan in CrashPlan::around(commits) {
            println!("{plan:?}");
            virtual_time(run_case(&case, medium, plan));
        }
    }
}
