//! Parts of a workflow whose failure is data.

use std::future::Future;

use everstep_machine::{CallSite, ScopeCall};
use everstep_model::ErrorCode;

use crate::ctx::Ctx;
use crate::error::{Error, Result};

impl<W> Ctx<W> {
    /// Runs a part of the workflow in its own scope and returns its failure as data:
    /// `Ok(Err(error))`. [`Error::origin`] is the operation that failed.
    ///
    /// Errors that roll the run back, and the cancellation of the run, pass through.
    ///
    /// ```
    /// # use everstep::{Ctx, Error, Result};
    /// async fn greet(ctx: Ctx) -> Result<String> {
    ///     let tried = ctx
    ///         .try_scope("personal", |ctx| async move {
    ///             ctx.step("look-up", || async { Err::<String, _>(Error::fatal("no such user")) }).await
    ///         })
    ///         .await?;
    ///     Ok(tried.unwrap_or_else(|error| format!("stranger ({error})")))
    /// }
    /// ```
    #[track_caller]
    pub fn try_scope<'a, T, F, Fut>(
        &self,
        name: &str,
        run: F,
    ) -> impl Future<Output = Result<Result<T>>> + Send + use<'a, T, F, Fut, W>
    where
        F: FnOnce(Ctx<W>) -> Fut + Send + 'a,
        Fut: Future<Output = Result<T>> + Send + 'a,
    {
        let (ctx, name, site) = (self.clone(), name.to_owned(), CallSite::caller());
        async move {
            let Some(place) = ctx.call_now(&name, site, |_, _| Ok(ScopeCall))? else {
                // The run is halted: the code stops here.
                return std::future::pending().await;
            };
            let scope = place.inner_scope();
            match run(ctx.in_scope(scope)).await {
                Err(error) if passes_through(&error) => Err(error),
                result => Ok(result),
            }
        }
    }
}

fn passes_through(error: &Error) -> bool {
    error.asks_for_rollback() || error.is(ErrorCode::Cancelled)
}
