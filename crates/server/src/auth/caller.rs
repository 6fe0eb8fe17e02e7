//! The caller of a request, and its rights.

use std::collections::BTreeSet;
use std::sync::Arc;

use everstep_model::{Generation, RunId, Timestamp};
use everstep_protocol::access::{Scope, StreamRight, View};

use super::limits::Limits;
use super::run_token::RunToken;
use super::stream_token::StreamToken;

/// The caller of a request: a name and rights. Handlers find it in the extensions of the request.
///
/// An application that mounts the router behind its own authentication inserts a `Caller` itself.
/// The router then requires no key.
#[derive(Clone, Debug)]
pub struct Caller {
    name: Option<Arc<str>>,
    /// The id of the key that the caller used.
    key: Option<Arc<str>>,
    grant: Arc<Grant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Grant {
    /// All rights: the server is open, or the application says so.
    All,
    Scopes {
        scopes: BTreeSet<Scope>,
        /// What the scopes are for. A worker may execute the workflows in it.
        limits: Limits,
        /// Further workflows that the runs of a worker may start, await and send events to.
        reaches: BTreeSet<String>,
    },
    /// The rights of a run token.
    Run(RunToken),
    /// The rights of a stream token.
    Streams(StreamToken),
}

impl Caller {
    /// Returns a caller without a name and with all rights.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::of(None, Grant::All)
    }

    pub(crate) fn without_rights() -> Self {
        Self::with_scopes("unidentified", [])
    }

    /// Returns a caller with these scopes. Journals record its actions under the name.
    #[must_use]
    pub fn with_scopes(name: &str, scopes: impl IntoIterator<Item = Scope>) -> Self {
        let grant = Grant::Scopes {
            scopes: scopes.into_iter().collect(),
            limits: Limits::default(),
            reaches: BTreeSet::new(),
        };
        Self::of(Some(name), grant)
    }

    /// Limits the scopes to some workflows, runs and streams. A worker needs the workflows that it
    /// may execute; `admin` cannot be limited.
    #[must_use]
    pub fn limited_to(mut self, limits: Limits) -> Self {
        if let Grant::Scopes { limits: known, .. } = Arc::make_mut(&mut self.grant) {
            *known = limits;
        }
        self
    }

    /// Allows the runs of a worker to start, await and send events to runs of these workflows, in
    /// addition to those that the worker executes.
    #[must_use]
    pub fn reaching(mut self, workflows: impl IntoIterator<Item = String>) -> Self {
        if let Grant::Scopes { reaches, .. } = Arc::make_mut(&mut self.grant) {
            reaches.extend(workflows);
        }
        self
    }

    pub(super) fn with_run_token(token: RunToken) -> Self {
        Self::of(token.by.clone().as_deref(), Grant::Run(token))
    }

    pub(super) fn with_stream_token(token: StreamToken) -> Self {
        Self::of(None, Grant::Streams(token))
    }

    pub(super) fn with_key(mut self, id: &str) -> Self {
        self.key = Some(id.into());
        self
    }

    fn of(name: Option<&str>, grant: Grant) -> Self {
        Self {
            name: name.map(Into::into),
            key: None,
            grant: Arc::new(grant),
        }
    }

    /// Returns the name under which journals record the actions of the caller.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(crate) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns whether the caller may choose the name under which it acts. Only callers without a
    /// name and with all rights may.
    pub(crate) fn may_name_itself(&self) -> bool {
        self.name.is_none() && *self.grant == Grant::All
    }

    /// Returns whether the caller has this scope, for the runs and streams within its limits.
    #[must_use]
    pub fn has(&self, scope: Scope) -> bool {
        match &*self.grant {
            Grant::All => true,
            Grant::Scopes { scopes, .. } => {
                scopes.contains(&scope) || scopes.contains(&Scope::Admin)
            }
            Grant::Run(_) | Grant::Streams(_) => false,
        }
    }

    /// Returns what the scopes of the caller are limited to.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        static NONE: Limits = Limits::none();
        match &*self.grant {
            Grant::Scopes { scopes, limits, .. } if !scopes.contains(&Scope::Admin) => limits,
            Grant::All | Grant::Scopes { .. } | Grant::Run(_) | Grant::Streams(_) => &NONE,
        }
    }

    /// Returns whether the caller may execute a workflow as a worker.
    #[must_use]
    pub fn may_work_on(&self, workflow: &str) -> bool {
        match &*self.grant {
            Grant::All => true,
            Grant::Scopes { scopes, limits, .. } => {
                scopes.contains(&Scope::Admin)
                    || (scopes.contains(&Scope::Work) && limits.workflows.contains(workflow))
            }
            Grant::Run(_) | Grant::Streams(_) => false,
        }
    }

    /// Returns whether the runs of this worker may start, await and send events to runs of a
    /// workflow.
    #[must_use]
    pub fn may_reach(&self, workflow: &str) -> bool {
        let is_named = match &*self.grant {
            Grant::Scopes {
                scopes, reaches, ..
            } => scopes.contains(&Scope::Work) && reaches.contains(workflow),
            Grant::All | Grant::Run(_) | Grant::Streams(_) => false,
        };
        is_named || self.may_work_on(workflow)
    }

    /// Returns the view in which the caller may read a journal. [`View::Full`] includes the others.
    #[must_use]
    pub fn view_of(&self, run: &RunId, generation: Generation) -> Option<View> {
        if self.has(Scope::Read) {
            return Some(View::Full);
        }
        self.token_for(run, generation).map(|token| token.view)
    }

    /// Returns whether the caller may send this event to the run.
    #[must_use]
    pub fn may_send(&self, run: &RunId, generation: Generation, event: &str) -> bool {
        let token = self.token_for(run, generation);
        self.has(Scope::Send) || token.is_some_and(|token| token.allows_event(event))
    }

    /// Returns whether the caller may answer rpcs of this method of the run.
    #[must_use]
    pub fn may_answer(&self, run: &RunId, generation: Generation, method: &str) -> bool {
        let token = self.token_for(run, generation);
        self.has(Scope::Send) || token.is_some_and(|token| token.allows_answer(method))
    }

    /// Returns a text that tells the caller from others: its token, its key, or its name. `None`
    /// for callers without a name that may do everything.
    pub(crate) fn identity(&self) -> Option<String> {
        let key = || self.key().or(self.name()).map(str::to_owned);
        self.token_text().or_else(key)
    }

    /// Returns a text that identifies the token of the caller.
    pub(crate) fn token_text(&self) -> Option<String> {
        match &*self.grant {
            Grant::Run(token) => serde_json::to_string(token).ok(),
            Grant::Streams(token) => serde_json::to_string(token).ok(),
            Grant::All | Grant::Scopes { .. } => None,
        }
    }

    pub(crate) fn token(&self) -> Option<&RunToken> {
        match &*self.grant {
            Grant::Run(token) => Some(token),
            Grant::All | Grant::Scopes { .. } | Grant::Streams(_) => None,
        }
    }

    /// Returns when the token of the caller expires.
    pub(super) fn expires_at(&self) -> Option<Timestamp> {
        match &*self.grant {
            Grant::Run(token) => Some(token.expires_at),
            Grant::Streams(token) => Some(token.expires_at),
            Grant::All | Grant::Scopes { .. } => None,
        }
    }

    /// Returns whether the caller has a token instead of a key.
    pub(crate) fn has_token(&self) -> bool {
        matches!(&*self.grant, Grant::Run(_) | Grant::Streams(_))
    }

    /// Returns whether the caller has a token that allows this for a user's stream.
    pub(super) fn has_stream_token(&self, path: &str, right: StreamRight) -> bool {
        matches!(&*self.grant, Grant::Streams(token) if token.allows(path, right))
    }

    fn token_for(&self, run: &RunId, generation: Generation) -> Option<&RunToken> {
        self.token().filter(|token| token.is_for(run, generation))
    }
}

#[cfg(test)]
mod tests {
    use everstep_model::StreamNumber;

    use super::*;

    fn run(id: &str) -> RunId {
        RunId::new(id).unwrap()
    }

    #[test]
    fn a_token_is_valid_for_one_run_from_its_generation_on_and_what_it_names() {
        let caller = Caller::with_run_token(RunToken {
            run: run("a"),
            generation: Generation(2),
            stream: StreamNumber(7),
            view: View::Client,
            rpcs: vec!["approve".to_owned()],
            events: vec!["note".to_owned()],
            expires_at: Timestamp::default(),
            by: None,
            key: None,
        });
        let (a, now, before) = (run("a"), Generation(2), Generation::FIRST);
        assert_eq!(caller.view_of(&a, now), Some(View::Client));
        assert_eq!(caller.view_of(&a, now.next()), Some(View::Client));
        assert_eq!(caller.view_of(&a, before), None);
        assert_eq!(caller.view_of(&run("b"), now), None);
        assert!(caller.may_send(&a, now, "note") && !caller.may_send(&a, now, "approve"));
        assert!(caller.may_answer(&a, now, "approve") && !caller.may_answer(&a, now, "note"));
        assert!(!caller.may_send(&a, before, "note"));
        assert!(Scope::ALL.iter().all(|scope| !caller.has(*scope)));
        assert!(!caller.may_name_itself() && Caller::unlimited().may_name_itself());
    }

    #[test]
    fn only_admin_includes_other_scopes() {
        for &given in Scope::ALL {
            let caller = Caller::with_scopes("k", [given]);
            for &scope in Scope::ALL {
                let expected = given == scope || given == Scope::Admin;
                assert_eq!(caller.has(scope), expected, "{given} {scope}");
            }
        }
    }

    fn worker(scope: Scope) -> Caller {
        Caller::with_scopes("w", [scope]).limited_to(Limits {
            workflows: ["pay".to_owned()].into(),
            ..Limits::default()
        })
    }

    #[test]
    fn a_worker_may_execute_only_the_workflows_its_key_names() {
        let able = worker(Scope::Work);
        assert!(able.may_work_on("pay") && !able.may_work_on("ship"));
        assert!(!worker(Scope::Read).may_work_on("pay"));
    }

    #[test]
    fn the_runs_of_a_worker_reach_its_own_workflows_and_those_that_its_key_names() {
        let able = worker(Scope::Work);
        assert!(able.may_reach("pay") && !able.may_reach("ship"));
        let able = able.reaching(["ship".to_owned()]);
        assert!(able.may_reach("pay") && able.may_reach("ship"));
        assert!(!able.may_work_on("ship"));
        assert!(Caller::with_scopes("a", [Scope::Admin]).may_reach("ship"));
    }

    #[test]
    fn only_callers_with_scopes_other_than_admin_have_limits() {
        assert!(worker(Scope::Read).limits().reaches_workflow("pay"));
        assert!(!worker(Scope::Read).limits().reaches_workflow("ship"));
        assert!(worker(Scope::Admin).limits().is_empty());
        assert!(Caller::unlimited().limits().is_empty());
    }
}
