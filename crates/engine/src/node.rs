//! This node: the injected parts, the settings and the tasks that all modules share.

use std::sync::Arc;
use std::time::Duration;

use everstep_model::{NodeId, Timestamp};
use everstep_store::{Bus, Count, Hint, ListPage, ListQuery, Store, StoreError};

use crate::roles::Role;
use crate::runtime::Runtime;
use crate::scans::Scans;
use crate::settings::Settings;
use crate::tasks::Tasks;

pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) store: Arc<dyn Store>,
    /// Whether other nodes may use the same store.
    pub(crate) is_shared: bool,
    pub(crate) bus: Arc<dyn Bus>,
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) settings: Settings,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) scans: Scans,
}

impl Node {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        bus: Arc<dyn Bus>,
        runtime: Arc<dyn Runtime>,
        settings: Settings,
    ) -> Self {
        Self {
            id: NodeId(runtime.random()),
            is_shared: !store.describe().exclusive,
            store,
            bus,
            runtime,
            settings,
            tasks: Arc::default(),
            scans: Scans::default(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.runtime.now()
    }

    pub(crate) fn has(&self, role: Role) -> bool {
        self.settings.roles.has(role)
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.tasks.is_closing()
    }

    /// Runs a task that shutting down waits for.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(self.tasks.counted(Box::pin(task)));
    }

    /// Sleeps, unless the engine shuts down first. Returns whether it is still open.
    pub(crate) async fn rest(&self, duration: Duration) -> bool {
        let sleep = self.runtime.sleep(duration);
        self.tasks.until_closing(sleep).await;
        !self.is_closing()
    }

    /// Returns one page of the list of runs.
    pub(crate) async fn list(&self, query: ListQuery) -> Result<ListPage, StoreError> {
        let store = self.store.clone();
        self.scan(async move { store.list(query).await }).await
    }

    /// Counts the runs that match the filters of a query.
    pub(crate) async fn count(&self, query: ListQuery) -> Result<Count, StoreError> {
        let store = self.store.clone();
        self.scan(async move { store.count(query).await }).await
    }

    async fn scan<T: Send + 'static>(
        &self,
        query: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        match self.is_shared {
            // The server of the store does the work.
            true => query.await,
            false => self.scans.run(&*self.runtime, query).await,
        }
    }

    /// Publishes a hint that only other nodes need.
    pub(crate) fn hint_others(&self, hint: Hint) {
        if self.is_shared {
            self.bus.publish(hint);
        }
    }
}
