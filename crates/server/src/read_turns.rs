//! Turns for reads: each caller has a few at once, and its other reads wait. A read takes memory
//! before its response is counted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::auth::Caller;

/// The number of reads of one caller at once.
const OF_CALLER_MAX: usize = 8;

#[derive(Default)]
pub(crate) struct ReadTurns {
    callers: Mutex<HashMap<Arc<str>, Arc<Semaphore>>>,
}

/// The turn of one read, until it is dropped.
pub(crate) struct ReadTurn {
    turns: Arc<ReadTurns>,
    caller: Arc<str>,
    permit: Option<OwnedSemaphorePermit>,
}

impl ReadTurns {
    pub(crate) async fn wait(self: &Arc<Self>, caller: &Caller) -> ReadTurn {
        let caller: Arc<str> = caller.identity().unwrap_or_default().into();
        let free = self
            .callers()
            .entry(caller.clone())
            .or_insert_with(|| Arc::new(Semaphore::new(OF_CALLER_MAX)))
            .clone();
        // Removes the entry also if the request ends while it waits.
        let mut turn = ReadTurn {
            turns: self.clone(),
            caller,
            permit: None,
        };
        turn.permit = free.acquire_owned().await.ok();
        turn
    }

    fn callers(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Semaphore>>> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ReadTurn {
    fn drop(&mut self) {
        self.permit = None;
        let mut callers = self.turns.callers();
        let is_last = |free: &Arc<Semaphore>| Arc::strong_count(free) == 1;
        if callers.get(&self.caller).is_some_and(is_last) {
            callers.remove(&self.caller);
        }
    }
}

#[cfg(test)]
mod tests {
    use everstep_protocol::access::Scope;
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_read_waits_for_others_of_its_caller_only() {
        let turns = Arc::new(ReadTurns::default());
        let [greedy, other] =
            ["greedy", "other"].map(|name| Caller::with_scopes(name, [Scope::Read]));
        let mut taken: Vec<_> = (0..OF_CALLER_MAX)
            .map(|_| turns.wait(&greedy).now_or_never().unwrap())
            .collect();
        assert!(turns.wait(&greedy).now_or_never().is_none());
        assert!(turns.wait(&other).now_or_never().is_some());
        taken.pop();
        assert!(turns.wait(&greedy).now_or_never().is_some());
        drop(taken);
        assert!(turns.callers().is_empty());
    }
}
