//! The clients of a simulation: their requests during the faults, and how all runs are brought to
//! an end afterwards.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use everstep::{Event as _, Payload, RunStatus};
use everstep_engine::simulation::Rng;
use everstep_store::{ListQuery, RunRow, Store as _};
use futures_util::FutureExt as _;

use super::requests::{Client, VERBS, is_paused};
use super::workflows::Item;
use crate::cluster::World;
use crate::observed::Violation;
use crate::program::{Op, program};

/// The run that collects events.
pub const COLLECTOR: &str = "collector";

/// Returns the programs of a seed, one for each run.
fn programs(world: &World) -> Vec<Vec<Op>> {
    let mut rng = Rng::new(world.plan.seed, 6);
    (0..world.plan.runs).map(|_| program(&mut rng)).collect()
}

/// Starts the collector, and retries until it succeeds.
pub async fn prepare(world: &Arc<World>) {
    for attempt in 0.. {
        let machine = attempt % world.machines.len().max(1);
        let answer = world
            .request(machine, |engine| async move {
                let start = engine.start_by_name("collector", Payload::null());
                start.id(COLLECTOR).await
            })
            .await;
        if matches!(answer, Some(Ok(_))) {
            return;
        }
        world.sleep(Duration::from_millis(300)).await;
    }
}

/// Makes the requests of one client until the given time.
pub async fn run_client(world: Arc<World>, number: usize, until: u64) {
    make_requests(world.clone(), number, until).await;
    world.busy_clients.fetch_sub(1, Ordering::Relaxed);
}

async fn make_requests(world: Arc<World>, number: usize, until: u64) {
    let programs = programs(&world);
    let mut client = Client {
        rng: Rng::new(world.plan.seed, 10 + number as u64),
        world: world.clone(),
        number,
        sent: 0,
    };
    let limit = world.plan.limits.requests.unwrap_or(u64::MAX);
    let is_gentle = Rng::new(world.plan.seed, 7).one_in(3);
    let mut started = 0;
    let mut requests = 0;
    while world.executor.now() < until && requests < limit {
        requests += 1;
        // There is little to wait for at first.
        let pause = if requests < 4 { 1..600 } else { 1..6_000 };
        let pause = client.rng.within(pause);
        world.sleep(Duration::from_millis(pause)).await;
        let index = client.rng.index(programs.len());
        let run = format!("run-{index}");
        match client.rng.below(30) {
            0..=6 => {
                let is_new = started < programs.len();
                let index = if is_new { started } else { index };
                started += 1;
                start(&mut client, &programs, index).await;
            }
            7..=11 => client.send(run).await,
            12..=15 => client.send_once(COLLECTOR).await,
            16 | 17 => client.answer(run).await,
            18 | 19 => client.wait(run).await,
            20 => client.read(run).await,
            21 => client.start_twice(index as u64).await,
            22 => {
                let pauses = client.rng.one_in(2);
                let verb = if pauses { "pause" } else { "resume" };
                client.control(run, verb, String::new()).await;
            }
            _ if is_gentle => client.send(run).await,
            _ => {
                let verb = client.rng.any(VERBS);
                let fork = format!("fork-{number}-{requests}");
                client.control(run, verb, fork).await;
            }
        }
    }
}

/// Most clients start a run with the same input, some with another one. A deleted run is started
/// again.
async fn start(client: &mut Client, programs: &[Vec<Op>], index: usize) {
    let Some(own) = programs.get(index) else {
        return;
    };
    let run = format!("run-{index}");
    let other = client.rng.one_in(8);
    let program = if other { vec![Op::Note] } else { own.clone() };
    client.start(run, program).await;
}

/// Returns all runs, read from the store without an engine.
pub(crate) fn rows(world: &World) -> Vec<RunRow> {
    let query = ListQuery {
        limit: 1_000,
        ..ListQuery::default()
    };
    let page = world.store.list(query).now_or_never();
    page.and_then(Result::ok)
        .map(|page| page.rows)
        .unwrap_or_default()
}

/// Brings all runs to an end after the faults: resumes paused runs, then ends the collector.
pub async fn finish(world: Arc<World>) {
    while world.busy_clients.load(Ordering::Relaxed) > 0 {
        world.sleep(Duration::from_secs(1)).await;
    }
    // Requests that the client has given up may still be in progress.
    world.sleep(Duration::from_secs(5)).await;
    let mut machine = 0;
    loop {
        world.sleep(Duration::from_millis(1_500)).await;
        let mut is_over = true;
        let mut collector_is_paused = false;
        for row in rows(&world) {
            if row.status == RunStatus::Diverged {
                let what = format!("{} diverged, and its code never changed", row.id);
                return world.violated(Violation::of(12, what));
            }
            let is_collector = row.id.as_str() == COLLECTOR;
            is_over &= is_collector || row.status.is_terminal();
            if is_paused(row.status) {
                collector_is_paused |= is_collector;
                machine = (machine + 1) % world.machines.len().max(1);
                let id = row.id.to_string();
                world
                    .request(machine, |engine| async move {
                        let handle = engine.run(id).await?;
                        handle.resume().await
                    })
                    .await;
            }
        }
        if is_over && !collector_is_paused && world.outbox_is_empty() {
            break;
        }
    }
    let enough = Payload::from_value(&Item(None));
    let Ok(enough) = enough else { return };
    for machine in 0.. {
        let enough = enough.clone();
        let answer = world
            .request(machine % world.machines.len().max(1), |engine| async move {
                let handle = engine.run(COLLECTOR).await?;
                handle
                    .send_by_name(Item::NAME, enough, Some("enough".to_owned()))
                    .await
            })
            .await;
        if matches!(answer, Some(Ok(_))) {
            break;
        }
        world.sleep(Duration::from_millis(500)).await;
    }
    loop {
        world.sleep(Duration::from_millis(500)).await;
        if rows(&world).iter().all(|row| row.status.is_terminal()) {
            return;
        }
    }
}

impl World {
    /// Whether all effects of runs on other runs have been delivered.
    fn outbox_is_empty(&self) -> bool {
        let rows = self.store.outbox(None, 1).now_or_never();
        rows.is_some_and(|rows| rows.is_ok_and(|rows| rows.is_empty()))
    }
}

/// Returns the runs that have not ended, with their statuses.
pub(crate) fn unfinished(world: &World) -> Vec<String> {
    let open = rows(world)
        .into_iter()
        .filter(|row| !row.status.is_terminal());
    open.map(|row| format!("{} is {}", row.id, row.status))
        .collect()
}
