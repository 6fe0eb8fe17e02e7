//! A control request about one run, with its actor and reason.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use everstep_engine::RequestOrigin;

use crate::client::ControlError;

use crate::client::RunHandle;

type Asking<T> = Pin<Box<dyn Future<Output = Result<T, ControlError>> + Send>>;

/// A control verb. Sealed: only this crate implements it.
pub trait Verb: sealed::Perform {}

impl<V: sealed::Perform> Verb for V {}

pub(super) mod sealed {
    use super::{Asking, RequestOrigin, RunHandle};

    /// Performs a verb.
    pub trait Perform: Send + 'static {
        /// The result of the request.
        type Output: Send + 'static;

        /// Sends the request.
        fn perform(self, run: RunHandle, origin: RequestOrigin) -> Asking<Self::Output>;
    }
}

/// A control request. Set the actor and the reason, then await it.
///
/// ```
/// # async fn example(run: everstep::RunHandle) -> Result<(), everstep::control::ControlError> {
/// let done = run.pause().reason("the bank is closed").by("alice").await?;
/// println!("{done}"); // run `order-7` is pausing
/// # Ok(())
/// # }
/// ```
#[must_use = "the request is sent only when it is awaited"]
#[derive(Debug)]
pub struct ControlRequest<V> {
    run: RunHandle,
    origin: RequestOrigin,
    pub(super) verb: V,
}

impl<V> ControlRequest<V> {
    pub(super) fn new(run: &RunHandle, verb: V) -> Self {
        Self {
            run: run.clone(),
            origin: RequestOrigin::default(),
            verb,
        }
    }

    /// Sets the actor, for the journal.
    pub fn by(mut self, name: impl Into<String>) -> Self {
        self.origin.by = Some(name.into());
        self
    }

    /// Sets the reason, for the journal.
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.origin.reason = Some(reason.into());
        self
    }
}

impl<V: Verb> IntoFuture for ControlRequest<V> {
    type Output = Result<V::Output, ControlError>;
    type IntoFuture = Asking<V::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.verb.perform(self.run, self.origin)
    }
}
