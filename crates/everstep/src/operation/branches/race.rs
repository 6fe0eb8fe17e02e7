//! Races: the first branch that succeeds wins. The winner is durable before the other branches are
//! dropped.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use everstep_machine::CallSite;
use everstep_model::planted::{self, Bug};
use everstep_model::record::BranchesKind;

use super::{Branch, Owner, State};
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::operation::handle::Handle;
use crate::options::invalid;

/// A race. Its output is the first success.
#[must_use = "branches do nothing until they are awaited"]
pub struct Race<'a, W, T> {
    owner: Owner<W>,
    branches: Vec<Branch<'a, W, T>>,
    winner: Option<Won<T>>,
    /// Resolves when the winner is durable.
    durable: Handle,
}

impl<W, T> Unpin for Race<'_, W, T> {}

/// The winner of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Won<T> {
    /// The name of the branch.
    pub winner: String,
    pub value: T,
}

impl<W> Ctx<W> {
    /// Runs named branches concurrently; the first that succeeds wins, and the others are dropped.
    /// A branch that fails does not end the race; if all fail, the error lists all of them.
    ///
    /// ```
    /// # use everstep::{Ctx, Error, Result, minutes};
    /// async fn answer(ctx: Ctx) -> Result<String> {
    ///     let won = ctx
    ///         .race("answer-or-give-up")
    ///         .branch("work", |ctx| async move {
    ///             ctx.step("ask", || async { Ok::<_, Error>("42".to_owned()) }).await
    ///         })
    ///         .branch("patience", |ctx| async move {
    ///             ctx.sleep("wait", minutes(5)).await?;
    ///             Ok("no answer".to_owned())
    ///         })
    ///         .await?;
    ///     Ok(format!("{} ({})", won.value, won.winner))
    /// }
    /// ```
    #[track_caller]
    pub fn race<'a, T>(&self, name: &str) -> Race<'a, W, T> {
        Race {
            owner: Owner::new(self, name, BranchesKind::Race, CallSite::caller()),
            branches: Vec::new(),
            winner: None,
            durable: Handle::new(self, CallSite::caller()),
        }
    }
}

impl<'a, W, T> Race<'a, W, T> {
    /// Adds a branch.
    pub fn branch<F, Fut>(mut self, name: &str, run: F) -> Self
    where
        F: FnOnce(Ctx<W>) -> Fut + Send + 'a,
        Fut: Future<Output = Result<T>> + Send + 'a,
    {
        self.branches.push(Branch::new(name, run));
        self
    }

    /// Adds a branch for each item, named by a key of the item.
    pub fn branches<I, F, Fut>(
        mut self,
        items: impl IntoIterator<Item = I>,
        mut key: impl FnMut(&I) -> String,
        run: F,
    ) -> Self
    where
        F: Fn(Ctx<W>, I) -> Fut + Clone + Send + 'a,
        Fut: Future<Output = Result<T>> + Send + 'a,
        I: Send + 'a,
    {
        self.branches.extend(items.into_iter().map(|item| {
            let run = run.clone();
            Branch::new(key(&item), move |ctx| run(ctx, item))
        }));
        self
    }

    fn begin(&mut self, context: &Context<'_>) -> Result<bool> {
        if self.branches.is_empty() {
            let name = &self.owner.name;
            return Err(invalid(&format!("race `{name}` has no branches")));
        }
        let is_first = self.owner.place.is_none();
        let names = self.branches.iter().map(|branch| branch.name.as_str());
        if !self.owner.begin(context, names)? {
            return Ok(false);
        }
        if let (true, Some(place)) = (is_first, &self.owner.place) {
            let shared = self.owner.ctx.shared();
            let winner = shared.with(|execution| execution.replay.earlier_winner(place));
            // The winner of an earlier pass of the function is final.
            if let Some(winner) = winner.flatten() {
                let branches = self.branches.iter_mut();
                branches
                    .filter(|branch| branch.name != winner.as_str())
                    .for_each(|loser| loser.state = State::Gone);
            }
        }
        Ok(true)
    }

    /// Polls the branches until one wins.
    fn run(&mut self) {
        for branch in &mut self.branches {
            branch.poll(&self.owner);
            if !matches!(branch.state, State::Ended(Ok(_))) {
                continue;
            }
            if let Some(Ok(value)) = branch.take_result() {
                let winner = branch.name.clone();
                self.winner = Some(Won { winner, value });
                return;
            }
        }
    }

    /// Waits until the winner is durable, and then drops the other branches.
    fn finish(&mut self, context: &mut Context<'_>) -> Poll<Result<Won<T>>> {
        let (Some(won), Some(place)) = (&self.winner, &self.owner.place) else {
            return Poll::Pending;
        };
        let first = self.branches.first();
        let winner = match first.filter(|_| planted::is(Bug::RaceLoserPersisted)) {
            Some(first) => &first.name,
            None => &won.winner,
        };
        let resolved = self.durable.poll_with(context, |replay, _, site| {
            let winner = replay.name(winner)?;
            Ok(replay.win_race(place, &winner, site))
        });
        std::task::ready!(resolved)?;
        for branch in &mut self.branches {
            branch.state = State::Gone;
        }
        match self.winner.take() {
            Some(won) => Poll::Ready(Ok(won)),
            None => Poll::Pending,
        }
    }

    fn all_failed(&mut self) -> Option<Error> {
        if !self.branches.iter().all(Branch::has_ended) {
            return None;
        }
        let failures = self.branches.iter_mut().filter_map(Branch::take_failure);
        let failed: Vec<_> = failures.collect();
        (!failed.is_empty()).then(|| self.owner.failed(failed))
    }
}

impl<W, T> Future for Race<'_, W, T> {
    type Output = Result<Won<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if !this.begin(context)? {
            return Poll::Pending;
        }
        if this.winner.is_none() {
            this.run();
        }
        if this.winner.is_some() {
            return this.finish(context);
        }
        match this.all_failed() {
            Some(error) => Poll::Ready(Err(error)),
            None => Poll::Pending,
        }
    }
}

debug_by_name!(impl<W, T> Race<'_, W, T>: owner.name);
