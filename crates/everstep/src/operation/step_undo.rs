//! The undo of a step, as it is configured.

use std::future::Future;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::step::Step;
use super::undo::Undo;
use crate::error::{Error, Result};
use crate::options::Retry;

impl<F, Fut, T> Step<F, Fut, T> {
    /// How the step is undone when the run rolls back. The undo is given the step's result, owns what it captures, and is
    /// retried like the step unless said otherwise.
    ///
    /// ```
    /// # use everstep::{AnyEvent, Ctx, Error, Result};
    /// # #[derive(Clone)]
    /// # struct Bank;
    /// # impl Bank {
    /// #     async fn charge(&self) -> Result<u32> { Ok(7) }
    /// #     async fn refund(&self, _: u32) -> Result<()> { Ok(()) }
    /// # }
    /// async fn pay(ctx: Ctx<AnyEvent>, bank: Bank) -> Result<u32> {
    ///     let refunder = bank.clone();
    ///     ctx.step("charge", || bank.charge())
    ///         .undo(move |charge| async move { refunder.refund(charge).await })
    ///         .await
    /// }
    /// ```
    pub fn undo<U, UndoFut, R, E>(mut self, undo: U) -> Self
    where
        U: FnOnce(T) -> UndoFut + Clone + Send + 'static,
        UndoFut: Future<Output = Result<R, E>> + Send + 'static,
        E: Into<Error>,
        T: DeserializeOwned,
    {
        self.undo_setup().by_output(undo);
        self
    }

    /// How the step is undone, given all there is to know: its result, the payload it registered, why the run rolls back,
    /// and the step itself. It also runs for a step that failed after it had registered a payload.
    pub fn undo_with<U, UndoFut, R, E>(mut self, undo: U) -> Self
    where
        U: FnOnce(Undo<T>) -> UndoFut + Clone + Send + 'static,
        UndoFut: Future<Output = Result<R, E>> + Send + 'static,
        E: Into<Error>,
        T: DeserializeOwned,
    {
        self.undo_setup().by_everything(undo);
        self
    }

    /// The undo runs even after the point of no return ([`crate::Ctx::no_return`]).
    pub fn undo_internal(mut self) -> Self {
        self.undo_setup().internal = true;
        self
    }

    /// How the undo is retried; like the step unless said.
    pub fn undo_retry(mut self, retry: Retry) -> Self {
        self.undo_setup().retry = Some(retry);
        self
    }

    /// How long one attempt to undo the step may take; as long as the step's own unless said.
    pub fn undo_timeout(mut self, timeout: Duration) -> Self {
        self.undo_setup().timeout = Some(timeout);
        self
    }
}
