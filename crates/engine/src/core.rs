//! The composition root: builds the parts of an engine and starts their tasks.

use std::sync::{Arc, Mutex};

use tokio::sync::OnceCell;

use crate::commit::{Committer, PostCommitSink, StoreAvailability};
use crate::error::Unavailable;
use crate::execution::{
    Dispatcher, NodeLease, Parts, Probations, Recovery, ResidentRuns, evict_idle,
};
use crate::node::Node;
use crate::observers::{FailureHook, FailureHooks, Watchers};
use crate::outbox::{Deliverer, OutboxPump, OutboxQueue};
use crate::requests::Requests;
use crate::requests::control::Controller;
use crate::roles::Role;
use crate::streams::Streams;
use crate::timers::{TimerQueue, TimerTask};
use crate::workers::{Worker, Workers};

/// The parts of an engine through which requests, hints and shutdown enter it.
pub(crate) struct Core {
    pub(crate) parts: Arc<Parts>,
    pub(crate) lease: Arc<NodeLease>,
    pub(crate) recovery: Arc<Recovery>,
    pub(crate) requests: Arc<Requests>,
    pub(crate) controller: Arc<Controller>,
    pub(crate) streams: Streams,
    pub(crate) timers: Arc<TimerTask>,
    pub(crate) outbox: Arc<OutboxPump>,
    pub(crate) ended: OnceCell<()>,
}

impl Core {
    /// Builds an engine and takes its lease, but does not execute runs yet.
    pub(crate) async fn open(
        node: Node,
        workers: Vec<Arc<dyn Worker>>,
        hooks: Vec<FailureHook>,
    ) -> Result<Self, Unavailable> {
        let node = Arc::new(node);
        let availability = Arc::<StoreAvailability>::default();
        let timer_queue = Arc::new(TimerQueue::new(node.runtime.clone()));
        let outbox_queue = Arc::<OutboxQueue>::default();
        let (failures, hook_task) = FailureHooks::new(hooks);
        let committer = Arc::new(Committer::new(node.clone(), availability.clone()));
        let watchers = Arc::new(Watchers::new(node.clone()));
        let parts = Arc::new(Parts {
            post_commit: PostCommitSink::new(
                node.clone(),
                watchers.clone(),
                failures,
                timer_queue.clone(),
                outbox_queue.clone(),
            ),
            workers: Arc::new(Workers::new(node.clone(), committer.clone(), workers)),
            resident: ResidentRuns::default(),
            node,
            committer,
            watchers,
        });
        let node = &parts.node;
        let lease = Arc::new(NodeLease {
            node: node.clone(),
            availability: availability.clone(),
        });
        lease.renew().await?;
        let task = Box::pin(parts.committer.task(parts.watchers.clone()));
        let task = node.tasks.counted(task);
        node.runtime.spawn_committer(task, &*node.store);
        if let Some(task) = hook_task {
            node.spawn(task);
        }
        Ok(Self::connect(
            parts,
            lease,
            availability,
            timer_queue,
            outbox_queue,
        ))
    }

    fn connect(
        parts: Arc<Parts>,
        lease: Arc<NodeLease>,
        availability: Arc<StoreAvailability>,
        timer_queue: Arc<TimerQueue>,
        outbox_queue: Arc<OutboxQueue>,
    ) -> Self {
        let streams = Streams::new(parts.clone());
        let dispatcher = Arc::new(Dispatcher {
            parts: parts.clone(),
            probations: Probations::default(),
            too_large: Mutex::default(),
        });
        let requests = Arc::new(Requests {
            parts: parts.clone(),
            dispatcher: dispatcher.clone(),
        });
        let deliverer = Arc::new(Deliverer {
            parts: parts.clone(),
            dispatcher: dispatcher.clone(),
            requests: requests.clone(),
        });
        Self {
            lease,
            recovery: Arc::new(Recovery {
                parts: parts.clone(),
                dispatcher: dispatcher.clone(),
                availability,
            }),
            requests,
            controller: Arc::new(Controller {
                parts: parts.clone(),
                dispatcher: dispatcher.clone(),
                outbox: deliverer.clone(),
            }),
            timers: Arc::new(TimerTask {
                parts: parts.clone(),
                dispatcher,
                queue: timer_queue,
                streams: streams.clone(),
            }),
            outbox: Arc::new(OutboxPump {
                parts: parts.clone(),
                queue: outbox_queue,
                deliverer,
            }),
            streams,
            parts,
            ended: OnceCell::new(),
        }
    }

    /// Starts the tasks of the node's roles, and recovers unfinished runs.
    pub(crate) async fn start_tasks(&self) -> Result<(), Unavailable> {
        let node = &self.parts.node;
        node.spawn(self.lease.clone().keep());
        node.spawn(self.outbox.clone().run());
        if !node.settings.feeds.is_empty() {
            self.streams.create_feeds().await?;
            node.spawn(self.streams.clone().keep_feeding());
        }
        self.parts.workers.publish().await?;
        if node.has(Role::Timers) {
            self.outbox.deliver_leftovers().await?;
            node.spawn(self.outbox.clone().keep_sweeping());
            node.spawn(self.timers.clone().run());
            node.spawn(self.controller.clone().keep_applying_retention());
        }
        if node.has(Role::Worker) {
            node.spawn(self.recovery.clone().keep_sweeping());
            node.spawn(evict_idle(self.parts.clone()));
            self.recovery.recover().await?;
        }
        Ok(())
    }
}
