//! Sleeping.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_machine::{CallSite, SleepCall};
use everstep_model::{Scope, Timestamp};

use super::handle::Handle;
use crate::error::Result;
use crate::execution::Shared;

/// A durable sleep.
#[must_use = "a sleep does nothing until it is awaited"]
pub struct Sleep {
    handle: Handle,
    scope: Scope,
    name: String,
    length: Length,
    site: CallSite,
}

#[derive(Clone, Copy)]
enum Length {
    For(Duration),
    Until(Timestamp),
}

impl Sleep {
    pub(crate) fn for_duration(
        shared: Arc<Shared>,
        scope: Scope,
        name: String,
        duration: Duration,
        site: CallSite,
    ) -> Self {
        Self::new(shared, scope, name, Length::For(duration), site)
    }

    pub(crate) fn until(
        shared: Arc<Shared>,
        scope: Scope,
        name: String,
        until: Timestamp,
        site: CallSite,
    ) -> Self {
        Self::new(shared, scope, name, Length::Until(until), site)
    }

    fn new(
        shared: Arc<Shared>,
        scope: Scope,
        name: String,
        length: Length,
        site: CallSite,
    ) -> Self {
        Self {
            handle: Handle::new(shared),
            scope,
            name,
            length,
            site,
        }
    }
}

impl Future for Sleep {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let (scope, name, length, site) = (&this.scope, &this.name, this.length, this.site);
        let resolved = this.handle.poll(context, |replay| {
            let name = replay.name(name)?;
            let sleep = match length {
                Length::For(duration) => SleepCall::For(duration),
                Length::Until(until) => SleepCall::Until(until),
            };
            Ok(replay.call(scope, &name, sleep, site))
        });
        resolved.map(|resolution| resolution.map(drop))
    }
}

impl std::fmt::Debug for Sleep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sleep({})", self.name)
    }
}
