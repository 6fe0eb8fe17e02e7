//! Marks operations that were removed from the code.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use everstep_machine::{CallSite, PassRemoved, RemovedKind};

use super::handle::Handle;
use crate::ctx::Ctx;
use crate::error::Result;

impl<W> Ctx<W> {
    /// Marks an operation that was removed from the code. Older runs skip its records, once it has
    /// ended or at once if it has not; new runs record the mark and continue.
    ///
    /// ```
    /// # use everstep::{Ctx, Error, Result};
    /// # use everstep::operation::RemovedKind;
    /// async fn order(ctx: Ctx, _: ()) -> Result<u32> {
    ///     ctx.removed("check-stock", RemovedKind::Step).await?; // was a step until June
    ///     ctx.step("charge", || async { Ok::<_, Error>(7) }).await
    /// }
    /// ```
    #[track_caller]
    pub fn removed(&self, name: &str, kind: RemovedKind) -> Removed {
        Removed {
            handle: Handle::new(self, CallSite::caller()),
            name: name.to_owned(),
            kind,
        }
    }
}

/// A removed operation. Await it where the operation was awaited.
#[must_use = "a removed operation is not passed until this is awaited"]
pub struct Removed {
    handle: Handle,
    name: String,
    kind: RemovedKind,
}

impl Future for Removed {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { handle, name, kind } = &mut *self;
        let mut is_passed = false;
        let resolved = handle.poll_with(context, |replay, scope, site| {
            let name = replay.name(name)?;
            Ok(match replay.call_removed(scope, &name, *kind, site) {
                Some(PassRemoved::Wait(op)) => Some(op),
                passed => {
                    is_passed = passed.is_some();
                    None
                }
            })
        });
        match is_passed {
            true => Poll::Ready(Ok(())),
            false => resolved.map(|resolution| resolution.map(drop)),
        }
    }
}

impl std::fmt::Debug for Removed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Removed({}, {})", self.name, self.kind)
    }
}
