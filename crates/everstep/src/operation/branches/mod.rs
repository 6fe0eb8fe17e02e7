//! Branches: parts of a workflow that run concurrently, each in its own scope.
//!
//! A branch is polled only when something in it can continue. Branches are polled in the order they
//! were given, so that their calls have the same order on every replay. Dropping a branch cancels
//! it.

mod each;
mod join;
mod race;

pub use each::{Each, Settled};
pub use join::Join;
pub use race::{Race, Won};

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use everstep_machine::{BranchesCall, CallSite, branch_scope};
use everstep_model::record::BranchesKind;
use everstep_model::{Location, Name};

use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::options::invalid;

/// The running code of a branch.
pub(super) type Running<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// The code of a branch before it starts.
pub(super) type Begin<'a, W, T> = Box<dyn FnOnce(Ctx<W>) -> Running<'a, T> + Send + 'a>;

/// One branch of a join or race.
pub struct Branch<'a, W, T> {
    name: String,
    state: State<'a, W, T>,
    wake: Option<Arc<BranchWake>>,
}

enum State<'a, W, T> {
    New(Begin<'a, W, T>),
    Running(Running<'a, T>),
    Ended(Result<T>),
    /// The result was taken, or the branch was dropped.
    Gone,
}

// The pinned future is boxed.
impl<W, T> Unpin for Branch<'_, W, T> {}

impl<'a, W, T> Branch<'a, W, T> {
    fn new<F, Fut>(name: impl Into<String>, run: F) -> Self
    where
        F: FnOnce(Ctx<W>) -> Fut + Send + 'a,
        Fut: Future<Output = Result<T>> + Send + 'a,
    {
        Self {
            name: name.into(),
            state: State::New(Box::new(move |ctx| Box::pin(run(ctx)))),
            wake: None,
        }
    }

    fn is_new(&self) -> bool {
        matches!(self.state, State::New(_))
    }

    fn is_running(&self) -> bool {
        matches!(self.state, State::Running(_))
    }

    fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended(_) | State::Gone)
    }

    /// Starts the branch if it is new, and polls it if it was woken. Returns whether it ended.
    fn poll(&mut self, owner: &Owner<W>) -> bool {
        let Some(place) = &owner.place else {
            return false;
        };
        if let State::New(_) = self.state {
            self.begin(owner, place);
        } else if !self.wake.as_ref().is_some_and(|wake| wake.take()) {
            return false;
        }
        let (State::Running(running), Some(wake)) = (&mut self.state, &self.wake) else {
            return false;
        };
        let waker = Waker::from(wake.clone());
        let Poll::Ready(result) = running.as_mut().poll(&mut Context::from_waker(&waker)) else {
            return false;
        };
        // Operations that the branch left open are dropped before the branch ends.
        self.state = State::Gone;
        let failure = result.as_ref().err().map(|error| error.failure().clone());
        owner.ctx.shared().with(|execution| {
            let replay = &mut execution.replay;
            if let Ok(name) = replay.name(&self.name) {
                replay.end_branch(place, &name, failure.as_ref());
            }
        });
        self.state = State::Ended(result);
        true
    }

    fn begin(&mut self, owner: &Owner<W>, place: &Location) {
        let State::New(begin) = std::mem::replace(&mut self.state, State::Gone) else {
            return;
        };
        // The name was checked when the join or race was called.
        let shared = owner.ctx.shared();
        let Some(Ok(name)) = shared.with(|execution| execution.replay.name(&self.name)) else {
            return;
        };
        let scope = branch_scope(place, &name);
        self.state = State::Running(begin(owner.ctx.in_scope(scope)));
        self.wake = Some(Arc::new(BranchWake {
            woken: AtomicBool::new(false),
            parent: owner.parent.clone(),
        }));
    }

    fn take_failure(&mut self) -> Option<(String, Error)> {
        match std::mem::replace(&mut self.state, State::Gone) {
            State::Ended(Err(error)) => Some((self.name.clone(), error)),
            other => {
                self.state = other;
                None
            }
        }
    }

    fn take_result(&mut self) -> Option<Result<T>> {
        match std::mem::replace(&mut self.state, State::Gone) {
            State::Ended(result) => Some(result),
            State::New(_) | State::Running(_) | State::Gone => None,
        }
    }
}

/// A join or race without its branches.
struct Owner<W> {
    ctx: Ctx<W>,
    name: String,
    kind: BranchesKind,
    site: CallSite,
    /// Fixed by the first poll.
    place: Option<Location>,
    parent: Arc<Parent>,
}

impl<W> Owner<W> {
    fn new(ctx: &Ctx<W>, name: &str, kind: BranchesKind, site: CallSite) -> Self {
        Self {
            ctx: ctx.clone(),
            name: name.to_owned(),
            kind,
            site,
            place: None,
            parent: Arc::default(),
        }
    }

    /// Calls the join or race on the first poll. Returns false if the code must not continue.
    fn begin<'n>(
        &mut self,
        context: &Context<'_>,
        branches: impl Iterator<Item = &'n str>,
    ) -> Result<bool> {
        self.parent.watch(context.waker());
        if self.place.is_some() {
            return Ok(true);
        }
        let (kind, site) = (self.kind, self.site);
        self.place = self.ctx.call_now(&self.name, site, |replay, name| {
            let branches = branches.map(|branch| replay.name(branch));
            let branches = branches.collect::<Result<Vec<Name>, _>>()?;
            let mut seen = HashSet::new();
            if let Some(twice) = branches.iter().find(|branch| !seen.insert(*branch)) {
                return Err(invalid(&format!(
                    "`{name}` has two branches named `{twice}`; names must differ"
                )));
            }
            Ok(BranchesCall { kind, branches })
        })?;
        Ok(self.place.is_some())
    }

    fn failed(&self, failed: Vec<(String, Error)>) -> Error {
        match &self.place {
            Some(place) => Error::from_branches(self.kind, place.clone(), failed),
            None => Error::fatal("branches failed before they began"),
        }
    }
}

/// The waker of the join or race.
#[derive(Default)]
struct Parent(Mutex<Option<Waker>>);

impl Parent {
    fn watch(&self, waker: &Waker) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *known {
            Some(known) => known.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
    }
}

/// Records that a branch was woken, and wakes its join or race.
struct BranchWake {
    woken: AtomicBool,
    parent: Arc<Parent>,
}

impl BranchWake {
    fn take(&self) -> bool {
        self.woken.swap(false, Ordering::AcqRel)
    }
}

impl Wake for BranchWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        let parent = self.parent.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waker) = &*parent {
            waker.wake_by_ref();
        }
    }
}
debug_by_name!(impl<W, T> Branch<'_, W, T>: name);
