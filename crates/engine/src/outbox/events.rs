//! Delivers events. Events of one run to another keep their order because they are written
//! together.

use everstep_model::{Generation, RunId, StreamName, StreamNumber};
use everstep_store::{Outcome, Refusal, RunRow, StoreError, StreamRef};

use super::delivery::{Deliverer, Delivery, delivered};
use crate::commit::PostCommit;
use crate::error::{ReadError, readable};
use crate::requests::{SendEvent, event_commit};

/// The number of events to one run that are delivered at once.
pub(super) const EVENTS_AT_ONCE: usize = 256;

impl Deliverer {
    /// Sends events to one run, in order. If one cannot be delivered, none of those after it are:
    /// all are in one batch, in which nothing happens between them.
    pub(super) async fn deliver_events(&self, events: Vec<SendEvent>) -> Vec<Delivery> {
        let Some(first) = events.first() else {
            return Vec::new();
        };
        let run = first.run.clone();
        let all = |delivery: fn() -> Delivery| events.iter().map(|_| delivery()).collect();
        let (head, row) = match self.node.find(&run).await {
            Ok((head, row)) if !head.closed => (head, row),
            Ok(_) | Err(ReadError::UnknownRun(_)) => {
                tracing::warn!(%run, events = events.len(), "events dropped, their run has ended or does not exist");
                return all(|| Delivery::Done);
            }
            Err(error) => return vec![Delivery::Later(error.to_string())],
        };
        let known = match self.known_before(&run, row.generation, &events).await {
            Ok(known) => known,
            Err(error) => return vec![Delivery::Later(error.to_string())],
        };
        let rejected = events.iter().map(|event| self.is_rejected(&row, event));
        let over: Vec<bool> = known
            .into_iter()
            .zip(rejected)
            .map(|(known, rejected)| known || rejected)
            .collect();
        let fresh = events.iter().zip(&over).filter(|(_, over)| !**over);
        let commits = fresh.map(|(event, _)| event_commit(&self.inbox, &head, event, None).into());
        match self.committer.commit_all(commits.collect()).await {
            Ok(outcomes) => {
                self.events_landed(head.number, &outcomes);
                let mut fresh = outcomes.into_iter().map(delivered_event);
                let delivered = over.into_iter().map_while(|over| match over {
                    true => Some(Delivery::Done),
                    false => fresh.next(),
                });
                delivered.collect()
            }
            Err(error) => vec![Delivery::Later(error.to_string())],
        }
    }

    /// Returns whether the workflow rejects an event. The sender does not wait, so this is only
    /// logged.
    fn is_rejected(&self, run: &RunRow, event: &SendEvent) -> bool {
        let checked = self.workers.check_event(run, &event.name, &event.payload);
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
            let name = StreamName::of_run(run, Generation(generation));
            let Some(head) = self.node.store.head(StreamRef::Name(name)).await? else {
                continue;
            };
            let commits = events
                .iter()
                .map(|event| event_commit(&self.inbox, &head, event, None).into());
            let outcomes = self.committer.commit_all(commits.collect()).await?;
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
            self.inbox.landed(stream, PostCommit::default(), claim);
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
