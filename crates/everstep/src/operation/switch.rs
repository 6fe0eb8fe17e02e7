//! Switches: one of several branches, chosen by a value. The choice is recorded before the branch runs, and is final.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use everstep_machine::{CallSite, SwitchCall, branch_scope};
use everstep_model::Name;

use super::branches::{Begin, Running};
use crate::ctx::Ctx;
use crate::error::{Error, Result};

/// The name of the branch for values without a case.
const DEFAULT: &str = "default";

enum State<'a, W, T> {
    New(Vec<(String, Begin<'a, W, T>)>),
    Running(Running<'a, T>),
    /// The code must not continue.
    Stopped,
}

/// A switch. Give it cases, then await it.
#[must_use = "a switch does nothing until it is awaited"]
pub struct Switch<'a, W, T> {
    ctx: Ctx<W>,
    name: String,
    value: String,
    state: State<'a, W, T>,
    site: CallSite,
}

impl<W, T> Unpin for Switch<'_, W, T> {}

impl<W> Ctx<W> {
    /// Runs one of several branches, chosen by a value. The choice is recorded before the branch runs, so the run keeps it even
    /// if the value changes later.
    ///
    /// ```
    /// # use everstep::{Ctx, Error, Result};
    /// async fn pay(ctx: Ctx, method: String) -> Result<String> {
    ///     ctx.switch("pay", &method)
    ///         .case("card", |ctx| async move {
    ///             ctx.step("charge", || async { Ok::<_, Error>("charged".to_owned()) }).await
    ///         })
    ///         .case("invoice", |ctx| async move {
    ///             ctx.step("send", || async { Ok::<_, Error>("sent".to_owned()) }).await
    ///         })
    ///         .default(|_| async { Err(Error::fatal("unknown method")) })
    ///         .await
    /// }
    /// ```
    #[track_caller]
    pub fn switch<'a, T>(&self, name: &str, value: impl AsRef<str>) -> Switch<'a, W, T> {
        Switch {
            ctx: self.clone(),
            name: name.to_owned(),
            value: value.as_ref().to_owned(),
            state: State::New(Vec::new()),
            site: CallSite::caller(),
        }
    }
}

impl<'a, W, T> Switch<'a, W, T> {
    /// Adds the branch for a value.
    pub fn case<F, Fut>(mut self, value: &str, run: F) -> Self
    where
        F: FnOnce(Ctx<W>) -> Fut + Send + 'a,
        Fut: Future<Output = Result<T>> + Send + 'a,
    {
        if let State::New(cases) = &mut self.state {
            cases.push((value.to_owned(), Box::new(move |ctx| Box::pin(run(ctx)))));
        }
        self
    }

    /// Adds the branch for all other values.
    pub fn default<F, Fut>(self, run: F) -> Self
    where
        F: FnOnce(Ctx<W>) -> Fut + Send + 'a,
        Fut: Future<Output = Result<T>> + Send + 'a,
    {
        self.case(DEFAULT, run)
    }

    /// Chooses and starts the branch.
    fn begin(&self, cases: Vec<(String, Begin<'a, W, T>)>) -> Result<State<'a, W, T>> {
        let called = self.ctx.shared().with(|execution| {
            let replay = &mut execution.replay;
            let name = replay.name(&self.name)?;
            let offered = cases
                .iter()
                .map(|(case, _)| replay.name(case))
                .collect::<Result<Vec<Name>, _>>()?;
            let of = |value: &str| offered.iter().find(|case| case.as_str() == value);
            let chosen = of(&self.value).or_else(|| of(DEFAULT));
            let offered = &offered;
            let switch = SwitchCall { chosen, offered };
            let called = replay.call(self.ctx.scope(), &name, switch, self.site);
            called
                .transpose()
                .map_err(|failure| Error::from_failure(failure).non_retryable())
        });
        let Some((place, branch)) = called.transpose()?.flatten() else {
            return Ok(State::Stopped);
        };
        let mut cases = cases.into_iter();
        let Some((_, begin)) = cases.find(|(case, _)| case.as_str() == branch.as_str()) else {
            return Ok(State::Stopped);
        };
        let scope = branch_scope(&place, &branch);
        Ok(State::Running(begin(self.ctx.in_scope(scope))))
    }
}

impl<W, T> Future for Switch<'_, W, T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let State::New(cases) = &mut this.state {
            let cases = std::mem::take(cases);
            this.state = this.begin(cases)?;
        }
        match &mut this.state {
            State::Running(running) => running.as_mut().poll(context),
            State::New(_) | State::Stopped => Poll::Pending,
        }
    }
}
debug_by_name!(impl<W, T> Switch<'_, W, T>: name);
