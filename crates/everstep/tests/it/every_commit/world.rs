//! What the canonical workflows do to the outside, and how a story about one of them is told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use everstep::{
    AnyEvent, Ctx, Engine, EngineBuilder, Error, Payload, Result, RunHandle, RunStatus, millis,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::crash_after_commit::{Story, die_after_every_commit};

/// Everything that was done outside the runs, in order; it outlives every process.
#[derive(Clone, Default)]
pub(super) struct Outside(Arc<Mutex<Vec<String>>>);

impl Outside {
    pub(super) fn happens(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// Whether nothing has happened yet.
    pub(super) fn is_quiet(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }

    /// A step that does one thing outside.
    pub(super) async fn step(&self, ctx: &Ctx<AnyEvent>, name: &str, value: u32) -> Result<u32> {
        ctx.step(name, || self.act(name, value)).await
    }

    pub(super) async fn act(&self, what: &str, value: u32) -> Result<u32> {
        self.happens(what);
        Ok(value)
    }

    /// A step that does one thing outside and can be undone there.
    pub(super) async fn undoable(&self, ctx: &Ctx<AnyEvent>, name: &'static str) -> Result<u32> {
        let outside = self.clone();
        ctx.step(name, || self.act(name, 1))
            .undo(move |_| async move {
                outside.happens(format!("undo {name}"));
                Ok::<_, Error>(())
            })
            .await
    }
}

/// Each of these happened, in any order; what was in flight when the process died may have happened once more.
pub(super) fn assert_happened(happened: &[String], expected: &[&str], in_flight_max: usize) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for what in happened {
        *counts.entry(what).or_default() += 1;
    }
    let names: Vec<&str> = counts.keys().copied().collect();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(names, expected, "{happened:?}");
    let again: usize = counts.values().map(|count| count - 1).sum();
    assert!(again <= in_flight_max, "done again: {happened:?}");
}

/// These happened in this order; what was in flight when the process died may have happened twice in a row.
pub(super) fn assert_order(happened: &[String], expected: &[&str]) {
    let mut happened = happened.to_vec();
    let before = happened.len();
    happened.dedup();
    assert_eq!(happened, expected);
    assert!(before - happened.len() <= 1, "{before} things happened");
}

/// Tells a story with the process dying after each of its commits in turn.
pub(super) fn after_every_commit<Define, Tell>(define: Define, tell: Tell)
where
    Define: Fn(EngineBuilder) -> EngineBuilder,
    Tell: AsyncFn(Engine),
{
    die_after_every_commit(&Story {
        define,
        tell,
        downtime: millis(50),
    });
}

/// Tells a story about workflow `w`, which does things outside, with the process dying after each of its commits in turn.
pub(super) fn survives_every_death<Code, Fut, T, Tell>(code: Code, tell: Tell)
where
    Code: Fn(Ctx, Outside) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<T>> + Send + 'static,
    T: Serialize + Send + 'static,
    Tell: AsyncFn(Engine, &Outside),
{
    let outside = Outside::default();
    let witness = outside.clone();
    let define = move |builder: EngineBuilder| {
        let (code, outside) = (code.clone(), witness.clone());
        builder.function("w", move |ctx, (): ()| code(ctx, outside.clone()))
    };
    after_every_commit(define, async |engine| tell(engine, &outside).await);
}

/// Run `r` of workflow `w`, started or found again.
pub(super) async fn run(engine: &Engine) -> RunHandle {
    engine
        .start_by_name("w", Payload::null())
        .id("r")
        .await
        .unwrap()
}

pub(super) async fn output<T: DeserializeOwned>(run: &RunHandle) -> T {
    run.wait_json().await.unwrap().decode().unwrap()
}

/// Sends an event that the run takes once, however often the story is told.
pub(super) async fn send(run: &RunHandle, event: &str, payload: Payload, id: &str) {
    // A run that has ended needs it no more.
    let _ = run.send_by_name(event, payload, Some(id.to_owned())).await;
}

/// Waits until the run is in one of these states, or over.
pub(super) async fn reach(run: &RunHandle, statuses: &[RunStatus]) {
    for _ in 0..10_000 {
        let status = run.status().await.unwrap();
        if statuses.contains(&status) || status.is_terminal() {
            return;
        }
        tokio::time::sleep(millis(1)).await;
    }
    panic!("the run is {}", run.why().await.unwrap());
}
