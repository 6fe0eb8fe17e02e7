//! The gate of a run, and its changes.

/// Whether a run may be claimed.
///
/// A run is gated while its start is delayed, and while it waits for a slot of a limit. The gate is
/// part of the head because the sender of an event does not know whether the run is gated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gate {
    #[default]
    Open,
    /// Inbox commits append their records, but do not set the ready mark or claim the run.
    Held,
    /// Inbox commits append their records and set the ready mark, but do not claim the run.
    NeedsSlot,
}

/// A change of the gate by an inbox commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GateChange {
    #[default]
    Keep,
    Set(Gate),
    /// Opens the gate of a run that has not begun, so that an executor can end it. A run has begun
    /// if an executor holds it or has written to it; it then keeps its gate.
    OpenUnlessBegun,
}
