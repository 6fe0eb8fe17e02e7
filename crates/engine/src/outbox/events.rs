//! Delivering events. Those of one run to another are many at times, and keep their order by being written together.

use std::sync::Arc;

use everstep_model::record::Event;
use everstep_model::{Generation, Record, RunId, StreamName, StreamNumber, limits};
use everstep_store::{DeliverCommit, Guard, Head, Outcome, Refusal, RunRow, StoreError, StreamRef};

use super::delivery::{Delivery, settled};
use crate::core::Core;
use crate::effects::Effects;
use crate::error::{ReadError, readable};
use crate::send::SendEvent;

/// Events to one run that are delivered at once.
pub(super) const EVENTS_AT_ONCE: usize = 256;

impl Core {
    /// Sends events to one run, in order. Those behind one that cannot be delivered are not either: all are judged in one
    /// batch, in which nothing happens between them.
    pub(super) async fn deliver_events(self: &Arc<Self>, events: Vec<SendEvent>) -> Vec<Delivery> {
        let Some(first) = events.first() else {
            return Vec::new();
        };
        let run = first.run.clone();
        let all = |delivery: fn() -> Delivery| events.iter().map(|_| delivery()).collect();
        let (head, row) = match self.find(&run).await {
            Ok((head, row)) if !head.closed => (head, row),
            Ok(_) | Err(ReadError::UnknownRun(_)) => {
                tracing::warn!(%run, events = events.len(), "events to a run that is over or unknown had no effect");
                return all(|| Delivery::Done);
            }
            Err(error) => return vec![Delivery::Later(error.to_string())],
        };
        let known = match self.known_before(&run, row.generation, &events).await {
            Ok(known) => known,
            Err(error) => return vec![Delivery::Later(error.to_string())],
        };
        let unfit = events.iter().map(|event| self.is_unfit(&row, event));
        let over: Vec<bool> = known
            .into_iter()
            .zip(unfit)
            .map(|(known, unfit)| known || unfit)
            .collect();
        let fresh = events.iter().zip(&over).filter(|(_, over)| !**over);
        let commits = fresh.map(|(event, _)| self.event_commit(&head, event).into());
        match self.committer.commit_all(commits.collect()).await {
            Ok(outcomes) => {
                self.events_landed(head.number, &outcomes);
                let mut fresh = outcomes.into_iter().map(settled_event);
                let delivered = over.into_iter().map_while(|over| match over {
                    true => Some(Delivery::Done),
                    false => fresh.next(),
                });
                delivered.collect()
            }
            Err(error) => vec![Delivery::Later(error.to_string())],
        }
    }

    /// Whether the run's workflow does not take such an event. Its sender has gone on, so nobody can be told.
    fn is_unfit(&self, run: &RunRow, event: &SendEvent) -> bool {
        let checked = self.check_event(run, &event.name, &event.payload);
        if let Err(error) = &checked {
            tracing::warn!(run = %run.id, sender = ?event.by, %error, "an event of another run was refused");
        }
        checked.is_err()
    }

    /// Which of these events an earlier life of the run has had: a run that was revived since gets none of them again. A
    /// closed stream takes nothing, but still says what it knows.
    async fn known_before(
        &self,
        run: &RunId,
        latest: Generation,
        events: &[SendEvent],
    ) -> Result<Vec<bool>, StoreError> {
        let mut known = vec![false; events.len()];
        for generation in Generation::FIRST.0..latest.0 {
            let name = StreamName::of_run(run, Generation(generation));
            let Some(head) = self.store.head(StreamRef::Name(name)).await? else {
                continue;
            };
            let commits = events
                .iter()
                .map(|event| self.event_commit(&head, event).into());
            let outcomes = self.committer.commit_all(commits.collect()).await?;
            for (known, outcome) in known.iter_mut().zip(outcomes) {
                *known |= matches!(readable(outcome)?, Outcome::Duplicate { .. });
            }
        }
        Ok(known)
    }

    fn event_commit(&self, head: &Head, event: &SendEvent) -> DeliverCommit {
        let mut commit = self.inbox_commit(head);
        commit
            .guards
            .push(Guard::UnconsumedEventsBelow(limits::UNCONSUMED_EVENTS_MAX));
        commit.dedup = event.dedup_id.clone();
        commit.records.push(Record {
            time: commit.now,
            body: Event {
                name: event.name.clone(),
                payload: event.payload.clone(),
                dedup_id: event.dedup_id.clone(),
                reply_to: None,
                by: event.by.clone(),
            }
            .into(),
        });
        commit
    }

    /// Wakes whoever executes the run, once for all of them.
    fn events_landed(self: &Arc<Self>, stream: StreamNumber, outcomes: &[Outcome]) {
        let landed = outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Committed { taken, .. } => Some(*taken),
            Outcome::Duplicate { .. } | Outcome::Refused(_) => None,
        });
        let landed: Vec<_> = landed.collect();
        if !landed.is_empty() {
            self.committed(stream, Effects::default());
            self.woken(stream, landed.into_iter().flatten().next());
        }
    }
}

fn settled_event(outcome: Outcome) -> Delivery {
    match outcome {
        Outcome::Refused(Refusal::TooManyEvents(count)) => {
            Delivery::Later(format!("the run holds {count} events"))
        }
        // It may have been revived at that very moment: look again.
        Outcome::Refused(Refusal::Closed) => Delivery::Later("the run ended".to_owned()),
        outcome => settled(outcome),
    }
}
