//! The store as one process reaches it: every call has a number, and by that number and the seed it is delayed, fails,
//! takes effect without an answer, late, or twice, or is the last thing its process does.
//!
//! Whatever is on its way goes on without its sender: a call that was sent takes effect even if its process dies.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use everstep_model::{NodeId, StreamNumber};
use everstep_store::{
    BoxFuture, Claim, Commit, Count, Description, Fence, Head, Hint, Lease, LeaseChange, ListPage,
    ListQuery, OutboxRow, Outcome, Page, ReadRequest, ReadyRun, Row, RowKey, RowRange, SharedRow,
    Store, StoreError, StreamRef, TimerQuery, TimerRow,
};

use super::faults::{Ending, Fate, FaultKind};
use super::machine::Process;
use super::world::World;
use crate::check::Violation;
use crate::history::Asked;
use crate::planted::at_once;

/// The store of one process.
pub(crate) struct SimStore {
    world: Arc<World>,
    process: Arc<Process>,
}

/// What a call does when it arrives.
type Work<T> = Arc<dyn Fn(&World) -> Result<T, StoreError> + Send + Sync>;

impl SimStore {
    pub(crate) fn new(world: Arc<World>, process: Arc<Process>) -> Self {
        Self { world, process }
    }

    async fn call<T: Send + 'static>(
        &self,
        name: &'static str,
        about: impl FnOnce() -> String,
        work: Work<T>,
    ) -> Result<T, StoreError> {
        let (world, process) = (&self.world, &self.process);
        if !process.is_alive(world) {
            return pending().await;
        }
        let number = world.next_call();
        let fate = world.faults().fate(number);
        let cut_off = process.is_cut_off(world);
        world.say(&process.name, || {
            let fault = match (cut_off, fate.ending) {
                (true, _) => " [out of reach]".to_owned(),
                (false, Ending::Fault(kind)) => format!(" [{}]", kind.name()),
                (false, Ending::Answered) if fate.before > Duration::from_millis(5) => {
                    format!(" [delay {:?}/{:?}]", fate.before, fate.after)
                }
                (false, Ending::Answered) => String::new(),
            };
            format!("#{number} {name} {}{fault}", about())
        });
        if cut_off {
            world.sleep(Duration::from_millis(5)).await;
            return Err(unavailable("the network is down"));
        }
        let Ending::Fault(kind) = fate.ending else {
            let answer = self.arrive(fate.before, work).await;
            world.sleep(fate.after).await;
            return answer;
        };
        self.go_wrong(kind, fate, work).await
    }

    async fn go_wrong<T: Send + 'static>(
        &self,
        kind: FaultKind,
        fate: Fate,
        work: Work<T>,
    ) -> Result<T, StoreError> {
        let (world, process) = (&self.world, &self.process);
        match kind {
            FaultKind::FailAfter => {
                let _ = self.arrive(fate.before, work).await;
                world.sleep(fate.after).await;
                Err(unavailable("the answer got lost"))
            }
            FaultKind::Late => {
                self.arrive_later(fate.later, work);
                world.sleep(fate.after).await;
                Err(unavailable("no answer came in time"))
            }
            FaultKind::Repeat => {
                let answer = self.arrive(fate.before, work.clone()).await;
                self.arrive_later(fate.later, work);
                world.sleep(fate.after).await;
                answer
            }
            FaultKind::CrashBefore => {
                process.crash(world, "before this call");
                pending().await
            }
            FaultKind::CrashAfter => {
                let _ = self.arrive(fate.before, work).await;
                process.crash(world, "after this call");
                pending().await
            }
            _ => {
                world.sleep(fate.after).await;
                Err(unavailable("it could not be reached"))
            }
        }
    }

    /// The call arrives after a while, whatever becomes of its sender.
    async fn arrive<T: Send + 'static>(
        &self,
        after: Duration,
        work: Work<T>,
    ) -> Result<T, StoreError> {
        if after.is_zero() {
            return work(&self.world);
        }
        let (send, receive) = tokio::sync::oneshot::channel();
        let world = self.world.clone();
        self.world.executor.spawn(self.world.network, async move {
            world.sleep(after).await;
            let _ = send.send(work(&world));
        });
        match receive.await {
            Ok(answer) => answer,
            Err(_) => pending().await,
        }
    }

    /// The call arrives once more, or for the first time, when nobody waits for it any longer. A process that has said
    /// good-bye has nothing on its way.
    fn arrive_later<T: Send + 'static>(&self, after: Duration, work: Work<T>) {
        let (world, process) = (self.world.clone(), self.process.clone());
        let node = process.node();
        self.world.executor.spawn(self.world.network, async move {
            world.sleep(after).await;
            if !process.has_retired(node) {
                let _ = work(&world);
            }
        });
    }
}

/// Whether a batch does nothing but claim a run.
fn is_claim(batch: &[Commit]) -> bool {
    let [claim] = batch else { return false };
    let takes = matches!(claim.lease(), LeaseChange::Claim(_));
    takes && claim.records().is_empty()
}

impl World {
    fn forgets_claims(&self) -> bool {
        self.strikes(FaultKind::ClaimForgotten, 3_000)
    }

    /// Grants a claim that nobody will know of: the store fails over to a replica that has not heard of it, and the others hear
    /// once more that the run is ready. None if it is not free.
    fn grant_in_vain(
        self: &Arc<Self>,
        process: &Process,
        batch: &[Commit],
    ) -> Option<Vec<Outcome>> {
        let claim = batch.first()?;
        let (Some(stream), LeaseChange::Claim(Claim { node, nonce })) =
            (claim.stream(), claim.lease())
        else {
            return None;
        };
        let before = StreamNumber(stream.0.saturating_sub(1));
        let ready = at_once(self.store.ready(Some(before), 1)).ok()?;
        let is_free = |run: &ReadyRun| run.stream == stream && run.executed_by.is_none();
        let head = at_once(self.store.head(StreamRef::Number(stream))).ok()??;
        if head.closed || !ready.first().is_some_and(is_free) {
            return None;
        }
        let epoch = head.epoch.next();
        self.say(&process.name, || {
            format!("      granted epoch {} and forgotten", epoch.0)
        });
        self.journals().granted_in_vain(stream, node);
        self.publish(process.machine, Hint::Ready(stream));
        Some(vec![Outcome::Committed {
            stream,
            first: head.next,
            before: Vec::new(),
            taken: Some(Fence { epoch, nonce }),
        }])
    }
}

fn unavailable(detail: &str) -> StoreError {
    StoreError::Unavailable {
        detail: detail.to_owned(),
    }
}

macro_rules! pass_on {
    ($($method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        $(fn $method(&self, $($argument: $type),*) -> BoxFuture<'_, Result<$answer, StoreError>> {
            let is_told = self.world.trace.is_kept();
            let about = is_told.then(|| format!("{:?}", ($(&$argument,)*))).unwrap_or_default();
            let work = move |world: &World| at_once(world.store.$method($($argument.clone()),*));
            Box::pin(self.call(stringify!($method), || about, Arc::new(work)))
        })*
    };
}

impl Store for SimStore {
    pass_on! {
        head(stream: StreamRef) -> Option<Head>;
        list(query: ListQuery) -> ListPage;
        count(query: ListQuery) -> Count;
        rows(range: RowRange) -> Vec<SharedRow>;
        timers(query: TimerQuery) -> Vec<TimerRow>;
        ready(after: Option<StreamNumber>, limit: usize) -> Vec<ReadyRun>;
        outbox(after: Option<(StreamNumber, String)>, limit: usize) -> Vec<OutboxRow>;
        row(key: RowKey) -> Option<Row>;
    }

    fn commit<'a>(
        &'a self,
        batch: &'a [Commit],
    ) -> BoxFuture<'a, Result<Vec<Outcome>, StoreError>> {
        let commits: Arc<[Commit]> = batch.into();
        let process = self.process.clone();
        if process.has_retired(process.node()) {
            // The store has forgotten what it answered this node, so that sending it again is not safe.
            let what = format!("{} sent a commit after it had retired", process.name);
            self.world.violated(Violation::of(6, what));
        }
        let sent = commits.clone();
        let taken = self.world.store.when_sent(batch);
        let shown = process.clock_shown();
        let forgets = (is_claim(batch) && self.world.forgets_claims()).then(|| self.world.clone());
        let work = move |world: &World| {
            let granted = forgets.as_ref();
            let granted = granted.and_then(|world| world.grant_in_vain(&process, &sent));
            if let Some(granted) = granted {
                return Ok(granted);
            }
            let outcomes = at_once(world.store.commit(taken.as_deref().unwrap_or(&sent)))?;
            world.committed(&process, shown, &sent, &outcomes);
            Ok(outcomes)
        };
        let about = move || crate::history::told(&commits);
        Box::pin(self.call("commit", about, Arc::new(work)))
    }

    fn read(&self, request: ReadRequest) -> BoxFuture<'_, Result<Option<Page>, StoreError>> {
        let work = move |world: &World| {
            let page = at_once(world.store.read(request))?;
            let broken = world.journals().check_read(&request, page.as_ref());
            broken.into_iter().for_each(|v| world.violated(v));
            Ok(page)
        };
        let about = move || format!("stream {} from {}", request.stream, request.from.0);
        Box::pin(self.call("read", about, Arc::new(work)))
    }

    fn renew(&self, lease: Lease) -> BoxFuture<'_, Result<(), StoreError>> {
        self.process.is_known_as(lease.node);
        let work = move |world: &World| {
            world.asked(Asked::Renew(lease));
            at_once(world.store.renew(lease))
        };
        Box::pin(self.call("renew", move || format!("{:?}", lease.ttl), Arc::new(work)))
    }

    fn retire(&self, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        let process = self.process.clone();
        let work = move |world: &World| {
            process.retire(node);
            world.asked(Asked::Retire(node));
            at_once(world.store.retire(node))
        };
        Box::pin(self.call("retire", String::new, Arc::new(work)))
    }

    fn describe(&self) -> Description {
        self.world.store.describe()
    }
}
