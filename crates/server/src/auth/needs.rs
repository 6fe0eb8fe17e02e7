//! What a route needs of whoever calls it: data, so that a table can be made of it.

use everstep_protocol::access::Scope;

/// What a route needs. Every route names it; there is no default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Anybody may call it, and nobody is identified.
    Nobody,
    /// A key with this scope.
    Scope(Scope),
    /// Whatever the method and the path of a stream say: those of users, journals, subscriptions (`authorize.rs`).
    Stream,
    /// To do this with the run that the parameter `id` of the path names: a key with the scope for it, or a run token that
    /// allows it.
    Run(RunAct),
}

/// What may be done with one run by who has no more than a token for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunAct {
    /// Look at it, in full.
    Look,
    /// Send it the event that the parameter `name` says.
    Send,
    /// Answer the rpc that the parameter `rpc` says.
    Answer,
}

impl RunAct {
    /// The scope that allows it for every run.
    pub(crate) fn scope(self) -> Scope {
        match self {
            Self::Look => Scope::Read,
            Self::Send | Self::Answer => Scope::Send,
        }
    }
}
