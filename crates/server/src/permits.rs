//! Limits concurrent long-polls, event streams and requests that wait: those of the server, and
//! those of each caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::{StatusCode, header};
use everstep_model::ErrorCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::auth::Caller;
use crate::failure::Failure;

/// The maximum number of waiting requests of one token. Tokens are in browsers, so their holders
/// may be hostile.
const OF_TOKEN_MAX: usize = 1_000;

#[derive(Clone)]
pub(crate) struct WaitPermits {
    all: Arc<Semaphore>,
    of_key_max: usize,
    /// The number of waiting requests of each caller.
    counts: Arc<Mutex<HashMap<Arc<str>, usize>>>,
}

/// The permit of one waiting request. Dropping it releases the permit.
pub(crate) struct WaitPermit {
    _of_caller: Option<CallerPermit>,
    _of_all: OwnedSemaphorePermit,
}

struct CallerPermit {
    permits: WaitPermits,
    caller: Arc<str>,
}

impl WaitPermits {
    /// Creates permits, of which one key gets at most half.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(max)),
            of_key_max: max.div_ceil(2),
            counts: Arc::default(),
        }
    }

    /// Takes a permit, or fails at once with a hint to retry.
    pub(crate) fn acquire(&self, caller: &Caller) -> Result<WaitPermit, Failure> {
        let max = match caller.has_token() {
            true => OF_TOKEN_MAX,
            false => self.of_key_max,
        };
        let identity = caller.identity();
        let of_caller = identity.map(|identity| self.of_caller(identity.into(), max));
        let of_caller = of_caller.transpose()?;
        let of_all = self.all.clone().try_acquire_owned();
        Ok(WaitPermit {
            _of_caller: of_caller,
            _of_all: of_all.map_err(|_| {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                too_busy(status, "too many requests are waiting")
            })?,
        })
    }

    fn of_caller(&self, caller: Arc<str>, max: usize) -> Result<CallerPermit, Failure> {
        let mut counts = self.counts();
        let count = counts.entry(caller.clone()).or_default();
        if *count >= max {
            let detail = "too many requests of this key or token are waiting";
            return Err(too_busy(StatusCode::TOO_MANY_REQUESTS, detail));
        }
        *count += 1;
        drop(counts);
        let permits = self.clone();
        Ok(CallerPermit { permits, caller })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<Arc<str>, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CallerPermit {
    fn drop(&mut self) {
        let mut counts = self.permits.counts();
        if let Some(count) = counts.get_mut(&self.caller) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.caller);
            }
        }
    }
}

fn too_busy(status: StatusCode, detail: &str) -> Failure {
    Failure::new(status, ErrorCode::TooBusy, detail).with(header::RETRY_AFTER, 1)
}
