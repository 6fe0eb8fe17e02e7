//! Joins with one branch per item, and a limit of concurrent branches.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use everstep_machine::CallSite;
use everstep_model::record::BranchesKind;

use super::{Branch, Owner};
use crate::ctx::Ctx;
use crate::error::Result;

/// A join with one branch per item. It waits for all branches and reports all failures.
#[must_use = "branches do nothing until they are awaited"]
pub struct Each<'a, W, T> {
    owner: Owner<W>,
    branches: Vec<Branch<'a, W, T>>,
    concurrency: usize,
}

/// [`Each`] with the outcome of each branch.
#[must_use = "branches do nothing until they are awaited"]
pub struct Settled<'a, W, T>(Each<'a, W, T>);

impl<W> Ctx<W> {
    /// Runs a branch for each item and waits for all of them. The results are in the order of the
    /// items. The branches are named by their index; see [`Ctx::for_each_by`] for names that
    /// survive a change of order.
    ///
    /// ```
    /// # use everstep::{Ctx, Error, Result};
    /// async fn ship(ctx: Ctx, parcels: Vec<String>) -> Result<Vec<usize>> {
    ///     ctx.for_each("ship", parcels, |ctx, parcel| async move {
    ///         ctx.step("label", || async { Ok::<_, Error>(parcel.len()) }).await
    ///     })
    ///     .concurrency(8)
    ///     .await
    /// }
    /// ```
    #[track_caller]
    pub fn for_each<'a, I, F, Fut, T>(
        &self,
        name: &str,
        items: impl IntoIterator<Item = I>,
        run: F,
    ) -> Each<'a, W, T>
    where
        F: Fn(Ctx<W>, I) -> Fut + Clone + Send + 'a,
        Fut: Future<Output = Result<T>> + Send + 'a,
        I: Send + 'a,
    {
        let mut indexes = 0_usize..;
        let key = move |_: &I| indexes.next().unwrap_or_default().to_string();
        self.for_each_by(name, items, key, run)
    }

    /// Runs a branch for each item, named by a key of the item, and waits for all of them.
    #[track_caller]
    pub fn for_each_by<'a, I, F, Fut, T>(
        &self,
        name: &str,
        items: impl IntoIterator<Item = I>,
        mut key: impl FnMut(&I) -> String,
        run: F,
    ) -> Each<'a, W, T>
    where
        F: Fn(Ctx<W>, I) -> Fut + Clone + Send + 'a,
        Fut: Future<Output = Result<T>> + Send + 'a,
        I: Send + 'a,
    {
        let branches = items.into_iter().map(|item| {
            let run = run.clone();
            Branch::new(key(&item), move |ctx| run(ctx, item))
        });
        Each {
            branches: branches.collect(),
            owner: Owner::new(self, name, BranchesKind::Join, CallSite::caller()),
            concurrency: usize::MAX,
        }
    }
}

impl<'a, W, T> Each<'a, W, T> {
    /// Limits the branches that run concurrently.
    pub fn concurrency(mut self, branches: usize) -> Self {
        self.concurrency = branches.max(1);
        self
    }

    /// Returns the outcome of each branch instead of one error for all.
    pub fn settled(self) -> Settled<'a, W, T> {
        Settled(self)
    }

    /// Completes when all branches have ended.
    fn poll_all(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        let names = self.branches.iter().map(|branch| branch.name.as_str());
        if !self.owner.begin(context, names)? {
            return Poll::Pending;
        }
        let is_running = |branch: &&Branch<'a, W, T>| branch.is_running();
        let mut running = self.branches.iter().filter(is_running).count();
        for branch in &mut self.branches {
            if branch.is_new() {
                if running >= self.concurrency {
                    break;
                }
                running += 1;
            }
            if branch.poll(&self.owner) {
                running -= 1;
            }
        }
        if self.branches.iter().all(Branch::has_ended) {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }
}

impl<W, T> Future for Each<'_, W, T> {
    type Output = Result<Vec<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        std::task::ready!(self.poll_all(context))?;
        let failures = self.branches.iter_mut().filter_map(Branch::take_failure);
        let failed: Vec<_> = failures.collect();
        if !failed.is_empty() {
            return Poll::Ready(Err(self.owner.failed(failed)));
        }
        let results = self.branches.iter_mut().filter_map(Branch::take_result);
        Poll::Ready(results.collect())
    }
}

impl<W, T> Future for Settled<'_, W, T> {
    type Output = Result<Vec<Result<T>>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        std::task::ready!(self.0.poll_all(context))?;
        let results = self.0.branches.iter_mut().filter_map(Branch::take_result);
        Poll::Ready(Ok(results.collect()))
    }
}

debug_by_name!(impl<W, T> Each<'_, W, T>: owner.name);

debug_by_name!(impl<W, T> Settled<'_, W, T>: 0.owner.name);
