//! Durable sleeps.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use everstep_machine::{CallSite, SleepCall};
use everstep_model::Timestamp;

use super::handle::Handle;
use crate::ctx::Ctx;
use crate::error::Result;

impl<W> Ctx<W> {
    /// Sleeps durably. The run uses no memory meanwhile.
    #[track_caller]
    pub fn sleep(&self, name: &str, duration: Duration) -> Sleep {
        Sleep::new(self, name, SleepCall::For(duration), CallSite::caller())
    }

    /// Sleeps until a time. If it has passed, this completes at once.
    #[track_caller]
    pub fn sleep_until(&self, name: &str, until: Timestamp) -> Sleep {
        Sleep::new(self, name, SleepCall::Until(until), CallSite::caller())
    }
}

/// A durable sleep.
#[must_use = "a sleep does nothing until it is awaited"]
pub struct Sleep {
    handle: Handle,
    name: String,
    call: SleepCall,
}

impl Sleep {
    fn new<W>(ctx: &Ctx<W>, name: &str, call: SleepCall, site: CallSite) -> Self {
        Self {
            handle: Handle::new(ctx, site),
            name: name.to_owned(),
            call,
        }
    }
}

impl Future for Sleep {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { handle, name, call } = &mut *self;
        let resolved = handle.poll(context, name, |_| Ok(*call));
        resolved.map(|resolution| resolution.map(drop))
    }
}

impl std::fmt::Debug for Sleep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sleep({})", self.name)
    }
}
