//! Builds a world, and opens the engines of its processes.

use std::sync::Arc;
use std::time::Duration;

use everstep::Engine;
use everstep_store::{BoxFuture, Clock as _};

use super::bus::SimBus;
use super::network::serve;
use super::process::Process;
use super::runtime::NodeRuntime;
use super::store::SimStore;
use super::world::{Programs, World};
use crate::plan::Plan;
use crate::stores::Stores;

/// Creates a world in which no process runs yet.
#[must_use]
pub(crate) fn build_world(
    plan: Plan,
    is_traced: bool,
    stores: &dyn Stores,
    programs: Arc<dyn Programs>,
) -> Arc<World> {
    World::new(plan, is_traced, stores, programs, boot)
}

fn boot(world: Arc<World>, process: Arc<Process>, seed: u64) -> BoxFuture<'static, ()> {
    Box::pin(open(world, process, seed))
}

/// Opens an engine. Tries again while the store is unreachable, as a supervisor of processes does.
async fn open(world: Arc<World>, process: Arc<Process>, seed: u64) {
    for attempt in 0.. {
        let seed = seed ^ (attempt << 40);
        let runtime = Arc::new(NodeRuntime::new(world.executor.clone(), &process, seed));
        world.log(&process.name, || {
            format!("starts, its clock shows {}", runtime.now())
        });
        let builder = Engine::on_store(Arc::new(SimStore::new(world.clone(), process.clone())))
            .bus(Arc::new(SimBus::new(world.clone(), process.clone())))
            .runtime(runtime)
            .settings(world.plan.settings.clone());
        let builder = match (&world.scenario, world.plan.served) {
            (Some((scenario, outside)), _) => scenario.define(builder, outside),
            (None, None) => builder.workflows(world.programs.workflows(&world, &process)),
            (None, Some(_)) => builder,
        };
        match builder.start().await {
            Ok(engine) => {
                let machine = process.machine.and_then(|index| world.machines.get(index));
                if let Some(machine) = machine {
                    let server = world.plan.served.map(|ttl| serve(&engine, ttl));
                    machine.opened(&process, engine, server);
                }
                return world.log(&process.name, || "is up".to_owned());
            }
            Err(error) => {
                world.log(&process.name, || format!("could not start: {error}"));
                world.sleep(Duration::from_millis(700)).await;
            }
        }
    }
}
