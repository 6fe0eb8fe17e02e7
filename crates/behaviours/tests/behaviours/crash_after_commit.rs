//! The process dies around every commit of a story, and the story goes on with another process.

use std::time::Duration;

use everstep::testing::virtual_time;
use everstep::{Engine, EngineBuilder};

use crate::death::{CrashCase, Death, Medium, Scene, tell};

/// What happens, and what must be true in the end.
pub(crate) struct Story<Define, Tell> {
    /// Registers the workflows.
    pub(crate) define: Define,
    /// Drives the runs to their end and checks them. It is told again from the beginning after the process died, so it
    /// starts runs by id.
    pub(crate) tell: Tell,
    /// How long the machine is down after the process died.
    pub(crate) downtime: Duration,
}

/// Tells a story on both stores: undisturbed, and with the process dying around each of its commits in turn.
pub(crate) fn die_after_every_commit<Define, Tell>(story: &Story<Define, Tell>)
where
    Define: Fn(EngineBuilder) -> EngineBuilder,
    Tell: AsyncFn(Engine),
{
    let tale = CrashCase {
        define: &story.define,
        tell: async |scene: &Scene| (story.tell)(scene.engine.clone()).await,
        downtime: story.downtime,
    };
    for medium in Medium::all() {
        let commits = virtual_time(tell(&tale, medium, Death::Never));
        println!("{medium:?}: it takes {commits} commits");
        for death in Death::around(commits) {
            println!("{death:?}");
            virtual_time(tell(&tale, medium, death));
        }
    }
}
