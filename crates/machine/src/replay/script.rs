//! The script: the records an execution writes as a consequence of the journal alone, in the order it does.
//!
//! Calling an operation, taking an event, giving up a wait, leaving a note: the code does these in the same order each
//! time it meets the same journal. Hot, they are written; cold, they are compared with what was written.

use std::collections::{HashMap, VecDeque};

use everstep_model::{Body, Entry, Location, Name, RecordNumber};

use super::divergence::{CallSite, Divergence};

/// Something the execution says happened.
#[derive(Debug)]
struct Said {
    type_name: &'static str,
    location: Location,
    site: Option<CallSite>,
}

#[derive(Debug, Default)]
pub(super) struct Script {
    /// Recorded, and not yet reached by the code.
    expected: VecDeque<(RecordNumber, Body)>,
    /// Said by the code, and not yet seen in the journal.
    unrecorded: VecDeque<Said>,
    /// Where the code said what is recorded; kept only where somebody will ask.
    sites: Option<HashMap<RecordNumber, CallSite>>,
}

/// What became of a line of the script.
pub(super) enum Line {
    /// The journal holds it: go by what is recorded.
    Recorded(Body),
    /// It is new: write it.
    New(Body),
}

impl Script {
    /// The code says something.
    pub(super) fn say(
        &mut self,
        body: Body,
        site: Option<CallSite>,
    ) -> Result<Line, Box<Divergence>> {
        let Some(location) = body.location().cloned() else {
            return Ok(Line::New(body));
        };
        let Some((number, recorded)) = self.take_expected(&body) else {
            self.unrecorded.push_back(Said {
                type_name: body.type_name(),
                location,
                site,
            });
            return Ok(Line::New(body));
        };
        match difference(&recorded, &body) {
            None => {
                if let (Some(sites), Some(site)) = (&mut self.sites, site) {
                    sites.insert(number, site);
                }
                Ok(Line::Recorded(recorded))
            }
            Some(detail) => Err(Box::new(Divergence {
                record: Some(number),
                recorded: place(&recorded),
                recorded_site: None,
                called: place(&body),
                called_site: site,
                detail,
            })),
        }
    }

    /// The journal shows a scripted record, ours or an earlier execution's.
    pub(super) fn record(&mut self, entry: &Entry) -> Result<(), Box<Divergence>> {
        let body = &entry.record.body;
        let Some(said) = self.take_unrecorded(body) else {
            self.expected.push_back((entry.number, body.clone()));
            return Ok(());
        };
        if said.type_name == body.type_name() && body.location() == Some(&said.location) {
            if let (Some(sites), Some(site)) = (&mut self.sites, said.site) {
                sites.insert(entry.number, site);
            }
            return Ok(());
        }
        Err(Box::new(Divergence {
            record: Some(entry.number),
            recorded: place(body),
            recorded_site: None,
            called: Some((said.type_name, said.location)),
            called_site: said.site,
            detail: None,
        }))
    }

    /// Takes the recorded line that this one must equal: the next one.
    ///
    /// Operations that the code drops in one poll are recorded in any order, because languages drop
    /// in different orders. An abandonment may therefore equal any one of a consecutive run of them.
    /// Runs of several polls are not confused: the code must have reached a record when the fold
    /// does.
    fn take_expected(&mut self, said: &Body) -> Option<(RecordNumber, Body)> {
        if !is_abandonment(said) {
            return self.expected.pop_front();
        }
        let run = self
            .expected
            .iter()
            .take_while(|(_, body)| is_abandonment(body));
        let index = { run }.position(|(_, body)| body.location() == said.location());
        self.expected.remove(index.unwrap_or(0))
    }

    /// Takes the line of the code that this record must equal, as [`Self::take_expected`].
    fn take_unrecorded(&mut self, recorded: &Body) -> Option<Said> {
        if !is_abandonment(recorded) {
            return self.unrecorded.pop_front();
        }
        let type_name = recorded.type_name();
        let run = self
            .unrecorded
            .iter()
            .take_while(|said| said.type_name == type_name);
        let index = { run }.position(|said| recorded.location() == Some(&said.location));
        self.unrecorded.remove(index.unwrap_or(0))
    }

    /// The fold has come to a scripted record: the code must have said it by now.
    pub(super) fn reach(&self, number: RecordNumber) -> Result<(), Box<Divergence>> {
        match self.expected.front() {
            Some((next, _)) if *next <= number => Err(self.unreached()),
            _ => Ok(()),
        }
    }

    /// The code has ended: it must have said everything.
    pub(super) fn end(&self) -> Result<(), Box<Divergence>> {
        if self.expected.is_empty() {
            Ok(())
        } else {
            Err(self.unreached())
        }
    }

    /// Whether the journal holds such a line ahead of the code.
    pub(super) fn holds(&self, is_it: impl Fn(&Body) -> bool) -> bool {
        self.expected.iter().any(|(_, body)| is_it(body))
    }

    /// Takes such lines out: the code need not say them any more.
    pub(super) fn take(&mut self, is_it: impl Fn(&Body) -> bool) -> Vec<(RecordNumber, Body)> {
        let expected = std::mem::take(&mut self.expected);
        let (taken, left): (Vec<_>, Vec<_>) = expected.into_iter().partition(|line| is_it(&line.1));
        self.expected = left.into();
        taken
    }

    /// The record that holds what the code must say next.
    pub(super) fn next_number(&self) -> Option<RecordNumber> {
        self.expected.front().map(|(number, _)| *number)
    }

    /// How much of what the code said is not in the journal yet.
    pub(super) fn unwritten(&self) -> usize {
        self.unrecorded.len()
    }

    /// Whether the journal holds, ahead of the code, the beginning of this iteration.
    pub(super) fn holds_advance(&self, place: &Location, iteration: u64) -> bool {
        let mut ahead = self.expected.iter();
        ahead.any(|(_, body)| {
            matches!(body, Body::LoopAdvanced(record)
                if !record.done && record.iteration == iteration && record.location == *place)
        })
    }

    pub(super) fn forget_sites(&mut self, is_gone: impl Fn(RecordNumber) -> bool) {
        if let Some(sites) = &mut self.sites {
            sites.retain(|number, _| !is_gone(*number));
        }
    }

    pub(super) fn keep_sites(&mut self) {
        self.sites.get_or_insert_default();
    }

    pub(super) fn site_of(&self, number: RecordNumber) -> Option<CallSite> {
        self.sites.as_ref()?.get(&number).copied()
    }

    pub(super) fn unrecorded_site(&self, n: usize) -> Option<CallSite> {
        self.unrecorded.get(n)?.site
    }

    pub(super) fn next_expected(&self) -> Option<&Body> {
        self.expected.front().map(|(_, body)| body)
    }

    pub(super) fn pop_expected(&mut self) -> Option<Body> {
        self.expected.pop_front().map(|(_, body)| body)
    }

    fn unreached(&self) -> Box<Divergence> {
        let next = self.expected.front();
        Box::new(Divergence {
            record: next.map(|(number, _)| *number),
            recorded: next.and_then(|(_, body)| place(body)),
            recorded_site: None,
            called: None,
            called_site: None,
            detail: None,
        })
    }
}

fn is_abandonment(body: &Body) -> bool {
    matches!(body, Body::StepAbandoned(_))
}

fn place(body: &Body) -> Option<(&'static str, Location)> {
    Some((body.type_name(), body.location()?.clone()))
}

/// `None` if the two are the same operation; durations, arguments and texts may change under a running workflow.
fn difference(recorded: &Body, said: &Body) -> Option<Option<String>> {
    if recorded.type_name() != said.type_name() || recorded.location() != said.location() {
        return Some(None);
    }
    match (recorded, said) {
        (Body::WaitCompleted(recorded), Body::WaitCompleted(said))
            if recorded.events != said.events =>
        {
            Some(Some(format!(
                "the wait took records {:?} then and {:?} now",
                recorded.events, said.events
            )))
        }
        (Body::Waiting(recorded), Body::Waiting(said)) if recorded.names != said.names => {
            Some(Some(format!(
                "it waited for {:?} then and for {:?} now",
                recorded.names, said.names
            )))
        }
        (Body::BranchesStarted(recorded), Body::BranchesStarted(said))
            if (recorded.kind, &recorded.branches) != (said.kind, &said.branches) =>
        {
            Some(Some(format!(
                "its branches were {} then and are {} now",
                list(&recorded.branches),
                list(&said.branches)
            )))
        }
        (Body::BranchCompleted(recorded), Body::BranchCompleted(said))
            if recorded.branch != said.branch =>
        {
            Some(Some(format!(
                "branch `{}` ended then, `{}` now",
                recorded.branch, said.branch
            )))
        }
        (Body::BranchFailed(recorded), Body::BranchFailed(said))
            if recorded.branch != said.branch =>
        {
            Some(Some(format!(
                "branch `{}` failed then, `{}` now",
                recorded.branch, said.branch
            )))
        }
        (Body::RaceWon(recorded), Body::RaceWon(said)) if recorded.winner != said.winner => {
            Some(Some(format!(
                "`{}` won then and `{}` now",
                recorded.winner, said.winner
            )))
        }
        (Body::ChildStarted(recorded), Body::ChildStarted(said))
            if (&recorded.workflow, recorded.detached) != (&said.workflow, said.detached) =>
        {
            let kind = |detached| if detached { "detached" } else { "awaited" };
            Some(Some(format!(
                "it started `{}` ({}) then and `{}` ({}) now",
                recorded.workflow,
                kind(recorded.detached),
                said.workflow,
                kind(said.detached)
            )))
        }
        (Body::LoopAdvanced(recorded), Body::LoopAdvanced(said))
            if (recorded.iteration, recorded.done) != (said.iteration, said.done) =>
        {
            Some(Some(format!(
                "the loop {} then and {} now",
                advance(recorded.iteration, recorded.done),
                advance(said.iteration, said.done)
            )))
        }
        (Body::Removed(recorded), Body::Removed(said)) if recorded.kind != said.kind => {
            Some(Some(format!(
                "a `{}` was removed there then, and a `{}` now",
                recorded.kind, said.kind
            )))
        }
        (Body::RpcRequested(recorded), Body::RpcRequested(said))
            if recorded.method != said.method =>
        {
            Some(Some(format!(
                "it asked `{}` then and `{}` now",
                recorded.method, said.method
            )))
        }
        _ => None,
    }
}

fn advance(iteration: u64, done: bool) -> String {
    if done {
        format!("ended with iteration {iteration}")
    } else {
        format!("went on to iteration {iteration}")
    }
}

fn list(names: &[Name]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
