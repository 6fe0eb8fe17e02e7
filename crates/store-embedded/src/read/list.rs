//! Pages of the list of runs, newest first.
//!
//! A tag filter scans the list of that tag. Filters by workflow and status scan the matching lists,
//! merged by stream number. Without any of them all heads are scanned. The other filters are
//! applied to the rows found.

use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

use everstep_model::{Name, RunStatus, StreamNumber};
use everstep_store::encoding::checked_name;
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

/// Counts runs. If the lists contain exactly the matching runs, counts their members; otherwise
/// compares every candidate with the filters.
pub(crate) fn count(view: &View<'_>, query: &ListQuery) -> Result<Count, StoreError> {
    let any_time = query.created_from.is_none() && query.created_before.is_none();
    let any_status = query.workflows.is_empty() && query.statuses.is_empty();
    let mut number = 0;
    if any_time && (query.tag.is_none() || any_status) {
        for list in lists(view, query)? {
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
    Lists(Merge),
}

impl Walk {
    fn new(view: &View<'_>, query: &ListQuery, end: StreamNumber) -> Result<Self, StoreError> {
        if query.tag.is_none() && query.workflows.is_empty() && query.statuses.is_empty() {
            let all = view.snapshot.range(&view.tables.heads, ..keys::stream(end));
            return Ok(Self::Heads(all));
        }
        Merge::new(view, lists(view, query)?, end).map(Self::Lists)
    }

    /// Returns the next run that passes all filters.
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
                    failure::log_skipped("list of runs", &error);
                    continue;
                }
                head => head?.filter(|head| !head.superseded),
            };
            let run = head.and_then(|head| head.run);
            if let Some(run) = run.filter(|run| query.matches(run)) {
                return Ok(Some((number, Arc::unwrap_or_clone(run))));
            }
        }
    }

    fn next_number(&mut self, view: &View<'_>) -> Result<Option<StreamNumber>, StoreError> {
        match self {
            Self::Heads(heads) => {
                let Some(row) = heads.next_back() else {
                    return Ok(None);
                };
                let key = view.tables.check(row.key())?;
                let number = view.check("the key of a head", keys::stream_of_head(&key));
                number.map(Some)
            }
            Self::Lists(merge) => merge.next(view),
        }
    }
}

/// Merges several descending walks.
struct Merge {
    walks: Vec<ListWalk>,
    /// The next number of each walk, with the index of the walk.
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
        let Some((number, index)) = self.heap.pop() else {
            return Ok(None);
        };
        if let Some(walk) = self.walks.get_mut(index)
            && let Some(following) = walk.next(view)?
        {
            self.heap.push((following, index));
        }
        Ok(Some(number))
    }
}

/// Returns the list of the tag, or the lists of all combinations of workflow and status. Each run
/// has one status, so these lists have no member in common.
fn lists(view: &View<'_>, query: &ListQuery) -> Result<Vec<Vec<u8>>, StoreError> {
    if let Some(tag) = &query.tag {
        return Ok(vec![keys::tag(tag)]);
    }
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

/// Returns all workflows that have runs, with one seek for each.
fn all_workflows(view: &View<'_>) -> Result<BTreeSet<Name>, StoreError> {
    let all = keys::all_workflows();
    let mut from = all.start.to_vec();
    let mut workflows = BTreeSet::new();
    loop {
        let mut rest = view
            .snapshot
            .range(&view.tables.lists, from..all.end.to_vec());
        let Some(row) = rest.next() else {
            return Ok(workflows);
        };
        let key = view.tables.check(row.key())?;
        let name = keys::workflow_of(&key).and_then(checked_name);
        let name = view.check("a list row", name)?;
        // Statuses are small numbers, so this key follows all lists of the workflow.
        from = keys::workflow(name.as_str());
        from.push(u8::MAX);
        workflows.insert(name);
    }
}
