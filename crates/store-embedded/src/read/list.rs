//! Pages of the list of runs, newest first.
//!
//! Filters by workflow and status walk the index of exactly those, merged by stream number; a tag
//! walks the index of that tag; without any of them the heads are walked. The rest of the filters
//! is applied to the rows found.

use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

use everstep_model::{Name, RunStatus, StreamNumber};
use everstep_store::{Count, Cursor, ListPage, ListQuery, RunRow, StoreError};
use fjall::{Iter, Readable};

use crate::encoding::keys;
use crate::failure;
use crate::read::members::{self, ListWalk};
use crate::storage::view::View;

pub(crate) fn page(view: &View<'_>, query: &ListQuery) -> Result<ListPage, StoreError> {
    let end = query.cursor.map_or(StreamNumber(u64::MAX), |at| at.0);
    let mut walk = Walk::new(view, query, end)?;
    let mut page = ListPage::default();
    let mut last = end;
    while let Some((number, row)) = walk.next_match(view, query)? {
        if page.rows.len() >= query.limit {
            page.next = Some(Cursor(last));
            break;
        }
        last = number;
        page.rows.push(row);
    }
    Ok(page)
}

/// Counts runs. Where a set of streams is exactly what is asked for, its members are counted;
/// otherwise every candidate is compared with the filters.
pub(crate) fn count(view: &View<'_>, query: &ListQuery) -> Result<Count, StoreError> {
    let any_time = query.created_from.is_none() && query.created_before.is_none();
    let is_set = match &query.tag {
        Some(_) => query.workflows.is_empty() && query.statuses.is_empty(),
        None => true,
    };
    let mut number = 0;
    if any_time && is_set {
        let lists = match &query.tag {
            Some(tag) => vec![keys::tag(tag)],
            None => lists_of_workflows(view, query)?,
        };
        for list in lists {
            number += members::count(view, list)?;
        }
    } else {
        let mut walk = Walk::new(view, query, StreamNumber(u64::MAX))?;
        while walk.next_match(view, query)?.is_some() {
            number += 1;
        }
    }
    Ok(Count {
        number,
        exact: true,
    })
}

/// Candidates in descending order of stream numbers.
enum Walk {
    Heads(Iter),
    Index(Merge),
}

impl Walk {
    fn new(view: &View<'_>, query: &ListQuery, end: StreamNumber) -> Result<Self, StoreError> {
        if query.tag.is_none() && query.workflows.is_empty() && query.statuses.is_empty() {
            let all = view.snapshot.range(&view.tables.heads, ..keys::stream(end));
            return Ok(Self::Heads(all));
        }
        let lists = match &query.tag {
            Some(tag) => vec![keys::tag(tag)],
            None => lists_of_workflows(view, query)?,
        };
        Merge::new(view, lists, end).map(Self::Index)
    }

    /// The next run that passes all filters.
    fn next_match(
        &mut self,
        view: &View<'_>,
        query: &ListQuery,
    ) -> Result<Option<(StreamNumber, RunRow)>, StoreError> {
        loop {
            let Some(number) = self.next_number(view)? else {
                return Ok(None);
            };
            let head = match view.head_row(number) {
                Err(error) if error.is_damage() => {
                    failure::left_out("list of runs", &error);
                    continue;
                }
                head => head?,
            };
            let run = head
                .filter(|head| !head.superseded)
                .and_then(|head| head.run);
            if let Some(run) = run.filter(|run| query.matches(run)) {
                return Ok(Some((number, Arc::unwrap_or_clone(run))));
            }
        }
    }

    fn next_number(&mut self, view: &View<'_>) -> Result<Option<StreamNumber>, StoreError> {
        match self {
            Self::Heads(iter) => take_head(view, iter),
            Self::Index(merge) => merge.next(view),
        }
    }
}

/// Several descending walks as one, without repetitions.
struct Merge {
    walks: Vec<ListWalk>,
    /// The next number of each walk, and which walk it is.
    heap: BinaryHeap<(StreamNumber, usize)>,
}

impl Merge {
    fn new(view: &View<'_>, lists: Vec<Vec<u8>>, end: StreamNumber) -> Result<Self, StoreError> {
        let mut merge = Self {
            walks: Vec::new(),
            heap: BinaryHeap::new(),
        };
        for list in lists {
            let mut walk = ListWalk::new(view, list, end);
            if let Some(number) = walk.next(view)? {
                merge.heap.push((number, merge.walks.len()));
                merge.walks.push(walk);
            }
        }
        Ok(merge)
    }

    fn next(&mut self, view: &View<'_>) -> Result<Option<StreamNumber>, StoreError> {
        let Some((number, place)) = self.heap.pop() else {
            return Ok(None);
        };
        if let Some(walk) = self.walks.get_mut(place)
            && let Some(following) = walk.next(view)?
        {
            self.heap.push((following, place));
        }
        Ok(Some(number))
    }
}

fn take_head(view: &View<'_>, walk: &mut Iter) -> Result<Option<StreamNumber>, StoreError> {
    let Some(row) = walk.next_back() else {
        return Ok(None);
    };
    let key = row.key().map_err(|error| view.tables.failed(&error))?;
    let number = keys::stream_of_head(&key);
    number
        .map(Some)
        .map_err(|d| view.damaged("the key of a head", d))
}

/// One list per workflow and status asked for; each run has one status, so no run is in two of
/// them.
fn lists_of_workflows(view: &View<'_>, query: &ListQuery) -> Result<Vec<Vec<u8>>, StoreError> {
    let workflows: BTreeSet<Name> = match query.workflows.as_slice() {
        [] => all_workflows(view)?,
        named => named.iter().cloned().collect(),
    };
    let statuses: BTreeSet<RunStatus> = match query.statuses.as_slice() {
        [] => RunStatus::ALL.iter().copied().collect(),
        named => named.iter().copied().collect(),
    };
    let of_workflow = |workflow| {
        statuses
            .iter()
            .map(move |status| keys::status(workflow, *status))
    };
    Ok(workflows.iter().flat_map(of_workflow).collect())
}

/// Every workflow that has runs: one seek each, over all their runs at once.
fn all_workflows(view: &View<'_>) -> Result<BTreeSet<Name>, StoreError> {
    let (begin, end) = keys::all_workflows();
    let mut from = begin.to_vec();
    let mut workflows = BTreeSet::new();
    loop {
        let mut rest = view.snapshot.range(&view.tables.lists, from..end.to_vec());
        let Some(row) = rest.next() else {
            return Ok(workflows);
        };
        let key = row.key().map_err(|error| view.tables.failed(&error))?;
        let name = keys::workflow_of(&key).and_then(everstep_store::encoding::checked_name);
        let name = name.map_err(|d| view.damaged("a list row", d))?;
        // Statuses are small numbers, so this is behind every run of the workflow.
        from = keys::workflow(name.as_str());
        from.push(u8::MAX);
        workflows.insert(name);
    }
}
