//! Queries of a memory store.

use std::ops::Bound;

use everstep_model::{Body, Entry, StreamNumber, Timestamp};

use super::state::State;
use crate::contract::{Page, ReadRequest, ReadyRun, StreamRef, TimerQuery};
use crate::head::Head;
use crate::list::{Count, Cursor, ListPage, ListQuery};
use crate::row::{OutboxRow, Row, RowKey, TimerRow};
use crate::shared_row::{RowRange, SharedKey, SharedRow};

impl State {
    pub(super) fn head(&self, stream: &StreamRef) -> Option<&Head> {
        let number = match stream {
            StreamRef::Number(number) => number,
            StreamRef::Name(name) => self.names.get(name)?,
        };
        self.streams.get(number).map(|stream| &stream.head)
    }

    pub(super) fn read(&self, request: ReadRequest) -> Option<Page> {
        let stream = self.streams.get(&request.stream)?;
        let mut bytes = 0;
        let wanted = stream.from(request.from).take(request.limit);
        let wanted = wanted.take_while(|entry| {
            let fits = bytes < request.bytes.max(1);
            bytes += message_bytes(entry);
            fits
        });
        Some(Page {
            entries: wanted.cloned().collect(),
            end: stream.head.next,
            closed: stream.head.closed,
        })
    }

    pub(super) fn list(&self, query: &ListQuery) -> ListPage {
        let end = query.cursor.map_or(StreamNumber(u64::MAX), |at| at.0);
        let newest_first = self.streams.range(..end).rev();
        let mut matching = newest_first.filter_map(|(number, stream)| {
            let row = stream.head.listed()?;
            query.matches(row).then_some((*number, row))
        });
        let mut last = end;
        let mut rows = Vec::new();
        for (number, row) in matching.by_ref().take(query.limit) {
            last = number;
            rows.push(row.clone());
        }
        let next = matching.next().map(|_| Cursor(last));
        ListPage { rows, next }
    }

    pub(super) fn count(&self, query: &ListQuery) -> Count {
        let listed = self.streams.values().filter_map(|s| s.head.listed());
        let matching = listed.filter(|row| query.matches(row));
        Count {
            number: matching.count() as u64,
            exact: true,
        }
    }

    pub(super) fn shared_rows(&self, range: &RowRange) -> Vec<SharedRow> {
        let is_beyond = |key: &SharedKey| match (&range.after, range.reverse) {
            (Some(after), false) => key > after,
            (Some(after), true) => key < after,
            (None, _) => true,
        };
        let rows = self.rows.values().filter_map(|row| match row {
            Row::Shared(row) => Some(row),
            _ => None,
        });
        let wanted = rows.filter(|row| {
            let key = &row.key;
            key.kind() == range.kind && key.parts().starts_with(&range.prefix) && is_beyond(key)
        });
        match range.reverse {
            false => wanted.take(range.limit).cloned().collect(),
            true => wanted.rev().take(range.limit).cloned().collect(),
        }
    }

    pub(super) fn timers(&self, query: &TimerQuery) -> Vec<TimerRow> {
        let from = match &query.after {
            Some(after) => Bound::Excluded(RowKey::Timer(after.clone())),
            None => Bound::Unbounded,
        };
        let rows = self.rows.range((from, Bound::Unbounded));
        let timers = rows.map_while(|(_, row)| match row {
            Row::Timer(timer) => Some(timer),
            _ => None,
        });
        let due = timers.take_while(|timer| timer.due <= query.until);
        due.take(query.limit).cloned().collect()
    }

    pub(super) fn ready(
        &self,
        after: Option<StreamNumber>,
        limit: usize,
        now: Timestamp,
    ) -> Vec<ReadyRun> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let streams = self.streams.range((from, Bound::Unbounded));
        let ready = streams.filter_map(|(number, stream)| {
            let head = &stream.head;
            let run = head.run.as_ref().filter(|_| head.ready)?;
            let owner = head.owner.map(|owner| owner.node);
            Some(ReadyRun {
                stream: *number,
                workflow: run.workflow.clone(),
                version: run.version,
                executed_by: owner.filter(|node| self.is_alive(*node, now)),
            })
        });
        ready.take(limit).collect()
    }

    pub(super) fn outbox(
        &self,
        after: Option<(StreamNumber, String)>,
        limit: usize,
    ) -> Vec<OutboxRow> {
        let from = match after {
            Some((stream, key)) => Bound::Excluded(RowKey::Outbox(stream, key)),
            None => Bound::Included(RowKey::Outbox(StreamNumber(0), String::new())),
        };
        let rows = self.rows.range((from, Bound::Unbounded));
        let effects = rows.map_while(|(_, row)| match row {
            Row::Outbox(row) => Some(row),
            _ => None,
        });
        effects.take(limit).cloned().collect()
    }
}

/// Returns the bytes of a message, and 0 for other records, which are small.
fn message_bytes(entry: &Entry) -> usize {
    match &entry.record.body {
        Body::Data(data) => data.bytes.len(),
        _ => 0,
    }
}
