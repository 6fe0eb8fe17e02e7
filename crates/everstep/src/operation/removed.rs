//! The place of an operation that the code no longer has.

use std::future::Future;
use std::panic::Location as Caller;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use everstep_machine::RemovedKind;
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
    site: &'static Caller<'static>,
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
            site,
        }
    }
}

impl Future for Removed {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let (scope, name, kind, site) = (&this.scope, &this.name, this.kind, this.site);
        let resolved = this.handle.poll(context, |replay| {
            let name = replay.name(name)?;
            Ok(replay.call_removed(scope, &name, kind, site))
        });
        resolved.map(|resolution| resolution.map(drop))
    }
}

impl std::fmt::Debug for Removed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Removed({}, {})", self.name, self.kind)
    }
}
