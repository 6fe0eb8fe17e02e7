//! Runs in memory: executing, or suspended and kept for a while so that an event resumes them
//! without replay.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use everstep_model::{Epoch, StreamNumber, Timestamp};
use everstep_store::Fence;
use rustc_hash::FxHashMap;
use tokio::sync::Notify;

use super::mailbox::{Letter, Mailbox};
use crate::lock::lock;
use crate::workers::Message;

#[derive(Default)]
pub(crate) struct ResidentRuns {
    state: Mutex<State>,
    /// Notified when a run suspends and none was suspended before.
    became_idle: Notify,
}

#[derive(Default)]
struct State {
    runs: FxHashMap<StreamNumber, Resident>,
    /// Suspended runs, the longest suspended first.
    idle: BTreeMap<u64, StreamNumber>,
    next_idle: u64,
}

struct Resident {
    mailbox: Arc<Mailbox>,
    /// The epoch of the claim under which it is, or was last, executed.
    epoch: Epoch,
    /// While it is suspended: its key in `State::idle`, and since when.
    idle: Option<(u64, Timestamp)>,
}

impl State {
    fn take_out(&mut self, stream: StreamNumber) -> Option<Resident> {
        let run = self.runs.remove(&stream)?;
        if let Some((order, _)) = run.idle {
            self.idle.remove(&order);
        }
        Some(run)
    }
}

impl ResidentRuns {
    /// Adds a run that is being executed, unless it is executed under a later claim. The executor
    /// that loses the run is notified.
    pub(crate) fn add(&self, stream: StreamNumber, epoch: Epoch, mailbox: Arc<Mailbox>) {
        let mut state = lock(&self.state);
        let is_late = |run: &Resident| run.epoch > epoch;
        let lost = if state.runs.get(&stream).is_some_and(is_late) {
            Some(mailbox)
        } else {
            let earlier = state.take_out(stream);
            let idle = None;
            let run = Resident {
                mailbox,
                epoch,
                idle,
            };
            state.runs.insert(stream, run);
            earlier.map(|run| run.mailbox)
        };
        drop(state);
        if let Some(mailbox) = lost {
            mailbox.push(Message::Lost);
        }
    }

    /// Resumes the executor of a run under a new claim. Returns false if none resumes.
    ///
    /// Only a suspended executor may resume. One that is executing had lost the run without
    /// noticing, and what it has done since must not get into the journal under the new claim.
    pub(crate) fn resume(&self, stream: StreamNumber, fence: Fence) -> bool {
        let mut state = lock(&self.state);
        let Some(run) = state.runs.get_mut(&stream) else {
            return false;
        };
        if run.epoch >= fence.epoch {
            // A message about an older claim arrived late.
            return true;
        }
        let idle = run.idle.take();
        run.epoch = fence.epoch;
        let mailbox = run.mailbox.clone();
        match idle {
            Some((order, _)) => drop(state.idle.remove(&order)),
            None => drop(state.runs.remove(&stream)),
        }
        drop(state);
        mailbox.push(match idle {
            Some(_) => Letter::Claim(fence),
            None => Letter::Message(Message::Lost),
        });
        idle.is_some()
    }

    /// Sends a message to the executor of a run. Returns false if the run is not in memory.
    pub(crate) fn notify(&self, stream: StreamNumber, message: Message) -> bool {
        let state = lock(&self.state);
        let Some(run) = state.runs.get(&stream) else {
            return false;
        };
        let mailbox = run.mailbox.clone();
        drop(state);
        mailbox.push(message);
        true
    }

    /// Removes a run and notifies its executor that it has lost the run.
    pub(crate) fn revoke(&self, stream: StreamNumber) {
        let lost = lock(&self.state).take_out(stream);
        if let Some(run) = lost {
            run.mailbox.push(Message::Lost);
        }
    }

    pub(crate) fn contains(&self, stream: StreamNumber) -> bool {
        lock(&self.state).runs.contains_key(&stream)
    }

    /// Removes a run, unless another executor has it by now.
    pub(crate) fn remove(&self, stream: StreamNumber, mailbox: &Arc<Mailbox>) {
        let mut state = lock(&self.state);
        let is_same = |run: &Resident| Arc::ptr_eq(&run.mailbox, mailbox);
        if state.runs.get(&stream).is_some_and(is_same) {
            state.take_out(stream);
        }
    }

    pub(crate) fn notify_all(&self, message: &Message) {
        let state = lock(&self.state);
        let mailboxes: Vec<_> = state.runs.values().map(|run| run.mailbox.clone()).collect();
        drop(state);
        for mailbox in mailboxes {
            mailbox.push(message.clone());
        }
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.state).runs.len()
    }

    /// Returns the number of runs that are executing rather than suspended.
    pub(crate) fn executing(&self) -> usize {
        let state = lock(&self.state);
        state.runs.len() - state.idle.len()
    }

    /// Marks a run as suspended, and evicts the one that was suspended longest if there are too
    /// many.
    pub(crate) fn suspend(
        &self,
        stream: StreamNumber,
        mailbox: &Arc<Mailbox>,
        now: Timestamp,
        suspended_max: usize,
    ) {
        let mut state = lock(&self.state);
        let is_same = |run: &&mut Resident| Arc::ptr_eq(&run.mailbox, mailbox);
        let order = state.next_idle;
        state.next_idle += 1;
        if let Some(run) = state.runs.get_mut(&stream).filter(is_same) {
            run.idle = Some((order, now));
            if state.idle.is_empty() {
                self.became_idle.notify_one();
            }
            state.idle.insert(order, stream);
        }
        if state.idle.len() > suspended_max
            && let Some((_, oldest)) = state.idle.pop_first()
            && let Some(evicted) = state.runs.remove(&oldest)
        {
            drop(state);
            evicted.mailbox.push(Message::Evict);
        }
    }

    pub(super) fn longest_idle_since(&self) -> Option<Timestamp> {
        let state = lock(&self.state);
        let (_, stream) = state.idle.first_key_value()?;
        state.runs.get(stream)?.idle.map(|(_, since)| since)
    }

    /// Evicts the runs that were suspended before a time.
    pub(super) fn evict_idle_since(&self, before: Timestamp) {
        let mut state = lock(&self.state);
        let mut evicted = Vec::new();
        while let Some((&order, &stream)) = state.idle.first_key_value() {
            let since = state.runs.get(&stream).and_then(|run| run.idle);
            if since.is_some_and(|(_, since)| since > before) {
                break;
            }
            state.idle.remove(&order);
            evicted.extend(state.runs.remove(&stream).map(|run| run.mailbox));
        }
        drop(state);
        for mailbox in evicted {
            mailbox.push(Message::Evict);
        }
    }

    /// Waits until a run suspends and none was suspended before.
    pub(super) async fn became_idle(&self) {
        self.became_idle.notified().await;
    }
}

#[cfg(test)]
mod tests;
