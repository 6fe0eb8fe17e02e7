//! Whoever calls, and what they may do.

use std::collections::BTreeSet;
use std::sync::Arc;

use everstep_model::{Generation, RunId, Timestamp};
use everstep_protocol::access::{Scope, View};

/// Whoever calls: a name, and what it may do. Handlers find it in the extensions of a request.
///
/// An application that mounts the router behind its own authentication puts one there itself; then keys are not asked for.
#[derive(Clone, Debug)]
pub struct Caller {
    name: Option<Arc<str>>,
    grant: Arc<Grant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Grant {
    /// Everything. The server is open, or the application vouches.
    All,
    /// What the scopes say.
    Scopes {
        scopes: BTreeSet<Scope>,
        /// For workers: what they may execute.
        workflows: BTreeSet<String>,
    },
    /// What a run token says.
    Run(RunGrant),
}

/// What a run token allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunGrant {
    pub(crate) run: RunId,
    pub(crate) generation: Generation,
    pub(crate) view: View,
    /// The methods of rpcs that may be answered.
    pub(crate) rpcs: BTreeSet<String>,
    /// The events that may be sent.
    pub(crate) events: BTreeSet<String>,
    pub(crate) expires_at: Timestamp,
}

impl RunGrant {
    pub(super) fn is_for(&self, run: &RunId, generation: Generation) -> bool {
        self.run == *run && self.generation == generation
    }
}

impl Caller {
    /// Somebody without a name who may do everything.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::of(None, Grant::All)
    }

    /// Somebody who may do nothing.
    pub(crate) fn nobody() -> Self {
        Self::with_scopes("nobody", [])
    }

    /// Somebody with a name who may do what these scopes say. What they do is written down under the name.
    #[must_use]
    pub fn with_scopes(name: &str, scopes: impl IntoIterator<Item = Scope>) -> Self {
        Self::with_workflows(name, scopes, [])
    }

    /// The same for a worker, which may execute these workflows.
    #[must_use]
    pub fn with_workflows(
        name: &str,
        scopes: impl IntoIterator<Item = Scope>,
        workflows: impl IntoIterator<Item = String>,
    ) -> Self {
        let grant = Grant::Scopes {
            scopes: scopes.into_iter().collect(),
            workflows: workflows.into_iter().collect(),
        };
        Self::of(Some(name), grant)
    }

    pub(super) fn with_token(name: Option<&str>, grant: RunGrant) -> Self {
        Self::of(name, Grant::Run(grant))
    }

    fn of(name: Option<&str>, grant: Grant) -> Self {
        Self {
            name: name.map(Into::into),
            grant: Arc::new(grant),
        }
    }

    /// The name under which deeds are written down; none where nobody has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether it may say itself under which name it acts. Only who may do everything anyway is believed.
    pub(crate) fn may_name_itself(&self) -> bool {
        self.name.is_none() && *self.grant == Grant::All
    }

    /// Whether it may do what this scope covers, to everything.
    #[must_use]
    pub fn has(&self, scope: Scope) -> bool {
        match &*self.grant {
            Grant::All => true,
            Grant::Scopes { scopes, .. } => {
                scopes.contains(&scope) || scopes.contains(&Scope::Admin)
            }
            Grant::Run(_) => false,
        }
    }

    /// Whether it may execute a workflow as a worker.
    #[must_use]
    pub fn may_work_on(&self, workflow: &str) -> bool {
        match &*self.grant {
            Grant::All => true,
            Grant::Scopes { scopes, workflows } => {
                scopes.contains(&Scope::Admin)
                    || (scopes.contains(&Scope::Work) && workflows.contains(workflow))
            }
            Grant::Run(_) => false,
        }
    }

    /// The view in which it may read a run's journal; none if it may not. Who may see all may choose.
    #[must_use]
    pub fn view_of(&self, run: &RunId, generation: Generation) -> Option<View> {
        if self.has(Scope::Read) {
            return Some(View::Full);
        }
        self.token_for(run, generation).map(|token| token.view)
    }

    /// Whether it may send this event to the run.
    #[must_use]
    pub fn may_send(&self, run: &RunId, generation: Generation, event: &str) -> bool {
        let token = self.token_for(run, generation);
        self.has(Scope::Send) || token.is_some_and(|token| token.events.contains(event))
    }

    /// Whether it may answer an rpc of this method of the run.
    #[must_use]
    pub fn may_answer(&self, run: &RunId, generation: Generation, method: &str) -> bool {
        let token = self.token_for(run, generation);
        self.has(Scope::Send) || token.is_some_and(|token| token.rpcs.contains(method))
    }

    pub(crate) fn token(&self) -> Option<&RunGrant> {
        match &*self.grant {
            Grant::Run(token) => Some(token),
            Grant::All | Grant::Scopes { .. } => None,
        }
    }

    fn token_for(&self, run: &RunId, generation: Generation) -> Option<&RunGrant> {
        self.token().filter(|token| token.is_for(run, generation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str) -> RunId {
        RunId::new(id).unwrap()
    }

    #[test]
    fn a_token_is_good_for_one_run_one_generation_and_what_it_names() {
        let caller = Caller::with_token(
            None,
            RunGrant {
                run: run("a"),
                generation: Generation(2),
                view: View::Client,
                rpcs: ["approve".to_owned()].into(),
                events: ["note".to_owned()].into(),
                expires_at: Timestamp::default(),
            },
        );
        let (a, now, before) = (run("a"), Generation(2), Generation::FIRST);
        assert_eq!(caller.view_of(&a, now), Some(View::Client));
        assert_eq!(caller.view_of(&a, before), None);
        assert_eq!(caller.view_of(&run("b"), now), None);
        assert!(caller.may_send(&a, now, "note") && !caller.may_send(&a, now, "approve"));
        assert!(caller.may_answer(&a, now, "approve") && !caller.may_answer(&a, now, "note"));
        assert!(!caller.may_send(&a, before, "note"));
        assert!(Scope::ALL.iter().all(|scope| !caller.has(*scope)));
        assert!(!caller.may_name_itself() && Caller::unlimited().may_name_itself());
    }

    #[test]
    fn no_scope_includes_another_but_admin_all() {
        for given in Scope::ALL {
            let caller = Caller::with_scopes("k", [given]);
            for asked in Scope::ALL {
                let expected = given == asked || given == Scope::Admin;
                assert_eq!(caller.has(asked), expected, "{given} {asked}");
            }
        }
    }

    #[test]
    fn a_worker_executes_what_its_key_names() {
        let worker = Caller::with_workflows("w", [Scope::Work], ["pay".to_owned()]);
        assert!(worker.may_work_on("pay") && !worker.may_work_on("ship"));
        let reader = Caller::with_workflows("r", [Scope::Read], ["pay".to_owned()]);
        assert!(!reader.may_work_on("pay"));
    }
}
