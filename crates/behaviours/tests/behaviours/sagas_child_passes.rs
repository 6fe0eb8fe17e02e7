//! Children in sagas whose function is run again: each child that completed is undone, whichever
//! pass started it.

use everstep::journal::record::ParentClose;
use everstep::{AnyEvent, Ctx, Error, Options, Result, Workflows};
use everstep::{minutes, secs};

use crate::sagas_children::{shipped, with_child};
use crate::support::{Seen, TestStore, failure, for_each_store, json, output, start};

// B40
#[test]
fn children_of_an_earlier_pass_are_undone_too() {
    for_each_store(async |store: &TestStore| {
        let seen = Seen::new();
        let (own, setup) = (seen.clone(), with_child(store.engine(), &seen));
        let code = move |ctx: Ctx<AnyEvent>, (): ()| {
            let seen = own.clone();
            async move {
                if ctx.metadata().attempt == 1 {
                    shipped(&ctx, "lamp", &seen).await?;
                    return Err(Error::new("once more"));
                }
                Err::<(), _>(Error::fatal("no"))
            }
        };
        let options = Options::new().execution_retries(1);
        let test = setup
            .workflows(Workflows::new().function_with("w", options, code))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(failure(&run).await.message, "no");
        assert_eq!(seen.take(), ["undo lamp shipped"]);
    });
}

/// A child that its parent undoes. Records which child was undone and with which key.
async fn noted(ctx: &Ctx, waits: bool, seen: &Seen<(String, String)>) -> Result<Option<String>> {
    let seen = seen.clone();
    let child = ctx.child_by_name("ship", json("lamp"));
    let child = child.on_parent_close(ParentClose::Abandon);
    let child = child.undo_with(move |undo| async move {
        let run = undo.child.as_ref().map(ToString::to_string);
        seen.add((run.unwrap_or_default(), undo.idempotency_key()));
        Ok::<_, Error>(())
    });
    let shipped = if waits {
        Some(child.await?)
    } else {
        child.timeout(secs(1)).await?
    };
    Ok(shipped.map(|shipped| shipped.decode()).transpose()?)
}

// B40
#[test]
fn a_child_that_completes_after_its_replacement_started_is_undone_too() {
    for_each_store(async |store: &TestStore| {
        let seen = Seen::new();
        let (own, setup) = (seen.clone(), with_child(store.engine(), &Seen::new()));
        let code = move |ctx: Ctx, (): ()| {
            let seen = own.clone();
            async move {
                if noted(&ctx, ctx.metadata().attempt > 1, &seen)
                    .await?
                    .is_none()
                {
                    return Err(Error::new("once more"));
                }
                ctx.sleep("on", minutes(1)).await?;
                Err::<(), _>(Error::fatal("no"))
            }
        };
        let options = Options::new().execution_retries(1);
        let test = setup
            .workflows(Workflows::new().function_with("w", options, code))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(failure(&run).await.message, "no");
        let journal = test.journal(&run).await;
        assert_eq!(journal.count("child_started"), 2);
        assert_eq!(journal.count("undo_completed"), 2);
        let undone = seen.take();
        let [(later, key), (earlier, other_key)] = undone.as_slice() else {
            panic!("{undone:?}");
        };
        assert_ne!(later, earlier);
        assert_ne!(key, other_key);
    });
}

// B166
#[test]
fn a_later_pass_adopts_a_child_that_completed_after_it_was_abandoned() {
    for_each_store(async |store: &TestStore| {
        let setup = with_child(store.engine(), &Seen::new());
        let code = move |ctx: Ctx, (): ()| async move {
            let is_first = ctx.metadata().attempt == 1;
            let shipped = noted(&ctx, !is_first, &Seen::new()).await?;
            if is_first {
                ctx.sleep("on", minutes(1)).await?;
                return Err(Error::new("once more"));
            }
            Ok(shipped)
        };
        let options = Options::new().execution_retries(1);
        let test = setup
            .workflows(Workflows::new().function_with("w", options, code))
            .start()
            .await;
        let run = start(&test).await;
        assert_eq!(
            output::<Option<String>>(&run).await.as_deref(),
            Some("lamp shipped")
        );
        assert_eq!(test.list().workflow("ship").await.unwrap().runs.len(), 1);
    });
}
