//! Pages of the list of runs, newest first.
//!
//! A tag filter scans the list of that tag. Filters by workflow and status scan the matching lists,
//! merged by stream number, and so does a filter by time with the lists of its hours. Without any
//! of them the list of all runs is scanned. The other filters are applied to the rows found.

use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

use everstep_model::{Name, RunStatus, StreamNumber, Timestamp};
use everstep_store::encoding::checked_name;
use everstep_store::{Count, Cursor, ListPage, ListQuery, RunRow, StoreError};
use fjall::Readable;

use crate::encoding::keys;
use crate::failure;
use crate::read::members;
use crate::storage::view::View;

/// The number of runs that a page compares with the filters, if its limit is smaller. This bounds
/// the time for which a page occupies the calling thread.
const COMPARED: usize = 1_000;
/// The most hours whose lists are merged. A longer time contains runs in most of the list of all
/// runs.
const HOURS_MAX: usize = 1_000;

pub(crate) fn page(view: &View<'_>, query: &ListQuery) -> Result<ListPage, StoreError> {
    let end = query.cursor.map_or(StreamNumber(u64::MAX), |at| at.0);
    let mut page = ListPage::default();
    let mut last = end;
    let compared = query.limit.max(COMPARED);
    for (index, number) in candidates(view, query, end)?.enumerate() {
        let number = number?;
        let row = match index < compared {
            true => matching_run(view, query, number)?,
            false => None,
        };
        if index >= compared || (row.is_some() && page.rows.len() >= query.limit) {
            page.next = Some(Cursor(last));
            break;
        }
        page.rows.extend(row);
        last = number;
    }
    Ok(page)
}

/// Counts runs. If the lists contain exactly the matching runs, counts their members; otherwise
/// compares every candidate with the filters.
pub(crate) fn count(view: &View<'_>, query: &ListQuery) -> Result<Count, StoreError> {
    let any_time = query.created_from.is_none() && query.created_before.is_none();
    let any_id = query.id_prefixes.is_empty();
    let any_status = query.workflows.is_empty() && query.statuses.is_empty();
    let mut number = 0;
    if any_time && any_id && (query.tag.is_none() || any_status) {
        for list in lists(view, query)? {
            number += members::count(view, list)?;
        }
    } else {
        for run in candidates(view, query, StreamNumber(u64::MAX))? {
            number += u64::from(matching_run(view, query, run?)?.is_some());
        }
    }
    Ok(Count {
        number,
        exact: true,
    })
}

/// Returns the row of a run if it passes all filters.
fn matching_run(
    view: &View<'_>,
    query: &ListQuery,
    number: StreamNumber,
) -> Result<Option<RunRow>, StoreError> {
    let head = match view.head_row(number) {
        Err(error) if error.is_damage() => {
            failure::log_skipped("list of runs", &error);
            return Ok(None);
        }
        head => head?.filter(|head| !head.superseded),
    };
    let run = head.and_then(|head| head.run);
    let run = run.filter(|run| query.matches(run));
    Ok(run.map(Arc::unwrap_or_clone))
}

/// Iterates over the members of the scanned lists before `end`, newest first.
fn candidates(
    view: &View<'_>,
    query: &ListQuery,
    end: StreamNumber,
) -> Result<impl Iterator<Item = Result<StreamNumber, StoreError>>, StoreError> {
    let lists = lists(view, query)?.into_iter();
    Merge::new(lists.map(|list| members::before(view, list, end)))
}

/// Merges descending iterators that have no member in common.
struct Merge<I> {
    lists: Vec<I>,
    /// The next number of each list, with the index of the list.
    heap: BinaryHeap<(StreamNumber, usize)>,
}

impl<I: Iterator<Item = Result<StreamNumber, StoreError>>> Merge<I> {
    fn new(lists: impl Iterator<Item = I>) -> Result<Self, StoreError> {
        let mut merge = Self {
            lists: Vec::new(),
            heap: BinaryHeap::new(),
        };
        for mut list in lists {
            if let Some(number) = list.next().transpose()? {
                merge.heap.push((number, merge.lists.len()));
                merge.lists.push(list);
            }
        }
        Ok(merge)
    }
}

impl<I: Iterator<Item = Result<StreamNumber, StoreError>>> Iterator for Merge<I> {
    type Item = Result<StreamNumber, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (number, index) = self.heap.pop()?;
        match self.lists.get_mut(index).and_then(Iterator::next) {
            Some(Ok(following)) => self.heap.push((following, index)),
            Some(Err(error)) => return Some(Err(error)),
            None => {}
        }
        Some(Ok(number))
    }
}

/// Returns the list of the tag, or the lists of all combinations of workflow and status, or the
/// list of all runs. Each run has one status, so these lists have no member in common.
fn lists(view: &View<'_>, query: &ListQuery) -> Result<Vec<Vec<u8>>, StoreError> {
    if let Some(tag) = &query.tag {
        return Ok(vec![keys::tag(tag)]);
    }
    if query.workflows.is_empty() && query.statuses.is_empty() {
        let hours = lists_of_hours(view, query)?;
        return Ok(hours.unwrap_or_else(|| vec![keys::ALL_RUNS.to_vec()]));
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

/// Returns the lists of all hours in the time of the query, with one seek for each. `None` if the
/// query has no time, or one with too many hours.
fn lists_of_hours(view: &View<'_>, query: &ListQuery) -> Result<Option<Vec<Vec<u8>>>, StoreError> {
    if query.created_from.is_none() && query.created_before.is_none() {
        return Ok(None);
    }
    let end = match query.created_before.map(Timestamp::as_millis) {
        Some(0) => return Ok(Some(Vec::new())),
        Some(before) => keys::created_in(keys::hour(Timestamp::from_millis(before - 1)) + 1),
        None => keys::all_hours_end().to_vec(),
    };
    let mut from = keys::created_in(query.created_from.map_or(0, keys::hour));
    let mut lists = Vec::new();
    while from < end {
        let mut rest = view.snapshot.range(&view.tables.lists, from..end.clone());
        let Some(row) = rest.next() else {
            return Ok(Some(lists));
        };
        if lists.len() == HOURS_MAX {
            return Ok(None);
        }
        let key = view.tables.check(row.key())?;
        let hour = view.check("a list row", keys::hour_of(&key))?;
        lists.push(keys::created_in(hour));
        from = keys::created_in(hour + 1);
    }
    Ok(Some(lists))
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

#[cfg(test)]
mod tests;
