//! Verbs of several commits with a crash after each commit: another process takes over, and
//! repeating the request completes it. Without a repetition the run continues or has ended, and is
//! never left without an executor.

use std::sync::{Arc, Mutex};

use everstep::control::{Control, ControlError};
use everstep::journal::Generation;
use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{
    AnyEvent, Ctx, Engine, ErrorCode, Result, RunHandle, RunStatus, Settings, Workflows, millis,
    minutes, secs,
};
use everstep_store::{LocalBus, MemoryStore, Store};
use everstep_store_testkit::{Fault, Faulty};

use crate::control_support::slow;
use crate::support::{json, output};

/// A store whose calls of `commit` hang after a number of commits, once that number is set.
fn stopping(store: MemoryStore) -> (Arc<Faulty>, Arc<Mutex<Option<u32>>>) {
    let left: Arc<Mutex<Option<u32>>> = Arc::default();
    let commits = left.clone();
    let schedule = move |_| match &mut *commits.lock().unwrap() {
        None => Fault::None,
        Some(0) => Fault::HangBefore,
        Some(left) => {
            *left -= 1;
            Fault::None
        }
    };
    (Arc::new(Faulty::new(store, schedule)), left)
}

async fn code(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let a: u32 = ctx.step("a", || slow(10, 1)).await?;
    let b: u32 = ctx.step("b", || slow(100, 2)).await?;
    ctx.sleep("nap", millis(100)).await?;
    Ok(a + b)
}

async fn boot(process: &Arc<VirtualRuntime>, store: Arc<dyn Store>) -> Engine {
    Engine::on_store(store)
        .bus(Arc::new(LocalBus::new()))
        .runtime(process.clone())
        .settings(Settings {
            lease_ttl: millis(300),
            sweep_interval: millis(200),
            ..Settings::default()
        })
        .workflows(Workflows::new().function("w", code))
        .start()
        .await
        .unwrap()
}

#[derive(Clone, Copy, Debug)]
enum Requested {
    Control(Control),
    RestartFrom,
    Skip,
}

async fn send(run: &RunHandle, requested: Requested) -> std::result::Result<(), ControlError> {
    match requested {
        Requested::Control(Control::Pause) => run.pause().await.map(drop),
        Requested::Control(Control::Cancel { .. }) => run.cancel().keep().await.map(drop),
        Requested::Control(Control::Terminate) => run.terminate().await.map(drop),
        Requested::Control(Control::Restart) => run.restart().await.map(drop),
        Requested::Control(Control::Delete) => run.delete().await.map(drop),
        Requested::Control(other) => panic!("{other:?}"),
        Requested::RestartFrom => run.restart_from("b").await.map(drop),
        Requested::Skip => run.skip_step("b").result(&20).await.map(drop),
    }
}

/// Starts a run, sends a request in a process that stops after `commits` more, and takes over in
/// another. Returns whether the request completed, and the engine of the second process.
async fn interrupt(requested: Requested, commits: u32) -> (bool, Engine) {
    let process = Arc::new(VirtualRuntime::new(1));
    let memory = MemoryStore::new(process.clone());
    let (store, left) = stopping(memory.clone());
    let engine = boot(&process, store).await;
    let run = engine.start_by_name("w", json(&())).id("r").await.unwrap();
    tokio::time::sleep(millis(50)).await;
    *left.lock().unwrap() = Some(commits);
    let done = tokio::time::timeout(millis(50), send(&run, requested)).await;
    process.crash().await;
    let next = Arc::new(process.successor());
    (done.is_ok(), boot(&next, Arc::new(memory)).await)
}

fn at_every_commit(requested: Requested, check: impl AsyncFn(&Engine)) {
    for commits in 0..20 {
        let finished = virtual_time(async {
            let (finished, engine) = interrupt(requested, commits).await;
            check(&engine).await;
            engine.shutdown().await;
            finished
        });
        if finished {
            assert!(commits > 0, "nothing was interrupted");
            return;
        }
    }
    panic!("{requested:?} never completed");
}

/// Checks that without a repetition the run continues, has ended, or is paused as requested.
fn leaves_no_orphan(requested: Requested) {
    at_every_commit(requested, async |engine| {
        tokio::time::sleep(minutes(2)).await;
        let Ok(run) = engine.run("r").await else {
            return; // deleted
        };
        let status = run.status().await.unwrap();
        let rests = status.is_terminal() || status == RunStatus::Paused;
        assert!(rests, "{requested:?}: {}", run.why().await.unwrap());
    });
}

const VERBS: [Requested; 7] = [
    Requested::Control(Control::Pause),
    Requested::Control(Control::Cancel { rollback: false }),
    Requested::Control(Control::Terminate),
    Requested::Control(Control::Restart),
    Requested::Control(Control::Delete),
    Requested::RestartFrom,
    Requested::Skip,
];

// B158, B172
#[test]
fn an_interrupted_verb_leaves_no_run_without_an_executor() {
    VERBS.into_iter().for_each(leaves_no_orphan);
}

// B149, B156
#[test]
fn an_interrupted_end_of_a_run_can_be_repeated() {
    for (control, end) in [
        (Control::Terminate, RunStatus::Terminated),
        (Control::Cancel { rollback: false }, RunStatus::Cancelled),
    ] {
        at_every_commit(Requested::Control(control), async |engine| {
            let run = engine.run("r").await.unwrap();
            send(&run, Requested::Control(control)).await.unwrap();
            let ended = tokio::time::timeout(secs(60), run.wait_json()).await;
            assert!(ended.is_ok());
            assert_eq!(run.status().await.unwrap(), end);
        });
    }
}

// B150, B151
#[test]
fn an_interrupted_restart_can_be_repeated() {
    for requested in [Requested::Control(Control::Restart), Requested::RestartFrom] {
        at_every_commit(requested, async |engine| {
            let run = engine.run("r").await.unwrap();
            match send(&run, requested).await {
                Ok(()) => {}
                // The step was done, and the new generation has not reached it yet.
                Err(error) if error.code() == ErrorCode::UnknownOperation => {
                    assert_eq!(run.generation().await.unwrap(), Generation(2));
                }
                Err(error) => panic!("{error}"),
            }
            assert_eq!(output::<u32>(&run).await, 3);
            assert!(run.generation().await.unwrap() >= Generation(2));
            assert_eq!(engine.list().await.unwrap().runs.len(), 1);
        });
    }
}

// B153
#[test]
fn an_interrupted_deletion_can_be_repeated() {
    at_every_commit(Requested::Control(Control::Delete), async |engine| {
        if let Ok(run) = engine.run("r").await {
            send(&run, Requested::Control(Control::Delete))
                .await
                .unwrap();
        }
        let gone = engine.run("r").await.unwrap_err();
        assert_eq!(gone.code(), ErrorCode::UnknownRun);
        assert!(engine.list().await.unwrap().runs.is_empty());
    });
}

// B183
#[test]
fn a_skipped_step_stays_skipped_or_runs() {
    at_every_commit(Requested::Skip, async |engine| {
        let run = engine.run("r").await.unwrap();
        let result = output::<u32>(&run).await;
        let journal = run.journal().await.unwrap();
        let mut kinds = journal.iter().map(|entry| entry.record.body.type_name());
        let skipped = kinds.any(|kind| kind == "step_skipped");
        assert_eq!(result, if skipped { 21 } else { 3 });
    });
}
