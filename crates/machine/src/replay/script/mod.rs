//! The script: the records that an execution writes as a consequence of the journal alone, in
//! order.
//!
//! Code that replays the same journal calls operations, takes events, gives up waits and writes
//! notes in the same order. A hot run writes these records; a replay compares them with the
//! recorded ones.

mod difference;

use std::collections::{HashMap, VecDeque};

use everstep_model::{Body, Entry, Location, RecordNumber};

use super::divergence::{CallSite, Divergence};
use difference::compare;
pub(super) use difference::quoted;

/// A line that the execution added and that is not in the journal yet.
#[derive(Debug)]
struct Unrecorded {
    type_name: &'static str,
    location: Location,
    site: Option<CallSite>,
}

/// The script of an execution.
#[derive(Debug, Default)]
pub struct Script {
    /// Recorded, and not yet reached by the code.
    expected: VecDeque<(RecordNumber, Body)>,
    /// Added by the code, and not yet in the journal.
    unrecorded: VecDeque<Unrecorded>,
    /// The call sites of recorded lines. Only development mode keeps them.
    sites: Option<HashMap<RecordNumber, CallSite>>,
}

/// A line after it was compared with the journal.
pub(super) enum Line {
    /// The journal contains it. The recorded values count.
    Recorded(Body),
    /// It is new and must be written.
    New(Body),
}

impl Script {
    /// Adds a line, or compares it with the recorded one.
    pub(super) fn add(
        &mut self,
        body: Body,
        site: Option<CallSite>,
    ) -> Result<Line, Box<Divergence>> {
        let Some((number, recorded)) = self.take_expected(&body) else {
            if let Some((type_name, location)) = named(&body) {
                self.unrecorded.push_back(Unrecorded {
                    type_name,
                    location,
                    site,
                });
            }
            return Ok(Line::New(body));
        };
        if let Err(detail) = compare(&recorded, &body) {
            return Err(Box::new(Divergence {
                record: Some(number),
                recorded: named(&recorded),
                called: named(&body),
                called_site: site,
                detail,
                ..Divergence::default()
            }));
        }
        self.keep_site(number, site);
        Ok(Line::Recorded(recorded))
    }

    /// Takes in a scripted record of the journal, from this execution or an earlier one.
    pub(super) fn record(&mut self, entry: &Entry) -> Result<(), Box<Divergence>> {
        let body = &entry.record.body;
        let Some(line) = self.take_unrecorded(body) else {
            self.expected.push_back((entry.number, body.clone()));
            return Ok(());
        };
        if line.type_name == body.type_name() && body.location() == Some(&line.location) {
            self.keep_site(entry.number, line.site);
            return Ok(());
        }
        Err(Box::new(Divergence {
            record: Some(entry.number),
            recorded: named(body),
            called: Some((line.type_name, line.location)),
            called_site: line.site,
            ..Divergence::default()
        }))
    }

    /// Takes the recorded line that this one must equal: the next one.
    ///
    /// Operations that the code drops in one poll are recorded in any order, because languages drop
    /// in different orders. An abandonment may therefore equal any one of a consecutive run of
    /// them. Runs of several polls are not confused: the code must have reached a record when the
    /// fold does.
    fn take_expected(&mut self, line: &Body) -> Option<(RecordNumber, Body)> {
        if !is_abandonment(line) {
            return self.expected.pop_front();
        }
        let mut run = (self.expected.iter()).take_while(|(_, body)| is_abandonment(body));
        let index = run.position(|(_, body)| body.location() == line.location());
        self.expected.remove(index.unwrap_or(0))
    }

    /// Takes the unrecorded line that this record must equal. See [`Self::take_expected`].
    fn take_unrecorded(&mut self, recorded: &Body) -> Option<Unrecorded> {
        if !is_abandonment(recorded) {
            return self.unrecorded.pop_front();
        }
        let type_name = recorded.type_name();
        let mut run = (self.unrecorded.iter()).take_while(|line| line.type_name == type_name);
        let index = run.position(|line| recorded.location() == Some(&line.location));
        self.unrecorded.remove(index.unwrap_or(0))
    }

    /// Checks that the code has reached a scripted record that is folded now.
    pub(super) fn check_reached(&self, number: RecordNumber) -> Result<(), Box<Divergence>> {
        match self.expected.front() {
            Some((next, body)) if *next <= number => Err(Box::new(Divergence {
                record: Some(*next),
                recorded: named(body),
                ..Divergence::default()
            })),
            _ => Ok(()),
        }
    }

    /// Checks that code that has ended has reached all recorded lines.
    pub(super) fn check_end(&self) -> Result<(), Box<Divergence>> {
        self.check_reached(RecordNumber(u64::MAX))
    }

    /// Returns whether the journal contains such a line ahead of the code.
    pub(super) fn has_ahead(&self, is_wanted: impl Fn(&Body) -> bool) -> bool {
        self.expected.iter().any(|(_, body)| is_wanted(body))
    }

    /// Removes such lines, so that the code need not reach them.
    pub(super) fn take(&mut self, is_wanted: impl Fn(&Body) -> bool) -> Vec<(RecordNumber, Body)> {
        let expected = std::mem::take(&mut self.expected).into_iter();
        let (taken, left): (Vec<_>, Vec<_>) = expected.partition(|line| is_wanted(&line.1));
        self.expected = left.into();
        taken
    }

    /// Returns the number of the recorded line that the code must reach next.
    pub(super) fn next_number(&self) -> Option<RecordNumber> {
        self.expected.front().map(|(number, _)| *number)
    }

    /// Returns the number of lines that are not in the journal yet.
    pub(super) fn unwritten(&self) -> usize {
        self.unrecorded.len()
    }

    /// Returns whether the journal contains, ahead of the code, the beginning of this iteration.
    pub(super) fn has_iteration_ahead(&self, location: &Location, iteration: u64) -> bool {
        self.has_ahead(|body| {
            matches!(body, Body::LoopAdvanced(record)
                if !record.done && record.iteration == iteration && record.location == *location)
        })
    }

    #[inline]
    fn keep_site(&mut self, number: RecordNumber, site: Option<CallSite>) {
        if let (Some(sites), Some(site)) = (&mut self.sites, site) {
            sites.insert(number, site);
        }
    }

    pub(super) fn forget_sites(&mut self, is_gone: impl Fn(RecordNumber) -> bool) {
        if let Some(sites) = &mut self.sites {
            sites.retain(|number, _| !is_gone(*number));
        }
    }

    pub(super) fn keep_sites(&mut self) {
        self.sites.get_or_insert_default();
    }

    /// Returns where the code called what a record contains, if that was in this execution.
    #[must_use]
    pub fn site_of(&self, number: RecordNumber) -> Option<CallSite> {
        self.sites.as_ref()?.get(&number).copied()
    }

    /// Returns where the code called the n-th operation that is not in the journal yet.
    #[must_use]
    pub fn unrecorded_site(&self, n: usize) -> Option<CallSite> {
        self.unrecorded.get(n)?.site
    }

    /// Returns whether the next line is new, because the code has reached everything that is
    /// recorded.
    pub(super) fn is_at_end(&self) -> bool {
        self.expected.is_empty()
    }

    pub(super) fn next_expected(&self) -> Option<&Body> {
        self.expected.front().map(|(_, body)| body)
    }

    /// Takes the next recorded line if `choose` accepts it.
    pub(super) fn take_next<T>(&mut self, choose: impl FnOnce(&Body) -> Option<T>) -> Option<T> {
        let chosen = choose(self.next_expected()?)?;
        self.expected.pop_front();
        Some(chosen)
    }

    pub(super) fn pop_expected(&mut self) -> Option<Body> {
        self.expected.pop_front().map(|(_, body)| body)
    }
}

fn is_abandonment(body: &Body) -> bool {
    matches!(body, Body::StepAbandoned(_))
}

pub(super) fn named(body: &Body) -> Option<(&'static str, Location)> {
    Some((body.type_name(), body.location()?.clone()))
}
