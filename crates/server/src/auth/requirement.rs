//! What a route requires of its caller, as data.

use everstep_protocol::access::Scope;

/// What a route requires. Every route names it; there is no default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// Nothing. The caller is not identified.
    Public,
    /// A key with all of these scopes.
    Scopes(&'static [Scope]),
    /// Depends on the method and the path of a stream: a user's stream, a journal or a subscription
    /// (see `authorize.rs`).
    Stream,
    /// The right to act on the run in the path parameter `id`: a key with the scope of the action,
    /// or a run token that allows it.
    Run(RunAction),
}

/// What a run token can allow for its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunAction {
    /// Read the run in full.
    Read,
    /// Send the event in the path parameter `name`.
    Send,
    /// Answer the rpc in the path parameter `rpc`.
    Answer,
}

impl RunAction {
    /// Returns the scope that allows the action for every run.
    pub(crate) fn scope(self) -> Scope {
        match self {
            Self::Read => Scope::Read,
            Self::Send | Self::Answer => Scope::Send,
        }
    }
}
