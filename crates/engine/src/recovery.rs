//! Picking up work: everything that was left behind at the last end, and whatever a lost hint left lying.

use std::sync::Arc;

use everstep_model::{Name, RunStatus, StreamName, limits};
use everstep_store::{Hint, ListQuery, StoreError, StreamRef};

use crate::core::Core;

/// Ready runs read from the store at once.
const PAGE: usize = 1_000;

impl Core {
    /// Claims every run that has something to do, that nobody executes, and that this node can execute.
    pub(crate) async fn sweep(self: &Arc<Self>) -> Result<usize, StoreError> {
        let mut after = None;
        let mut claimed = 0;
        loop {
            let page = self.store.ready(after, PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(claimed);
            };
            after = Some(last.stream);
            let is_last = page.len() < PAGE;
            let free = page.into_iter().filter(|run| {
                run.executed_by.is_none() && self.worker(&run.workflow, run.version).is_some()
            });
            let claims = free.map(|run| self.claim(run.stream));
            for outcome in futures_util::future::join_all(claims).await {
                claimed += usize::from(outcome?);
            }
            if is_last || self.is_closing() {
                return Ok(claimed);
            }
        }
    }

    /// Gives parked runs another chance: the code that is registered now may fit their journals.
    pub(crate) async fn retry_diverged(self: &Arc<Self>) -> Result<(), StoreError> {
        let mut workflows: Vec<Name> = self
            .workers
            .iter()
            .map(|(offer, _)| offer.workflow.clone())
            .collect();
        workflows.dedup();
        if workflows.is_empty() {
            return Ok(());
        }
        let mut query = ListQuery {
            workflows,
            statuses: vec![RunStatus::Diverged],
            limit: limits::LIST_PAGE_MAX,
            ..ListQuery::default()
        };
        loop {
            let page = self.store.list(query.clone()).await?;
            for row in page.rows {
                let name = StreamName::of_run(&row.id, row.generation);
                let head = self.store.head(StreamRef::Name(name)).await?;
                if let Some(head) = head
                    && self.worker(&row.workflow, row.version).is_some()
                {
                    self.claim(head.number).await?;
                }
            }
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// The safety net under the hints.
    pub(crate) async fn keep_sweeping(self: Arc<Self>) {
        while !self.is_closing() {
            self.rest(self.settings.sweep_interval).await;
            if self.is_closing() {
                return;
            }
            match self.sweep().await {
                Ok(0) => {}
                Ok(claimed) => tracing::info!(claimed, "sweeping found runs that nobody executed"),
                Err(error) => tracing::warn!(%error, "sweeping failed"),
            }
        }
    }

    /// Follows a hint from the bus.
    pub(crate) fn follow(self: &Arc<Self>, hint: Hint) {
        match hint {
            Hint::Grew(stream) => {
                self.watchers.grew(stream, true);
                self.hot
                    .tell(stream, crate::activation::Message::Grew, false);
            }
            Hint::Timer(due) => self.timers.hint(due),
            Hint::Ready(stream) => {
                let core = self.clone();
                self.spawn(Box::pin(async move {
                    if let Err(error) = core.claim_if_offered(stream).await {
                        tracing::warn!(%error, %stream, "a ready run could not be claimed");
                    }
                }));
            }
        }
    }

    async fn claim_if_offered(
        self: &Arc<Self>,
        stream: everstep_model::StreamNumber,
    ) -> Result<(), StoreError> {
        let head = self.store.head(StreamRef::Number(stream)).await?;
        let Some(head) = head else { return Ok(()) };
        let offered = head
            .run
            .is_some_and(|run| self.worker(&run.workflow, run.version).is_some());
        if offered && head.ready && !head.closed {
            self.claim(stream).await?;
        }
        Ok(())
    }
}
