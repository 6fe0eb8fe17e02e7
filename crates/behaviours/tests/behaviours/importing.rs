//! Imports of exported journals into a store that does not have the run.

use everstep::journal::{Entry, Generation};
use everstep::testing::TestEngine;
use everstep::{
    AnyEvent, Ctx, Error, ErrorCode, Result, RunHandle, RunStatus, Workflows, minutes, secs,
};

use crate::support::{Ping, Seen, for_each_store, json, ok, output, ping, restart, start};

fn workflows(seen: &Seen<&'static str>) -> Workflows {
    let seen = seen.clone();
    let waits = move |ctx: Ctx<AnyEvent>, (): ()| {
        let seen = seen.clone();
        async move {
            let work = |name: &'static str| {
                seen.add(name);
                ok(1_u32)
            };
            let a = ctx.step("a", || work("a")).await?;
            ctx.sleep("nap", minutes(5)).await?;
            let event = ctx.event::<Ping>().timeout(minutes(60)).await?;
            let Ping(n) = event.ok_or_else(|| Error::new("no event"))?;
            let b = ctx.step("b", || work("b")).await?;
            Ok::<_, Error>(a + b + n)
        }
    };
    Workflows::new().function("w", waits)
}

/// Deletes a run and imports its journal. Returns the imported run and the journal.
async fn moved(test: &TestEngine, run: RunHandle) -> (RunHandle, Vec<Entry>) {
    let journal = run.journal().await.unwrap();
    run.delete().await.unwrap();
    let imported = test.import("r", journal.clone()).await.unwrap();
    (imported, journal)
}

// B190
#[test]
fn an_imported_run_has_the_same_journal_and_continues_where_it_was() {
    for_each_store(async |store| {
        for (after, restarts) in [(1, true), (1, false), (10, true), (10, false)] {
            let seen = Seen::new();
            let mut test = store.engine().workflows(workflows(&seen)).start().await;
            let run = start(&test).await;
            tokio::time::sleep(minutes(after)).await;
            assert_eq!(seen.take(), ["a"]);
            let (run, journal) = moved(&test, run).await;
            tokio::time::sleep(secs(1)).await;
            assert_eq!(run.journal().await.unwrap(), journal);
            let run = match restarts {
                true => restart(&mut test).await,
                false => run,
            };
            tokio::time::sleep(minutes(10)).await;
            assert_eq!(run.status().await.unwrap(), RunStatus::Waiting);
            ping(&run, 5).await;
            assert_eq!(output::<u32>(&run).await, 7);
            assert_eq!(seen.take(), ["b"], "a step is not repeated");
            assert!(run.journal().await.unwrap().starts_with(&journal));
            run.delete().await.unwrap();
            test.shutdown().await;
        }
    });
}

// B190
#[test]
fn a_timeout_that_began_before_an_import_ends_when_it_would_have() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let test = store.engine().workflows(workflows(&seen)).start().await;
        let run = start(&test).await;
        tokio::time::sleep(minutes(30)).await;
        let (run, _) = moved(&test, run).await;
        let begin = tokio::time::Instant::now();
        assert!(run.wait_json_within(minutes(60)).await.is_err());
        let left = begin.elapsed();
        assert!(left > minutes(34) && left < minutes(37), "{left:?}");
        assert_eq!(run.status().await.unwrap(), RunStatus::Failed);
    });
}

async fn fails_once(ctx: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    let attempt: u32 = ctx.step("a", || ok(1)).await?;
    ctx.event::<Ping>().await.map(|Ping(n)| attempt + n)?;
    Err(Error::new("no"))
}

// B190
#[test]
fn ended_runs_and_their_generations_are_imported_in_order() {
    for_each_store(async |store| {
        let workflows = Workflows::new().function("w", fails_once);
        let test = store.engine().workflows(workflows).start().await;
        let run = start(&test).await;
        ping(&run, 1).await;
        assert!(run.wait_json().await.is_err());
        let first = run.journal().await.unwrap();
        run.restart().await.unwrap();
        ping(&run, 1).await;
        assert!(run.wait_json().await.is_err());
        let second = run.journal().await.unwrap();
        run.delete().await.unwrap();
        let early = test.import("r", second.clone()).await.unwrap_err();
        assert_eq!(early.code(), ErrorCode::WrongState);
        for (journal, generation) in [(&first, 1), (&second, 2)] {
            let run = test.import("r", journal.clone()).await.unwrap();
            assert_eq!(run.generation().await.unwrap(), Generation(generation));
            assert_eq!(run.status().await.unwrap(), RunStatus::Failed);
            assert_eq!(&run.journal().await.unwrap(), journal);
        }
        assert_eq!(test.list().await.unwrap().runs.len(), 1);
        let again = test.import("r", second).await.unwrap_err();
        assert_eq!(again.code(), ErrorCode::WrongState);
    });
}

// B190
#[test]
fn what_is_not_the_journal_of_a_new_run_is_refused() {
    for_each_store(async |store| {
        let seen = Seen::new();
        let test = store.engine().workflows(workflows(&seen)).start().await;
        let run = test
            .start_by_name("w", json(&()))
            .id("r")
            .idempotency_key("k");
        let run = run.await.unwrap();
        tokio::time::sleep(minutes(1)).await;
        let journal = run.journal().await.unwrap();
        let code = async |id: &str, journal: &[Entry]| {
            let refused = test.import(id, journal.to_vec()).await;
            refused.unwrap_err().code()
        };
        assert_eq!(code("r", &journal).await, ErrorCode::WrongState);
        assert_eq!(code("other", &journal).await, ErrorCode::WrongState);
        assert_eq!(code("s", &[]).await, ErrorCode::InvalidOptions);
        assert_eq!(code("s", &journal[1..]).await, ErrorCode::InvalidOptions);
        let mut gap = journal.clone();
        gap.remove(1);
        assert_eq!(code("s", &gap).await, ErrorCode::InvalidOptions);
        let twice = [journal.as_slice(), &journal].concat();
        assert_eq!(code("s", &twice).await, ErrorCode::InvalidOptions);
        assert!(test.run("s").await.is_err());
    });
}
