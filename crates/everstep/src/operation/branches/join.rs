//! Joins of a fixed set of branches, each with a result of its own type.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use everstep_machine::CallSite;
use everstep_model::record::BranchesKind;

use super::{Branch, Owner};
use crate::ctx::Ctx;
use crate::error::Result;

/// A join. It waits for all branches and reports all failures.
#[must_use = "branches do nothing until they are awaited"]
pub struct Join<W, B> {
    owner: Owner<W>,
    branches: B,
}

impl<W> Ctx<W> {
    /// Runs named branches concurrently and waits for all of them. The output is a tuple of their
    /// results, in the order of the branches; if some fail, the error lists all of them.
    ///
    /// ```
    /// # use everstep::{Ctx, Error, Result};
    /// async fn dashboard(ctx: Ctx, user: u64) -> Result<(String, u32)> {
    ///     ctx.join("load")
    ///         .branch("name", |ctx| async move {
    ///             ctx.step("fetch", || async { Ok::<_, Error>(format!("user {user}")) }).await
    ///         })
    ///         .branch("orders", |ctx| async move {
    ///             ctx.step("count", || async { Ok::<_, Error>(3) }).await
    ///         })
    ///         .await
    /// }
    /// ```
    #[track_caller]
    pub fn join(&self, name: &str) -> Join<W, ()> {
        Join {
            owner: Owner::new(self, name, BranchesKind::Join, CallSite::caller()),
            branches: (),
        }
    }
}

macro_rules! joins {
    ($($result:ident $field:tt),* => $next:ident) => {
        joins!(@more $($result $field),* => $next);
        joins!(@run $($result $field),*);
    };
    (@more $($result:ident $field:tt),* => $next:ident) => {
        impl<'a, W, $($result),*> Join<W, ($(Branch<'a, W, $result>,)*)> {
            /// Adds a branch.
            pub fn branch<$next, F, Fut>(
                self,
                name: &str,
                run: F,
            ) -> Join<W, ($(Branch<'a, W, $result>,)* Branch<'a, W, $next>,)>
            where
                F: FnOnce(Ctx<W>) -> Fut + Send + 'a,
                Fut: Future<Output = Result<$next>> + Send + 'a,
            {
                Join {
                    owner: self.owner,
                    branches: ($(self.branches.$field,)* Branch::new(name, run),),
                }
            }
        }
    };
    (@run $($result:ident $field:tt),*) => {
        impl<W, $($result),*> Future for Join<W, ($(Branch<'_, W, $result>,)*)> {
            type Output = Result<($($result,)*)>;

            fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
                let this = &mut *self;
                let names = [$(this.branches.$field.name.as_str()),*];
                if !this.owner.begin(context, names.into_iter())? {
                    return Poll::Pending;
                }
                $(this.branches.$field.poll(&this.owner);)*
                let has_ended = [$(this.branches.$field.has_ended()),*];
                if has_ended.contains(&false) {
                    return Poll::Pending;
                }
                let failures = [$(this.branches.$field.take_failure()),*];
                let failed: Vec<_> = failures.into_iter().flatten().collect();
                if !failed.is_empty() {
                    return Poll::Ready(Err(this.owner.failed(failed)));
                }
                let results = ($(this.branches.$field.take_result(),)*);
                match results {
                    ($(Some(Ok($result)),)*) => Poll::Ready(Ok(($($result,)*))),
                    // Polled again after completion.
                    _ => Poll::Pending,
                }
            }
        }
    };
}

impl<W> Join<W, ()> {
    /// Adds the first branch.
    pub fn branch<'a, T, F, Fut>(self, name: &str, run: F) -> Join<W, (Branch<'a, W, T>,)>
    where
        F: FnOnce(Ctx<W>) -> Fut + Send + 'a,
        Fut: Future<Output = Result<T>> + Send + 'a,
    {
        Join {
            owner: self.owner,
            branches: (Branch::new(name, run),),
        }
    }
}

#[allow(non_snake_case, reason = "the results are named like their types")]
mod arities {
    use super::*;

    joins!(A 0 => B);
    joins!(A 0, B 1 => C);
    joins!(A 0, B 1, C 2 => D);
    joins!(A 0, B 1, C 2, D 3 => E);
    joins!(A 0, B 1, C 2, D 3, E 4 => F1);
    joins!(A 0, B 1, C 2, D 3, E 4, F1 5 => G);
    joins!(A 0, B 1, C 2, D 3, E 4, F1 5, G 6 => H);
    joins!(@run A 0, B 1, C 2, D 3, E 4, F1 5, G 6, H 7);
}
debug_by_name!(impl<W, B> Join<W, B>: owner.name);
