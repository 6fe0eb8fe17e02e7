//! A worker in the process of the test, with workflows that the test controls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everstep::{AnyEvent, Ctx, Error, Result, Retry, Worker, Workflows};
use tokio::runtime::Runtime;

use crate::server::Server;

/// What the bank of the workflow `transfer` does. It begins with failures.
#[derive(Default)]
pub(crate) struct Bank {
    accepts: AtomicBool,
    releases: AtomicBool,
}

impl Bank {
    /// From now on, transfers succeed.
    pub(crate) fn accept(&self) {
        self.accepts.store(true, Ordering::Relaxed);
    }

    /// From now on, reservations can be undone.
    pub(crate) fn release(&self) {
        self.releases.store(true, Ordering::Relaxed);
    }

    async fn transfer(&self, amount: u32) -> Result<u32> {
        match self.accepts.load(Ordering::Relaxed) {
            true => Ok(amount),
            false => Err(Error::new("the bank is closed")),
        }
    }
}

/// A connected worker. It is disconnected when dropped.
pub(crate) struct TestWorker {
    _runtime: Runtime,
    pub(crate) bank: Arc<Bank>,
}

impl TestWorker {
    pub(crate) fn connect(server: &Server) -> Self {
        let runtime = Runtime::new().unwrap();
        let bank = Arc::new(Bank::default());
        runtime.block_on(async {
            let worker = Worker::connect(&server.url).workflows(workflows(&bank));
            worker.start().unwrap().connected().await;
        });
        Self {
            _runtime: runtime,
            bank,
        }
    }
}

fn workflows(bank: &Arc<Bank>) -> Workflows {
    let bank = bank.clone();
    let transfer = move |ctx: Ctx<AnyEvent>, amount: u32| transfer(bank.clone(), ctx, amount);
    Workflows::new()
        .function("transfer", transfer)
        .function("endless", endless)
        .function("price", price)
}

/// Reserves an amount, and transfers it.
async fn transfer(bank: Arc<Bank>, ctx: Ctx<AnyEvent>, amount: u32) -> Result<u32> {
    let undo = bank.clone();
    ctx.step("reserve", || async move { Ok::<_, Error>(amount) })
        .undo(move |_: u32| async move {
            match undo.releases.load(Ordering::Relaxed) {
                true => Ok(()),
                false => Err(Error::new("the reservation is locked")),
            }
        })
        .undo_retry(Retry::none())
        .await?;
    ctx.step("transfer", || bank.transfer(amount))
        .retry(Retry::none())
        .await
}

/// Has a step that never ends.
async fn endless(ctx: Ctx<AnyEvent>, (): ()) -> Result<Option<String>> {
    ctx.step("work", || async {
        std::future::pending::<()>().await;
        Ok::<_, Error>(None)
    })
    .await
}

/// Adds a tax to a price.
async fn price(ctx: Ctx<AnyEvent>, net: u32) -> Result<u32> {
    let quote = ctx
        .step("quote", || async move { Ok::<_, Error>(net) })
        .await?;
    let tax = || async move { Ok::<_, Error>(quote / 5) };
    let tax: u32 = ctx.step("tax", tax).await?;
    Ok(quote + tax)
}
