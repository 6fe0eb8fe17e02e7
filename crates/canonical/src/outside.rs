//! Effects of the canonical workflows on the outside, which outlives every process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep::{AnyEvent, Ctx, Error, Result};
use futures_util::future::BoxFuture;

type Sleep = Box<dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync>;

/// All effects in order, and the time outside.
#[derive(Clone)]
pub struct Outside(Arc<Shared>);

struct Shared {
    happened: Mutex<Vec<String>>,
    deaths_max: usize,
    sleep: Sleep,
}

impl Outside {
    /// Creates an outside without effects. Processes crash at most this often.
    pub fn new<Fut>(
        deaths_max: usize,
        sleep: impl Fn(Duration) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = ()> + Send + 'static,
    {
        Self(Arc::new(Shared {
            happened: Mutex::default(),
            deaths_max,
            sleep: Box::new(move |duration| Box::pin(sleep(duration))),
        }))
    }

    /// Creates an outside for replays, in which unrecorded work never ends.
    pub(crate) fn of_replay() -> Self {
        Self::new(0, |_| std::future::pending())
    }

    /// Returns and clears all effects.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lock())
    }

    /// Returns all effects.
    pub(crate) fn happened(&self) -> Vec<String> {
        self.lock().clone()
    }

    /// How often an effect in flight may have been repeated.
    pub(crate) fn deaths_max(&self) -> usize {
        self.0.deaths_max
    }

    pub(crate) async fn sleep(&self, duration: Duration) {
        (self.0.sleep)(duration).await;
    }

    pub(crate) fn happens(&self, what: impl Into<String>) {
        self.lock().push(what.into());
    }

    /// Whether there are no effects yet.
    pub(crate) fn is_quiet(&self) -> bool {
        self.lock().is_empty()
    }

    /// Executes a step with one effect.
    pub(crate) async fn step(&self, ctx: &Ctx<AnyEvent>, name: &str, value: u32) -> Result<u32> {
        ctx.step(name, || self.act(name, value)).await
    }

    pub(crate) async fn act(&self, what: &str, value: u32) -> Result<u32> {
        self.happens(what);
        Ok(value)
    }

    /// Executes a step with one effect that can be undone.
    pub(crate) async fn undoable(&self, ctx: &Ctx<AnyEvent>, name: &'static str) -> Result<u32> {
        let outside = self.clone();
        ctx.step(name, || self.act(name, 1))
            .undo(move |_| async move {
                outside.happens(format!("undo {name}"));
                Ok::<_, Error>(())
            })
            .await
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0
            .happened
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
