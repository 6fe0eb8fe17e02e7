//! Guards.

use everstep_model::RecordNumber;

use super::verdict::{JudgeContext, Verdict};
use crate::commit::Guard;
use crate::head::Head;
use crate::outcome::Refusal;

/// Judges guards in order. `seen` is the number of records that the author knows.
pub(super) fn judge_guards(
    head: &Head,
    guards: &[Guard],
    seen: RecordNumber,
    context: &impl JudgeContext,
) -> Option<Verdict> {
    let mut guards = guards.iter();
    guards.find_map(|guard| judge_guard(head, guard, seen, context))
}

fn judge_guard(
    head: &Head,
    guard: &Guard,
    seen: RecordNumber,
    context: &impl JudgeContext,
) -> Option<Verdict> {
    match guard {
        Guard::InboxSeen(count) => {
            (*count != head.frame.inbox_count).then_some(Verdict::InboxGrew { seen })
        }
        Guard::EndsAt(end) => {
            (*end != head.next).then(|| Verdict::Refuse(Refusal::EndsElsewhere(head.next)))
        }
        Guard::UnconsumedEventsBelow(limit) => {
            let events = head.frame.unconsumed_events;
            (events >= *limit).then(|| Verdict::Refuse(Refusal::TooManyEvents(events)))
        }
        Guard::RowPresent(_) | Guard::RowAbsent(_) | Guard::RowIs(_) | Guard::NotBefore(_) => {
            judge_row_guard(guard, context).map(Verdict::Refuse)
        }
    }
}

/// Judges the guards of a commit whose stream is gone. A guard on the stream cannot hold.
pub(super) fn judge_guards_without_stream(
    guards: &[Guard],
    context: &impl JudgeContext,
) -> Option<Refusal> {
    let mut guards = guards.iter();
    guards.find_map(|guard| match guard {
        Guard::InboxSeen(_) | Guard::EndsAt(_) | Guard::UnconsumedEventsBelow(_) => {
            Some(Refusal::NoStream)
        }
        Guard::RowPresent(_) | Guard::RowAbsent(_) | Guard::RowIs(_) | Guard::NotBefore(_) => {
            judge_row_guard(guard, context)
        }
    })
}

/// Judges a guard that does not depend on a head. The others hold.
pub(super) fn judge_row_guard(guard: &Guard, context: &impl JudgeContext) -> Option<Refusal> {
    match guard {
        Guard::RowPresent(key) => context.row(key).is_none().then_some(Refusal::RowAbsent),
        Guard::RowAbsent(key) => {
            let row = context.row(key)?;
            Some(Refusal::RowPresent(Box::new(row)))
        }
        Guard::RowIs(expected) => {
            let found = context.row(&expected.key());
            (found.as_ref() != Some(expected)).then_some(Refusal::RowChanged)
        }
        Guard::NotBefore(time) => {
            let now = context.now();
            (now < *time).then_some(Refusal::TooEarly(now))
        }
        Guard::InboxSeen(_) | Guard::EndsAt(_) | Guard::UnconsumedEventsBelow(_) => None,
    }
}
