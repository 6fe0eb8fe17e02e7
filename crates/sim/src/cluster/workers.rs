//! Workers: processes that execute programs over the network. They crash, pause, leave in order,
//! and are restarted each time.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use everstep::{Settings, Worker};
use everstep_engine::simulation::Rng;

use super::network::SimTransport;
use super::process::Process;
use super::runtime::NodeRuntime;
use super::world::World;
use crate::plan::FaultKind;

/// The interval at which faults are decided.
const CHECK_EVERY: Duration = Duration::from_millis(700);

/// Keeps a worker running. Until the given time faults are injected into it.
pub async fn keep_worker(world: Arc<World>, number: usize, until: u64) {
    let mut rng = Rng::new(world.plan.seed, 90 + number as u64);
    for process_number in 1_u64.. {
        let name = format!("worker {number}.{process_number}");
        let offset = rng.any(&[0, 0, -3_600_000, 5_000, 3_600_000]);
        let process = Arc::new(Process {
            offset: Arc::new(AtomicI64::new(offset)),
            ..Process::new(name, world.executor.group())
        });
        let node = rng.below(world.machines.len() as u64) as usize;
        match start(&world, &process, node, &mut rng) {
            Ok(worker) => inject_faults(&world, &process, &worker, &mut rng, until).await,
            Err(error) => world.log(&process.name, || format!("could not start: {error}")),
        }
        world.executor.end(process.group);
        let down = rng.any(&[0, 100, 2_000, 8_000]);
        world.sleep(Duration::from_millis(down)).await;
    }
}

fn start(
    world: &Arc<World>,
    process: &Arc<Process>,
    node: usize,
    rng: &mut Rng,
) -> Result<Worker, everstep::errors::ConnectError> {
    world.log(&process.name, || format!("starts, with node {node}"));
    let runtime = NodeRuntime::new(world.executor.clone(), process, rng.number());
    let transport = SimTransport {
        world: world.clone(),
        worker: process.clone(),
        node,
    };
    let settings = Settings {
        development: world.plan.settings.development,
        shutdown_grace: world.plan.settings.shutdown_grace,
        ..Settings::default()
    };
    let builder = Worker::connect("http://node")
        .transport(Arc::new(transport))
        .runtime(Arc::new(runtime))
        .name(process.name.as_str())
        .settings(settings)
        .slots(rng.any(&[1, 2, 100]))
        .workflows(world.programs.workflows(world, process));
    builder.start()
}

/// Injects faults until the process has ended.
async fn inject_faults(
    world: &Arc<World>,
    process: &Arc<Process>,
    worker: &Worker,
    rng: &mut Rng,
    until: u64,
) {
    while process.is_alive(&world.executor) {
        world.sleep(CHECK_EVERY).await;
        if world.executor.now() >= until {
            continue;
        }
        if world.strikes(FaultKind::Pause, 100) {
            let ttl = world.plan.served.unwrap_or_default();
            let long = ttl.mul_f64(rng.any(&[0.5, 1.2, 3.0]));
            let long = long.min(Duration::from_micros(until - world.executor.now()));
            world.log(&process.name, || format!("PAUSED for {long:?}"));
            world.executor.freeze(process.group, true);
            world.sleep(long).await;
            world.executor.freeze(process.group, false);
        } else if world.strikes(FaultKind::Restart, 100) {
            world.log(&process.name, || "leaves".to_owned());
            leave(world, process, worker).await;
            return;
        }
    }
}

/// Shuts the worker down in its own process, which can crash meanwhile.
async fn leave(world: &Arc<World>, process: &Arc<Process>, worker: &Worker) {
    let (done, left) = tokio::sync::oneshot::channel();
    let worker = worker.clone();
    world.executor.spawn(process.group, async move {
        worker.shutdown().await;
        let _ = done.send(());
    });
    let _ = left.await;
}
