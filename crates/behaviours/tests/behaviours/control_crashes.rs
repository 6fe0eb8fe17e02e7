//! Verbs of several commits, cut short after each: the process dies, another takes over, and asking again does the rest.
//! Nobody asking again leaves a run that goes on or is over, never one that nobody executes.

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

/// A store whose calls of `commit` hang after so many, once the number is set.
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
enum Asked {
    Control(Control),
    RestartFrom,
    Skip,
}

async fn ask(run: &RunHandle, asked: Asked) -> std::result::Result<(), ControlError> {
    match asked {
        Asked::Control(Control::Pause) => run.pause().await.map(drop),
        Asked::Control(Control::Cancel { .. }) => run.cancel().keep().await.map(drop),
        Asked::Control(Control::Terminate) => run.terminate().await.map(drop),
        Asked::Control(Control::Restart) => run.restart().await.map(drop),
        Asked::Control(Control::Delete) => run.delete().await.map(drop),
        Asked::Control(other) => panic!("{other:?}"),
        Asked::RestartFrom => run.restart_from("b").await.map(drop),
        Asked::Skip => run.skip_step("b").result(&20).await.map(drop),
    }
}

/// Starts a run, asks for something in a process that stops after `commits` more, and takes over in another.
/// Whether the first process came to its end, and the second one's engine.
async fn cut_short(asked: Asked, commits: u32) -> (bool, Engine) {
    let process = Arc::new(VirtualRuntime::new(1));
    let memory = MemoryStore::new(process.clone());
    let (store, left) = stopping(memory.clone());
    let engine = boot(&process, store).await;
    let run = engine.start_by_name("w", json(&())).id("r").await.unwrap();
    tokio::time::sleep(millis(50)).await;
    *left.lock().unwrap() = Some(commits);
    let done = tokio::time::timeout(millis(50), ask(&run, asked)).await;
    process.crash().await;
    let next = Arc::new(process.successor());
    (done.is_ok(), boot(&next, Arc::new(memory)).await)
}

fn at_every_commit(asked: Asked, check: impl AsyncFn(&Engine)) {
    for commits in 0..20 {
        let finished = virtual_time(async {
            let (finished, engine) = cut_short(asked, commits).await;
            check(&engine).await;
            engine.shutdown().await;
            finished
        });
        if finished {
            assert!(commits > 0, "nothing was ever cut short");
            return;
        }
    }
    panic!("{asked:?} never came to its end");
}

/// Without anybody asking again the run goes on, or is over, or rests as it was asked to.
fn leaves_no_orphan(asked: Asked) {
    at_every_commit(asked, async |engine| {
        tokio::time::sleep(minutes(2)).await;
        let Ok(run) = engine.run("r").await else {
            return; // deleted
        };
        let status = run.status().await.unwrap();
        let rests = status.is_terminal() || status == RunStatus::Paused;
        assert!(rests, "{asked:?}: {}", run.why().await.unwrap());
    });
}

const VERBS: [Asked; 7] = [
    Asked::Control(Control::Pause),
    Asked::Control(Control::Cancel { rollback: false }),
    Asked::Control(Control::Terminate),
    Asked::Control(Control::Restart),
    Asked::Control(Control::Delete),
    Asked::RestartFrom,
    Asked::Skip,
];

// B158, B172
#[test]
fn a_verb_cut_short_leaves_no_run_that_nobody_executes() {
    VERBS.into_iter().for_each(leaves_no_orphan);
}

// B149, B156
#[test]
fn ending_a_run_can_be_taken_up_by_asking_again() {
    for (control, end) in [
        (Control::Terminate, RunStatus::Terminated),
        (Control::Cancel { rollback: false }, RunStatus::Cancelled),
    ] {
        at_every_commit(Asked::Control(control), async |engine| {
            let run = engine.run("r").await.unwrap();
            ask(&run, Asked::Control(control)).await.unwrap();
            let ended = tokio::time::timeout(secs(60), run.wait_json()).await;
            assert!(ended.is_ok());
            assert_eq!(run.status().await.unwrap(), end);
        });
    }
}

// B150, B151
#[test]
fn a_restart_can_be_taken_up_by_asking_again() {
    for asked in [Asked::Control(Control::Restart), Asked::RestartFrom] {
        at_every_commit(asked, async |engine| {
            let run = engine.run("r").await.unwrap();
            match ask(&run, asked).await {
                Ok(()) => {}
                // It was done, and the new generation has not come to that place yet.
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
fn a_deletion_can_be_taken_up_by_asking_again() {
    at_every_commit(Asked::Control(Control::Delete), async |engine| {
        if let Ok(run) = engine.run("r").await {
            ask(&run, Asked::Control(Control::Delete)).await.unwrap();
        }
        let gone = engine.run("r").await.unwrap_err();
        assert_eq!(gone.code(), ErrorCode::UnknownRun);
        assert!(engine.list().await.unwrap().runs.is_empty());
    });
}

// B183
#[test]
fn a_skipped_step_stays_skipped_or_runs() {
    at_every_commit(Asked::Skip, async |engine| {
        let run = engine.run("r").await.unwrap();
        let result = output::<u32>(&run).await;
        let journal = run.journal().await.unwrap();
        let mut kinds = journal.iter().map(|entry| entry.record.body.type_name());
        let skipped = kinds.any(|kind| kind == "step_skipped");
        assert_eq!(result, if skipped { 21 } else { 3 });
    });
}
