//! The place of an operation that the code no longer has.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use everstep_machine::{CallSite, OpId, PassRemoved, RemovedKind};
use everstep_model::Scope;

use super::handle::Handle;
use crate::ctx::Ctx;
use crate::error::{Error, Result};

impl<W> Ctx<W> {
    /// The place of an operation that the code no longer has. Runs that began before skip whatever it left in their journal,
    /// once it was over or at once if it was not; new runs leave a mark there and go on.
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
            handle: Handle::new(self.shared().clone()),
            scope: self.scope().clone(),
            name: name.to_owned(),
            kind,
            stage: Stage::New,
            site: CallSite::caller(),
        }
    }
}

/// A removed operation. Await it where the operation was awaited.
#[must_use = "a removed operation is not passed until this is awaited"]
pub struct Removed {
    handle: Handle,
    scope: Scope,
    name: String,
    kind: RemovedKind,
    stage: Stage,
    site: CallSite,
}

enum Stage {
    New,
    Waiting(OpId),
    Halted,
}

impl Removed {
    /// Whether the place is passed already.
    fn call(&mut self) -> Result<bool> {
        let called = self.handle.shared().with(|execution| {
            let replay = &mut execution.replay;
            let name = replay.name(&self.name)?;
            Ok::<_, Error>(replay.call_removed(&self.scope, &name, self.kind, self.site))
        });
        self.stage = match called.transpose()?.flatten() {
            Some(PassRemoved::AtOnce) => return Ok(true),
            Some(PassRemoved::Wait(op)) => Stage::Waiting(op),
            None => Stage::Halted,
        };
        Ok(false)
    }
}

impl Future for Removed {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if matches!(self.stage, Stage::New) && self.call()? {
            return Poll::Ready(Ok(()));
        }
        match self.stage {
            Stage::Waiting(op) => {
                let resolved = self.handle.poll(context, |_| Ok(Some(op)));
                resolved.map(|resolution| resolution.map(drop))
            }
            Stage::New | Stage::Halted => Poll::Pending,
        }
    }
}

impl std::fmt::Debug for Removed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Removed({}, {})", self.name, self.kind)
    }
}
