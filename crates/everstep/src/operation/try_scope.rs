//! A part of a workflow whose failure is data.

use std::future::Future;

use everstep_machine::{CallSite, ScopeCall};
use everstep_model::{ErrorCode, Location};

use crate::ctx::Ctx;
use crate::error::{Error, Result};

impl<W> Ctx<W> {
    /// Runs a part of the workflow in a scope of its own and gives its failure back as data: `Ok(Err(error))`. Where the
    /// failure comes from, a step, a join, a race or the part itself, [`Error::origin`] tells.
    ///
    /// An error that asks to roll back, and the cancellation of the run, are not for the code to swallow: they pass through.
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
            let Some(place) = open(&ctx, &name, site)? else {
                return std::future::pending().await;
            };
            let scope = place.inner_scope();
            match run(ctx.in_scope(scope)).await {
                Err(error) if passes_through(&error) => Err(error),
                settled => Ok(settled),
            }
        }
    }
}

/// The place of the scope; none if the machine does not let the code go on.
fn open<W>(ctx: &Ctx<W>, name: &str, site: CallSite) -> Result<Option<Location>> {
    let opened = ctx.shared().with(|execution| {
        let replay = &mut execution.replay;
        let name = replay.name(name)?;
        Ok::<_, Error>(replay.call(ctx.scope(), &name, ScopeCall, site))
    });
    Ok(opened.transpose()?.flatten())
}

fn passes_through(error: &Error) -> bool {
    error.asks_for_rollback() || error.is(ErrorCode::Cancelled)
}
