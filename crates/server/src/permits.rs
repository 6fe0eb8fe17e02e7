//! Limits concurrent long-polls, event streams and requests that wait: those of the server, and those
//! of each token.

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
    /// The number of waiting requests of each token.
    by_token: Arc<Mutex<HashMap<Arc<str>, usize>>>,
}

/// The permit of one waiting request. Dropping it releases the permit.
pub(crate) struct WaitPermit {
    _of_token: Option<TokenPermit>,
    _of_all: OwnedSemaphorePermit,
}

struct TokenPermit {
    permits: WaitPermits,
    token: Arc<str>,
}

impl WaitPermits {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(max)),
            by_token: Arc::default(),
        }
    }

    /// Takes a permit, or fails at once with a hint to retry.
    pub(crate) fn acquire(&self, caller: &Caller) -> Result<WaitPermit, Failure> {
        let of_token = caller.token_text().map(|token| self.of_token(token.into()));
        let of_token = of_token.transpose()?;
        let of_all = self.all.clone().try_acquire_owned();
        Ok(WaitPermit {
            _of_token: of_token,
            _of_all: of_all.map_err(|_| {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                too_busy(status, "too many requests are waiting")
            })?,
        })
    }

    fn of_token(&self, token: Arc<str>) -> Result<TokenPermit, Failure> {
        let mut counts = self.counts();
        let count = counts.entry(token.clone()).or_default();
        if *count >= OF_TOKEN_MAX {
            let detail = "too many requests of this token are waiting";
            return Err(too_busy(StatusCode::TOO_MANY_REQUESTS, detail));
        }
        *count += 1;
        drop(counts);
        let permits = self.clone();
        Ok(TokenPermit { permits, token })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<Arc<str>, usize>> {
        self.by_token.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TokenPermit {
    fn drop(&mut self) {
        let mut counts = self.permits.counts();
        if let Some(count) = counts.get_mut(&self.token) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.token);
            }
        }
    }
}

fn too_busy(status: StatusCode, detail: &str) -> Failure {
    Failure::new(status, ErrorCode::TooBusy, detail).with(header::RETRY_AFTER, 1)
}
