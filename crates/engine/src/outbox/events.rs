//! Delivers events. Events of one run to another keep their order because they are written
//! together.

use everstep_model::{Generation, RunId, StreamNumber};
use everstep_store::{Commit, Head, Outcome, Refusal, RunRow, StoreError};

use super::delivery::{Deliverer, Delivery, delivered};
use crate::commit::PostCommit;
use crate::error::readable;
use crate::requests::{SendEvent, event_commit};

/// The number of events to one run that are delivered at once.
pub(super) const EVENTS_AT_ONCE: usize = 256;

impl Deliverer {
    /// Sends events to one run, in order. If one cannot be delivered, none of those after it are:
    /// all are in one batch, in which nothing happens between them.
    pub(super) async fn deliver_events(&self, events: Vec<SendEvent>) -> Vec<Delivery> {
        let delivered = self.try_deliver_events(events).await;
        delivered.unwrap_or_else(|error| vec![Delivery::Later(error.to_string())])
    }

    async fn try_deliver_events(
        &self,
        events: Vec<SendEvent>,
    ) -> Result<Vec<Delivery>, StoreError> {
        let Some(first) = events.first() else {
            return Ok(Vec::new());
        };
        let run = first.run.clone();
        let found = self.parts.node.latest(&run).await?;
        let Some((head, row)) = found.filter(|(head, _)| !head.closed) else {
            tracing::warn!(%run, events = events.len(), "events dropped, their run has ended or does not exist");
            return Ok(events.iter().map(|_| Delivery::Done).collect());
        };
        let mut skipped = self.known_before(&run, row.generation, &events).await?;
        let mut commits = Vec::new();
        for (event, skipped) in events.iter().zip(&mut skipped) {
            *skipped |= self.is_rejected(&row, event);
            if !*skipped {
                commits.push(self.event_commit(&head, event));
            }
        }
        let outcomes = self.parts.committer.commit_all(commits).await?;
        self.events_landed(head.number, &outcomes);
        let mut fresh = outcomes.into_iter().map(delivered_event);
        let delivered = skipped.into_iter().map_while(|skipped| match skipped {
            true => Some(Delivery::Done),
            false => fresh.next(),
        });
        Ok(delivered.collect())
    }

    fn event_commit(&self, head: &Head, event: &SendEvent) -> Commit {
        event_commit(&self.dispatcher, head, event, None).into()
    }

    /// Returns whether the workflow rejects an event. The sender does not wait, so this is only
    /// logged.
    fn is_rejected(&self, run: &RunRow, event: &SendEvent) -> bool {
        let workers = &self.parts.workers;
        let checked = workers.check_event(run, &event.name, &event.payload);
        if let Err(error) = &checked {
            tracing::warn!(run = %run.id, sender = ?event.by, %error, "event of another run rejected");
        }
        checked.is_err()
    }

    /// Returns which of these events an earlier generation of the run has received, so that a
    /// revived run does not receive them again. A closed stream refuses events, but still reports
    /// duplicates.
    async fn known_before(
        &self,
        run: &RunId,
        latest: Generation,
        events: &[SendEvent],
    ) -> Result<Vec<bool>, StoreError> {
        let mut known = vec![false; events.len()];
        for generation in Generation::FIRST.0..latest.0 {
            let head = self.parts.node.generation(run, Generation(generation));
            let Some(head) = head.await? else { continue };
            let commits = events.iter().map(|event| self.event_commit(&head, event));
            let outcomes = self.parts.committer.commit_all(commits.collect()).await?;
            for (known, outcome) in known.iter_mut().zip(outcomes) {
                *known |= matches!(readable(outcome)?, Outcome::Duplicate { .. });
            }
        }
        Ok(known)
    }

    /// Wakes the run, once for all events.
    fn events_landed(&self, stream: StreamNumber, outcomes: &[Outcome]) {
        let landed = outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Committed { taken, .. } => Some(*taken),
            Outcome::Duplicate { .. } | Outcome::Refused(_) => None,
        });
        let landed: Vec<_> = landed.collect();
        if !landed.is_empty() {
            let claim = landed.into_iter().flatten().next();
            self.dispatcher.landed(stream, PostCommit::default(), claim);
        }
    }
}

fn delivered_event(outcome: Outcome) -> Delivery {
    match outcome {
        Outcome::Refused(Refusal::TooManyEvents(count)) => {
            Delivery::Later(format!("the run holds {count} events"))
        }
        // The run may have been revived concurrently.
        Outcome::Refused(Refusal::Closed) => Delivery::Later("the run ended".to_owned()),
        outcome => delivered(outcome),
    }
}
