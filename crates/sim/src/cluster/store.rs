//! The store of one process. Every call has a number. The number and the seed decide whether it is
//! delayed, fails, takes effect without an answer, late or twice, and whether its process crashes.
//!
//! A call in transit does not depend on its sender: it takes effect even if the process crashes.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use everstep_model::StreamNumber;
use everstep_store::{
    Answer, BoxFuture, Call, Claim, Commit, Description, Fence, Hint, Intercept, LeaseChange,
    Outcome, ReadRequest, ReadyRun, Store, StoreError, StreamRef,
};

use super::bus::publish;
use super::faults::{CallPlan, Ending};
use super::process::Process;
use super::world::World;
use crate::observed::{StoreChange, Violation, describe_batch};
use crate::plan::FaultKind;
use crate::stores::at_once;

/// The connection of one process to the store.
pub(crate) struct SimStore {
    world: Arc<World>,
    process: Arc<Process>,
}

/// What a call does when it arrives.
type Work = Arc<dyn Fn(&World) -> Result<Answer, StoreError> + Send + Sync>;

impl SimStore {
    pub(crate) fn new(world: Arc<World>, process: Arc<Process>) -> Self {
        Self { world, process }
    }

    async fn send(
        &self,
        name: &'static str,
        about: String,
        work: Work,
    ) -> Result<Answer, StoreError> {
        let (world, process) = (&self.world, &self.process);
        if !process.is_alive(&world.executor) {
            return pending().await;
        }
        let number = world.next_call();
        let plan = world.faults().plan_call(number);
        let cut_off = process.is_cut_off(&world.executor);
        world.log(&process.name, || {
            let fault = match (cut_off, plan.ending) {
                (true, _) => " [unreachable]".to_owned(),
                (false, Ending::Fault(kind)) => format!(" [{}]", kind.as_str()),
                (false, Ending::Answered) if plan.before > Duration::from_millis(5) => {
                    format!(" [delay {:?}/{:?}]", plan.before, plan.after)
                }
                (false, Ending::Answered) => String::new(),
            };
            format!("#{number} {name} {about}{fault}")
        });
        if cut_off {
            world.sleep(Duration::from_millis(5)).await;
            return Err(unavailable("the network is down"));
        }
        let Ending::Fault(kind) = plan.ending else {
            let answer = self.arrive(plan.before, work).await;
            world.sleep(plan.after).await;
            return answer;
        };
        self.go_wrong(kind, plan, work).await
    }

    async fn go_wrong(
        &self,
        kind: FaultKind,
        plan: CallPlan,
        work: Work,
    ) -> Result<Answer, StoreError> {
        let (world, process) = (&self.world, &self.process);
        match kind {
            FaultKind::FailAfter => {
                let _ = self.arrive(plan.before, work).await;
                world.sleep(plan.after).await;
                Err(unavailable("the answer got lost"))
            }
            FaultKind::Late => {
                self.arrive_later(plan.later, work);
                world.sleep(plan.after).await;
                Err(unavailable("no answer arrived in time"))
            }
            FaultKind::Repeat => {
                let answer = self.arrive(plan.before, work.clone()).await;
                self.arrive_later(plan.later, work);
                world.sleep(plan.after).await;
                answer
            }
            FaultKind::CrashBefore => {
                world.crash(process, "before this call");
                pending().await
            }
            FaultKind::CrashAfter => {
                let _ = self.arrive(plan.before, work).await;
                world.crash(process, "after this call");
                pending().await
            }
            _ => {
                world.sleep(plan.after).await;
                Err(unavailable("it could not be reached"))
            }
        }
    }

    /// Performs the call after a delay, even if its sender crashes.
    async fn arrive(&self, after: Duration, work: Work) -> Result<Answer, StoreError> {
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

    /// Performs the call once more, or for the first time, after its sender stopped waiting for it.
    /// The calls of a retired node do not arrive any more.
    fn arrive_later(&self, after: Duration, work: Work) {
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

/// Whether a batch contains only a claim of a run.
fn is_claim(batch: &[Commit]) -> bool {
    let [claim] = batch else { return false };
    let takes = matches!(claim.lease(), LeaseChange::Claim(_));
    takes && claim.records().is_empty()
}

/// Grants a claim that the store loses: it fails over to a replica that lags behind, and a hint
/// reports once more that the run is ready. None if the run cannot be claimed.
fn grant_lost_claim(world: &World, process: &Process, batch: &[Commit]) -> Option<Vec<Outcome>> {
    let claim = batch.first()?;
    let (Some(stream), LeaseChange::Claim(Claim { node, nonce })) = (claim.stream(), claim.lease())
    else {
        return None;
    };
    let before = StreamNumber(stream.0.saturating_sub(1));
    let ready = at_once(world.store.ready(Some(before), 1)).ok()?;
    let is_free = |run: &ReadyRun| run.stream == stream && run.executed_by.is_none();
    let head = at_once(world.store.head(StreamRef::Number(stream))).ok()??;
    if head.closed || !ready.first().is_some_and(is_free) {
        return None;
    }
    let epoch = head.epoch.next();
    world.log(&process.name, || {
        format!("      granted epoch {}, then lost", epoch.0)
    });
    world.journals().claim_lost(stream, node);
    publish(world, process.machine, Hint::Ready(stream));
    Some(vec![Outcome::Committed {
        stream,
        first: head.next,
        before: Vec::new(),
        taken: Some(Fence { epoch, nonce }),
    }])
}

fn unavailable(detail: &str) -> StoreError {
    StoreError::Unavailable {
        detail: detail.to_owned(),
    }
}

impl Intercept for SimStore {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(self.world.store.clone())
    }

    fn description(&self) -> Description {
        self.world.store.describe()
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Answer, StoreError>> {
        let name = call.name();
        let about = match &call {
            Call::Commit { batch } => self.when_traced(|| describe_batch(batch)),
            Call::Read { request } => {
                self.when_traced(|| format!("stream {} from {}", request.stream, request.from.0))
            }
            Call::Renew { lease } => self.when_traced(|| format!("{:?}", lease.ttl)),
            Call::Retire { .. } => String::new(),
            other => self.when_traced(|| format!("{other:?}")),
        };
        let work: Work = match call {
            Call::Commit { batch } => self.commit_work(batch),
            Call::Read { request } => Arc::new(move |world| read(world, request)),
            Call::Renew { lease } => {
                self.process.set_node(lease.node);
                Arc::new(move |world| {
                    world.record_change(StoreChange::Renew(lease));
                    at_once(world.store.renew(lease)).map(Answer::Renew)
                })
            }
            Call::Retire { node } => {
                let process = self.process.clone();
                Arc::new(move |world| {
                    process.retire(node);
                    world.record_change(StoreChange::Retire(node));
                    at_once(world.store.retire(node)).map(Answer::Retire)
                })
            }
            query => Arc::new(move |world| at_once(query.clone().perform(&*world.store))),
        };
        Box::pin(self.send(name, about, work))
    }
}

impl SimStore {
    fn when_traced(&self, about: impl FnOnce() -> String) -> String {
        match self.world.trace.is_kept() {
            true => about(),
            false => String::new(),
        }
    }

    /// Applies a batch and compares its outcomes with the expected journals.
    fn commit_work(&self, batch: Arc<[Commit]>) -> Work {
        let process = self.process.clone();
        if process.has_retired(process.node()) {
            // The store has discarded the outcomes of this node, so repeating a commit is not safe.
            let what = format!("{} sent a commit after it had retired", process.name);
            self.world.violated(Violation::of(6, what));
        }
        let taken = self.world.store.when_sent(&batch);
        let shown = process.clock_shown(&self.world.executor);
        let loses_claim = is_claim(&batch) && self.world.strikes(FaultKind::ClaimForgotten, 3_000);
        Arc::new(move |world| {
            if loses_claim && let Some(granted) = grant_lost_claim(world, &process, &batch) {
                return Ok(Answer::Commit(granted));
            }
            let outcomes = at_once(world.store.commit(taken.as_deref().unwrap_or(&batch)))?;
            world.record_commit(&process, shown, &batch, &outcomes);
            Ok(Answer::Commit(outcomes))
        })
    }
}

fn read(world: &World, request: ReadRequest) -> Result<Answer, StoreError> {
    let page = at_once(world.store.read(request))?;
    let broken = world.journals().check_read(&request, page.as_ref());
    broken.into_iter().for_each(|v| world.violated(v));
    Ok(Answer::Read(page))
}
