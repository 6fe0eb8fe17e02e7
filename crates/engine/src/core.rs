//! The composition root: builds the parts of an engine and starts their tasks.

use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::commit::{Committer, Documents, PostCommitSink, StoreAvailability};
use crate::error::Unavailable;
use crate::execution::{
    Claims, Dispatcher, Executors, Inbox, NodeLease, Recovery, ResidentRuns, evict_idle,
};
use crate::node::Node;
use crate::observers::{FailureHook, FailureHooks, Watchers};
use crate::outbox::{Deliverer, OutboxPump, OutboxQueue};
use crate::requests::control::{
    Controller, Copier, Deleter, RetentionTask, Reviver, StepSettler, Terminator,
};
use crate::requests::{InboxRequests, Inspector, RunWatcher, Starter};
use crate::roles::Role;
use crate::streams::Streams;
use crate::timers::{TimerQueue, TimerTask};
use crate::workers::{Worker, Workers};

/// The parts of an engine through which requests, hints and shutdown enter it.
pub(crate) struct Core {
    pub(crate) base: Base,
    pub(crate) lease: Arc<NodeLease>,
    pub(crate) recovery: Arc<Recovery>,
    pub(crate) requests: Requests,
    pub(crate) streams: Streams,
    pub(crate) timers: Arc<TimerTask>,
    pub(crate) outbox: Arc<OutboxPump>,
    pub(crate) ended: OnceCell<()>,
}

/// The parts that most others use.
pub(crate) struct Base {
    pub(crate) node: Arc<Node>,
    pub(crate) committer: Arc<Committer>,
    pub(crate) post_commit: Arc<PostCommitSink>,
    pub(crate) watchers: Arc<Watchers>,
    pub(crate) workers: Arc<Workers>,
    pub(crate) resident: Arc<ResidentRuns>,
    claims: Arc<Claims>,
    dispatcher: Arc<Dispatcher>,
    inbox: Arc<Inbox>,
}

/// The handlers of requests.
pub(crate) struct Requests {
    pub(crate) inbox: Arc<InboxRequests>,
    pub(crate) inspector: Inspector,
    pub(crate) starter: Arc<Starter>,
    pub(crate) watcher: Arc<RunWatcher>,
    pub(crate) controller: Arc<Controller>,
    pub(crate) retention: Arc<RetentionTask>,
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
        let timer_queue = Arc::<TimerQueue>::default();
        let outbox_queue = Arc::<OutboxQueue>::default();
        let (failures, hook_task) = FailureHooks::new(hooks);
        let committer = Arc::new(Committer::new(node.clone(), availability.clone()));
        let watchers = Arc::new(Watchers::new(node.clone()));
        let post_commit = Arc::new(PostCommitSink::new(
            node.clone(),
            watchers.clone(),
            failures,
            timer_queue.clone(),
            outbox_queue.clone(),
        ));
        let outbox = outbox_queue.clone();
        let base = Base::new(node, committer, post_commit, watchers, outbox, workers);
        let lease = Arc::new(NodeLease {
            node: base.node.clone(),
            availability: availability.clone(),
        });
        lease.renew().await?;
        let task = base.committer.task(base.watchers.clone());
        let task = base.node.tasks.counted(Box::pin(task));
        base.node.runtime.spawn_committer(task);
        if let Some(task) = hook_task {
            base.node.spawn(task);
        }
        let (requests, deliverer) = base.requests();
        let streams = Streams::new(
            base.node.clone(),
            base.committer.clone(),
            base.post_commit.clone(),
            base.watchers.clone(),
        );
        Ok(Self {
            lease,
            recovery: Arc::new(Recovery {
                executors: base.dispatcher.executors.clone(),
                dispatcher: base.dispatcher.clone(),
                workers: base.workers.clone(),
                availability,
            }),
            timers: Arc::new(TimerTask {
                node: base.node.clone(),
                committer: base.committer.clone(),
                watchers: base.watchers.clone(),
                queue: timer_queue,
                claims: base.claims.clone(),
                inbox: base.inbox.clone(),
                streams: streams.clone(),
            }),
            outbox: Arc::new(OutboxPump {
                node: base.node.clone(),
                committer: base.committer.clone(),
                queue: outbox_queue,
                deliverer,
                watcher: requests.watcher.clone(),
            }),
            base,
            requests,
            streams,
            ended: OnceCell::new(),
        })
    }

    /// Starts the tasks of the node's roles, and recovers the runs that were left behind.
    pub(crate) async fn start_tasks(&self) -> Result<(), Unavailable> {
        let node = &self.base.node;
        node.spawn(self.lease.clone().keep());
        node.spawn(self.outbox.clone().run());
        self.base.workers.publish().await?;
        if node.has(Role::Timers) {
            self.outbox.deliver_leftovers().await?;
            node.spawn(self.outbox.clone().keep_sweeping());
            node.spawn(self.timers.clone().run());
            node.spawn(self.requests.retention.clone().run());
        }
        if node.has(Role::Worker) {
            node.spawn(self.recovery.clone().keep_sweeping());
            node.spawn(evict_idle(node.clone(), self.base.resident.clone()));
            self.recovery.recover().await?;
        }
        Ok(())
    }
}

impl Base {
    fn new(
        node: Arc<Node>,
        committer: Arc<Committer>,
        post_commit: Arc<PostCommitSink>,
        watchers: Arc<Watchers>,
        outbox: Arc<OutboxQueue>,
        workers: Vec<Arc<dyn Worker>>,
    ) -> Self {
        let documents = Documents {
            node: node.clone(),
            committer: committer.clone(),
        };
        let workers = Arc::new(Workers::new(node.clone(), documents, workers));
        let resident = Arc::<ResidentRuns>::default();
        let claims = Arc::new(Claims {
            node: node.clone(),
            workers: workers.clone(),
            resident: resident.clone(),
        });
        let executors = Arc::new(Executors {
            node: node.clone(),
            committer: committer.clone(),
            post_commit: post_commit.clone(),
            watchers: watchers.clone(),
            resident: resident.clone(),
        });
        let dispatcher = Arc::new(Dispatcher {
            executors,
            claims: claims.clone(),
            outbox,
        });
        let inbox = Arc::new(Inbox {
            node: node.clone(),
            committer: committer.clone(),
            post_commit: post_commit.clone(),
            claims: claims.clone(),
            dispatcher: dispatcher.clone(),
        });
        Self {
            node,
            committer,
            post_commit,
            watchers,
            workers,
            resident,
            claims,
            dispatcher,
            inbox,
        }
    }

    fn requests(&self) -> (Requests, Arc<Deliverer>) {
        let starter = Arc::new(Starter {
            node: self.node.clone(),
            committer: self.committer.clone(),
            post_commit: self.post_commit.clone(),
            workers: self.workers.clone(),
            claims: self.claims.clone(),
            dispatcher: self.dispatcher.clone(),
        });
        let terminator = Arc::new(Terminator {
            node: self.node.clone(),
            committer: self.committer.clone(),
            post_commit: self.post_commit.clone(),
            resident: self.resident.clone(),
        });
        let deliverer = Arc::new(Deliverer {
            node: self.node.clone(),
            committer: self.committer.clone(),
            workers: self.workers.clone(),
            inbox: self.inbox.clone(),
            starter: starter.clone(),
            terminator: terminator.clone(),
        });
        let deleter = Arc::new(Deleter {
            node: self.node.clone(),
            committer: self.committer.clone(),
            watchers: self.watchers.clone(),
            terminator: terminator.clone(),
            outbox: deliverer.clone(),
        });
        let inbox = Arc::new(InboxRequests {
            node: self.node.clone(),
            committer: self.committer.clone(),
            workers: self.workers.clone(),
            inbox: self.inbox.clone(),
        });
        let requests = Requests {
            inbox: inbox.clone(),
            inspector: Inspector {
                node: self.node.clone(),
                workers: self.workers.clone(),
            },
            starter,
            watcher: Arc::new(RunWatcher::new(
                self.node.clone(),
                self.watchers.clone(),
                self.resident.clone(),
            )),
            retention: Arc::new(RetentionTask {
                node: self.node.clone(),
                deleter: deleter.clone(),
            }),
            controller: self.controller(inbox, terminator, deleter),
        };
        (requests, deliverer)
    }

    fn controller(
        &self,
        requests: Arc<InboxRequests>,
        terminator: Arc<Terminator>,
        deleter: Arc<Deleter>,
    ) -> Arc<Controller> {
        let copier = Arc::new(Copier {
            node: self.node.clone(),
            committer: self.committer.clone(),
            post_commit: self.post_commit.clone(),
            claims: self.claims.clone(),
            dispatcher: self.dispatcher.clone(),
        });
        Arc::new(Controller {
            node: self.node.clone(),
            settler: Arc::new(StepSettler {
                requests: requests.clone(),
                terminator: terminator.clone(),
                dispatcher: self.dispatcher.clone(),
            }),
            reviver: Arc::new(Reviver {
                copier: copier.clone(),
                terminator: terminator.clone(),
                workers: self.workers.clone(),
            }),
            requests,
            terminator,
            copier,
            deleter,
        })
    }
}
