//! The judgement of guards.

use super::verdict::JudgeContext;
use crate::commit::Guard;
use crate::head::Head;
use crate::outcome::Refusal;

/// Judges guards in order. Without a head, guards on the stream refuse the commit.
pub(super) fn judge_guards(
    head: Option<&Head>,
    guards: &[Guard],
    context: &impl JudgeContext,
) -> Result<(), Refusal> {
    guards.iter().try_for_each(|guard| match (guard, head) {
        (Guard::InboxSeen(count), Some(head)) => {
            let missed = Vec::new();
            require(
                *count == head.frame.inbox_count,
                Refusal::InboxGrew { missed },
            )
        }
        (Guard::EndsAt(end), Some(head)) => {
            require(*end == head.next, Refusal::EndsElsewhere(head.next))
        }
        (Guard::UnconsumedEventsBelow(limit), Some(head)) => {
            let events = head.frame.unconsumed_events;
            require(events < *limit, Refusal::TooManyEvents(events))
        }
        (Guard::InboxSeen(_) | Guard::EndsAt(_) | Guard::UnconsumedEventsBelow(_), None) => {
            Err(Refusal::NoStream)
        }
        (Guard::RowPresent(_) | Guard::RowAbsent(_) | Guard::RowIs(_) | Guard::NotBefore(_), _) => {
            judge_row_guard(guard, context)
        }
    })
}

/// Judges a guard on a row or on the time. Guards on the stream pass.
pub(super) fn judge_row_guard(guard: &Guard, context: &impl JudgeContext) -> Result<(), Refusal> {
    match guard {
        Guard::RowPresent(key) => require(context.row(key).is_some(), Refusal::RowAbsent),
        Guard::RowAbsent(key) => match context.row(key) {
            Some(row) => Err(Refusal::RowPresent(Box::new(row))),
            None => Ok(()),
        },
        Guard::RowIs(expected) => {
            let found = context.row(&expected.key());
            require(found.as_ref() == Some(expected), Refusal::RowChanged)
        }
        Guard::NotBefore(time) => {
            let now = context.now();
            require(now >= *time, Refusal::TooEarly(now))
        }
        Guard::InboxSeen(_) | Guard::EndsAt(_) | Guard::UnconsumedEventsBelow(_) => Ok(()),
    }
}

fn require(holds: bool, refusal: Refusal) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(refusal) }
}
