//! Sleeping.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_machine::{CallSite, SleepCall};
use everstep_model::{Scope, Timestamp};

use super::handle::Handle;
use crate::ctx::Ctx;
use crate::error::Result;

impl<W> Ctx<W> {
    /// Sleeps for a time, durably: the run costs nothing meanwhile.
    #[track_caller]
    pub fn sleep(&self, name: &str, duration: Duration) -> Sleep {
        Sleep::new(self, name, Length::For(duration), CallSite::caller())
    }

    /// Sleeps until a time. One that has passed completes at once.
    #[track_caller]
    pub fn sleep_until(&self, name: &str, until: Timestamp) -> Sleep {
        Sleep::new(self, name, Length::Until(until), CallSite::caller())
    }
}

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
    fn new<W>(ctx: &Ctx<W>, name: &str, length: Length, site: CallSite) -> Self {
        Self {
            handle: Handle::new(ctx.shared().clone()),
            scope: ctx.scope().clone(),
            name: name.to_owned(),
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
