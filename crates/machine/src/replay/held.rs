//! What waits while a step is passing the point of no return: requests to end the run, and the halt
//! of code that used something that is not durable.

use everstep_model::Entry;

use super::context::Context;
use super::divergence::Halt;

/// Returns whether a step is passing the point of no return. Its effect may have happened, so
/// nothing may be undone before its end is known.
pub(super) fn is_passing(cx: &Context) -> bool {
    let mut steps = cx.operations.steps();
    cx.state.is_running() && steps.any(|(_, _, step)| step.has_unknown_outcome())
}

/// Takes the first request that no longer waits.
#[inline]
pub(super) fn take_request(cx: &mut Context) -> Option<Entry> {
    if cx.state.held.is_empty() || cx.state.halt.is_some() || is_passing(cx) {
        return None;
    }
    cx.state.held.pop_front()
}

/// Halts the run because its code used something that is not durable. The halt waits for a step
/// that is passing the point of no return, so that its attempt is not lost and repeated.
pub(super) fn halt_not_durable(why: String, cx: &mut Context) {
    let halt = Halt::NotDurable(why);
    match is_passing(cx) {
        true => drop(cx.state.held_halt.get_or_insert(halt)),
        false => cx.state.halt(halt),
    }
}

/// Halts the run if a halt no longer waits. A request that made the run fail takes precedence.
#[inline]
pub(super) fn halt_if_due(cx: &mut Context) {
    if cx.state.held_halt.is_some()
        && !is_passing(cx)
        && let Some(halt) = cx.state.held_halt.take()
        && cx.state.is_running()
    {
        cx.state.halt(halt);
    }
}
