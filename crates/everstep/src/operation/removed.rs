//! The place of an operation that the code no longer has.

use std::future::Future;
use std::panic::Location as Caller;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use everstep_machine::{OpId, PassRemoved, RemovedKind};
use everstep_model::Scope;

use super::handle::Handle;
use crate::error::Result;
use crate::execution::Shared;

/// A removed operation. Await it where the operation was awaited.
#[must_use = "a removed operation is not passed until this is awaited"]
pub struct Removed {
    handle: Handle,
    scope: Scope,
    name: String,
    kind: RemovedKind,
    stage: Stage,
    site: &'static Caller<'static>,
}

enum Stage {
    New,
    Waiting(OpId),
    Halted,
}

impl Removed {
    pub(crate) fn new(
        shared: Arc<Shared>,
        scope: Scope,
        name: &str,
        kind: RemovedKind,
        site: &'static Caller<'static>,
    ) -> Self {
        Self {
            handle: Handle::new(shared),
            scope,
            name: name.to_owned(),
            kind,
            stage: Stage::New,
            site,
        }
    }

    /// Whether the place is passed already.
    fn call(&mut self) -> Result<bool> {
        let mut state = self.handle.shared().state();
        let name = state.replay.name(&self.name)?;
        let called = state
            .replay
            .call_removed(&self.scope, &name, self.kind, self.site);
        self.stage = match called {
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
