//! What a route requires of its caller, as data.

use everstep_protocol::access::Scope;

/// What a route requires. Every route names it; there is no default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// Nothing. The caller is not identified.
    Public,
    /// A key with all of these scopes. The handler shows and permits only what the key reaches.
    Scopes(&'static [Scope]),
    /// A key with all of these scopes and without limits.
    Unlimited(&'static [Scope]),
    /// Depends on the method and the path of a stream: a user's stream, a journal or a subscription
    /// (see `authorize.rs`).
    Stream,
    /// The right to act on the run in the path parameter `id`: a key with the scopes of the action
    /// that reaches the run, or a run token that allows it.
    Run(RunAction),
}

impl Requirement {
    /// Returns whether the route is part of the worker protocol.
    pub(crate) fn is_for_workers(self) -> bool {
        match self {
            Self::Scopes(scopes) => scopes.contains(&Scope::Work),
            Self::Public | Self::Unlimited(_) | Self::Stream | Self::Run(_) => false,
        }
    }
}

/// What a caller can do with one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunAction {
    /// Read the run. A token shows the fields of its view.
    Read,
    /// Read everything that readers may see of the run.
    ReadInFull,
    /// Read the records of the run with fields that no view has. No token allows it.
    ReadRecords,
    /// Send the event in the path parameter `name`.
    Send,
    /// Answer the rpc in the path parameter `rpc`.
    Answer,
    /// Control or delete the run. No token allows it.
    Operate,
    /// Copy the run. No token allows it.
    Fork,
}

impl RunAction {
    /// Returns the scopes that allow the action for the runs that a key reaches.
    pub(crate) fn scopes(self) -> &'static [Scope] {
        match self {
            Self::Read | Self::ReadInFull | Self::ReadRecords => &[Scope::Read],
            Self::Send | Self::Answer => &[Scope::Send],
            Self::Operate => &[Scope::Operate],
            // The creator of a fork can read the content of its source.
            Self::Fork => &[Scope::Operate, Scope::Read],
        }
    }
}
