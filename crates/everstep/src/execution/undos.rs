//! The undos that workflow code gives: for each step or child it called, how to undo it. They live as long as the
//! execution, or as the iteration of a loop that called it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use everstep_machine::UndoStart;
use everstep_model::{Location, Payload, RetryPolicy};
use everstep_store::BoxFuture;
use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::operation::{StepContext, undo_panicked};

/// What an undo is given, before it is decoded.
pub(crate) struct UndoInput {
    pub(crate) start: UndoStart,
    pub(crate) context: StepContext,
}

/// The work of an undo; called once per attempt.
pub(crate) type UndoWork = Box<dyn Fn(UndoInput) -> BoxFuture<'static, Result<()>> + Send>;

/// How to undo a step or child.
pub(crate) struct GivenUndo {
    pub(crate) work: UndoWork,
    /// How it is retried, if not like the step.
    pub(crate) retry: Option<RetryPolicy>,
    /// How long an attempt may take, if not as long as the step's.
    pub(crate) timeout: Option<Duration>,
}

impl GivenUndo {
    /// Begins an attempt. A panic is its failure.
    pub(super) fn begin(&self, input: UndoInput) -> BoxFuture<'static, Result<()>> {
        let begun = catch_unwind(AssertUnwindSafe(|| (self.work)(input)));
        begun.unwrap_or_else(|panic| Box::pin(std::future::ready(Err(undo_panicked(&*panic)))))
    }
}

/// The undos given so far, by place.
#[derive(Default)]
pub(crate) struct Undos(FxHashMap<Location, GivenUndo>);

impl Undos {
    pub(crate) fn give(&mut self, step: Location, undo: GivenUndo) {
        self.0.insert(step, undo);
    }

    pub(super) fn get(&self, step: &Location) -> Option<&GivenUndo> {
        self.0.get(step)
    }

    /// Keeps those of these steps.
    pub(super) fn retain(&mut self, is_kept: impl Fn(&Location) -> bool) {
        self.0.retain(|step, _| is_kept(step));
    }

    pub(super) fn has(&self, step: &Location) -> bool {
        self.0.contains_key(step)
    }

    /// Adds undos of an earlier pass for steps that this one has not called.
    pub(super) fn add_earlier(&mut self, earlier: Self) {
        for (step, undo) in earlier.0 {
            self.0.entry(step).or_insert(undo);
        }
    }
}

/// Why a payload is not what an undo takes.
pub(crate) fn decode<T: serde::de::DeserializeOwned>(what: &str, payload: &Payload) -> Result<T> {
    use everstep_model::{ErrorCode, Failure};
    payload.decode().map_err(|error| {
        let message = format!("the recorded {what} does not fit the type its undo takes: {error}");
        let failure = Failure::new(ErrorCode::Undecodable, message);
        crate::error::Error::from_failure(failure).non_retryable()
    })
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::testing::{TestEngine, virtual_time};
    use crate::{Ctx, Error, Payload, Result};

    /// Rolls back what it did, in each of a hundred iterations.
    async fn rolls_back(ctx: Ctx, most: Arc<AtomicUsize>) -> Result<()> {
        let body = |ctx: Ctx, n: u32| {
            let most = most.clone();
            async move {
                let step = ctx.step("do", || async { Ok::<_, Error>(n) });
                step.undo(|_| async { Ok::<_, Error>(()) }).await?;
                ctx.rollback().await?;
                let undos = ctx.shared().with(|execution| execution.host.undos.0.len());
                most.fetch_max(undos.unwrap(), Ordering::Relaxed);
                Ok(match n {
                    99 => ControlFlow::Break(()),
                    n => ControlFlow::Continue(n + 1),
                })
            }
        };
        ctx.repeat("round", 0, body).keep(3).await
    }

    // B105
    #[test]
    fn the_undos_of_iterations_that_are_gone_are_let_go() {
        let most = Arc::new(AtomicUsize::new(0));
        let seen = most.clone();
        virtual_time(async move {
            let code = move |ctx: Ctx, (): ()| rolls_back(ctx, seen.clone());
            let test = TestEngine::builder().function("w", code).start().await;
            let run = test.start_by_name("w", Payload::null()).await.unwrap();
            run.wait_json().await.unwrap();
        });
        let most = most.load(Ordering::Relaxed);
        assert!((1..=8).contains(&most), "{most}");
    }
}
