//! Derives the effects of a commit on other runs from its records and from the children it leaves.

use std::collections::BTreeMap;

use everstep_inspect::ChildView;
use everstep_machine::{LeftChild, TraceRoot};
use everstep_model::record::{ChildStarted, ParentClose};
use everstep_model::{
    Body, Entry, Generation, Link, Location, Record, RecordNumber, RunId, Seed, StreamNumber,
    TraceParent,
};
use everstep_store::{OutboxRow, Row};

use super::effect::{ChildFinished, Effect, StartChild, outcome_of};

/// The origin of a run, from its first record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// Distinguishes the run from other runs that have had the same id.
    pub(crate) identity: Option<Seed>,
    /// The operation of the parent run that waits for it.
    pub(crate) parent: Option<Link>,
    /// The trace context of its start.
    pub(crate) trace: Option<TraceParent>,
}

impl Origin {
    /// Reads the origin from a journal, or from a journal's first record.
    pub(crate) fn of(journal: &[Entry]) -> Self {
        match journal.first().map(|first| &first.record.body) {
            Some(Body::Created(created)) => Self {
                identity: Some(created.identity()),
                parent: created.parent_link(),
                trace: created.trace,
            },
            _ => Self::default(),
        }
    }
}

/// The run whose commit has effects.
#[derive(Clone, Copy)]
pub(crate) struct Cause<'a> {
    pub(crate) stream: StreamNumber,
    pub(crate) run: &'a RunId,
    pub(crate) generation: Generation,
    pub(crate) origin: &'a Origin,
}

impl Cause<'_> {
    /// Returns the effects of an executor's commit. `seen` is the number of records that the
    /// executor knew. The numbers of its new records are not known yet, but they are not smaller,
    /// and `seen` of its next commit is larger, so keys rise from commit to commit.
    pub(crate) fn effects(
        &self,
        records: &[Record],
        left: &[LeftChild],
        seen: RecordNumber,
    ) -> Vec<Row> {
        let mut rows = Vec::new();
        for (index, record) in records.iter().enumerate() {
            if let Some(effect) = self.effect_of(&record.body) {
                rows.extend(self.row(key_at(seen, index), &effect));
            }
        }
        if !left.is_empty() {
            let last = records.len().saturating_sub(1);
            rows.extend(self.leave(left, &key_at(seen, last)));
        }
        rows
    }

    /// Returns the effects of the end of a run that its executor does not write.
    pub(crate) fn effects_of_end(&self, end: &Body, left: &[LeftChild]) -> Vec<Row> {
        // Sorts after the effects of its executors, whose keys begin with a digit.
        let effect = self.effect_of(end);
        let row = effect.and_then(|effect| self.row("~".to_owned(), &effect));
        row.into_iter().chain(self.leave(left, "~")).collect()
    }

    /// Returns the effects of a journal that begins as a copy: the run also receives the ends of
    /// the runs that the original waits for.
    pub(crate) fn effects_of_copy(&self, open: &[ChildView]) -> Vec<Row> {
        let rows = open.iter().enumerate().filter_map(|(index, child)| {
            let effect = Effect::AwaitRun {
                run: child.run.clone(),
                parent: self.link(&child.location),
            };
            // Sorts before the effects of its executors, whose keys begin with a digit.
            self.row(format!("!{index:06}"), &effect)
        });
        rows.collect()
    }

    fn leave(&self, left: &[LeftChild], key: &str) -> Vec<Row> {
        let rows = left.iter().enumerate().filter_map(|(index, child)| {
            let (run, parent) = (child.run.clone(), self.link(&child.location));
            let effect = match child.on_close {
                ParentClose::Cancel => Effect::CancelRun { run, parent },
                ParentClose::Terminate => Effect::TerminateRun { run, parent },
                ParentClose::Abandon => return None,
            };
            self.row(format!("{key}.{index:06}"), &effect)
        });
        rows.collect()
    }

    fn effect_of(&self, body: &Body) -> Option<Effect> {
        match body {
            Body::ChildStarted(record) => Some(Effect::StartChild(StartChild {
                run: record.run.clone(),
                workflow: record.workflow.clone(),
                input: record.input.clone(),
                tags: record.tags.clone(),
                parent: self.link(&record.location),
                detached: record.detached,
                trace: self.trace_of(record),
            })),
            Body::Sent(record) => Some(Effect::SendEvent {
                to: record.to.clone(),
                event: record.event.clone(),
                payload: record.payload.clone(),
                sender: self.link(&record.location),
            }),
            body => Some(Effect::ChildFinished(ChildFinished {
                parent: self.origin.parent.clone()?,
                run: self.run.clone(),
                generation: self.generation,
                identity: self.origin.identity,
                outcome: outcome_of(body)?,
            })),
        }
    }

    /// Returns the trace context of a child.
    fn trace_of(&self, child: &ChildStarted) -> Option<TraceParent> {
        let root = TraceRoot::new(self.generation, self.origin.identity?, self.origin.trace);
        Some(root.of(self.run).child(&child.location, &child.run))
    }

    pub(crate) fn link(&self, location: &Location) -> Link {
        Link {
            run: self.run.clone(),
            generation: self.generation,
            location: location.clone(),
            identity: self.origin.identity,
        }
    }

    fn row(&self, key: String, effect: &Effect) -> Option<Row> {
        let effect = effect.to_payload()?;
        Some(Row::Outbox(OutboxRow {
            stream: self.stream,
            key,
            effect,
        }))
    }
}

/// Returns the key of the effect of the n-th record of a commit.
fn key_at(seen: RecordNumber, index: usize) -> String {
    format!("{:016x}", seen.plus(index).0)
}

/// The children that are open in a journal, even if the run was about to end.
#[derive(Default)]
pub(crate) struct OpenChildren(BTreeMap<Location, LeftChild>);

impl OpenChildren {
    /// Adds the next record.
    pub(crate) fn fold(&mut self, body: &Body) {
        match body {
            Body::ChildStarted(record) if !record.detached => {
                let child = LeftChild {
                    location: record.location.clone(),
                    run: record.run.clone(),
                    on_close: record.on_close,
                };
                self.0.insert(record.location.clone(), child);
            }
            Body::ChildFinished(record) => drop(self.0.remove(&record.location)),
            Body::StepAbandoned(record) => drop(self.0.remove(&record.location)),
            _ => {}
        }
    }

    pub(crate) fn left(&self) -> Vec<LeftChild> {
        self.0.values().cloned().collect()
    }
}
