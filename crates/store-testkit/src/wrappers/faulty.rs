//! A store whose commits fail according to a schedule, before or after they take effect.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use everstep_store::{
    Answer, BoxFuture, Call, Commit, Description, Intercept, Outcome, Store, StoreError,
};

/// What happens to one call of `commit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// The call succeeds.
    #[default]
    None,
    /// The call fails and has changed nothing.
    Before,
    /// The call takes effect, and its outcome is lost.
    After,
    /// The call changes nothing and never returns, as if the calling process had crashed.
    HangBefore,
    /// The call takes effect and never returns.
    HangAfter,
}

/// Fails the commits of a store according to a schedule. All other calls pass through.
pub struct Faulty {
    inner: Arc<dyn Store>,
    schedule: Box<dyn Fn(u64) -> Fault + Send + Sync>,
    calls: AtomicU64,
    one_by_one: bool,
    on_hang: Option<Box<dyn Fn() + Send + Sync>>,
}

impl Faulty {
    /// `schedule` receives the number of each call of `commit`, from 0.
    pub fn new(inner: impl Store, schedule: impl Fn(u64) -> Fault + Send + Sync + 'static) -> Self {
        Self::over(Arc::new(inner), schedule)
    }

    /// As [`Self::new`], for a store that is already shared.
    pub fn over(
        inner: Arc<dyn Store>,
        schedule: impl Fn(u64) -> Fault + Send + Sync + 'static,
    ) -> Self {
        Self {
            inner,
            schedule: Box::new(schedule),
            calls: AtomicU64::new(0),
            one_by_one: false,
            on_hang: None,
        }
    }

    /// Applies the commits of a batch one by one and consults the schedule for each, so that a
    /// process can crash between any two of them.
    #[must_use]
    pub fn one_by_one(mut self) -> Self {
        self.one_by_one = true;
        self
    }

    /// Calls this when a commit hangs, after its effect if it has one.
    #[must_use]
    pub fn on_hang(mut self, on_hang: impl Fn() + Send + Sync + 'static) -> Self {
        self.on_hang = Some(Box::new(on_hang));
        self
    }

    async fn commit_batch(&self, batch: &[Commit]) -> Result<Vec<Outcome>, StoreError> {
        if !self.one_by_one {
            return self.commit_with_fault(batch).await;
        }
        let mut outcomes = Vec::new();
        for commit in batch {
            let commit = std::slice::from_ref(commit);
            outcomes.extend(self.commit_with_fault(commit).await?);
        }
        Ok(outcomes)
    }

    async fn commit_with_fault(&self, batch: &[Commit]) -> Result<Vec<Outcome>, StoreError> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        match (self.schedule)(call) {
            Fault::None => self.inner.commit(batch).await,
            Fault::Before => Err(scheduled_fault()),
            Fault::After => {
                self.inner.commit(batch).await?;
                Err(scheduled_fault())
            }
            Fault::HangBefore => self.hang().await,
            Fault::HangAfter => {
                self.inner.commit(batch).await?;
                self.hang().await
            }
        }
    }

    async fn hang<T>(&self) -> T {
        if let Some(on_hang) = &self.on_hang {
            on_hang();
        }
        std::future::pending().await
    }
}

impl Intercept for Faulty {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(self.inner.clone())
    }

    fn description(&self) -> Description {
        self.inner.describe()
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Answer, StoreError>> {
        Box::pin(async move {
            match call {
                Call::Commit { batch } => self.commit_batch(&batch).await.map(Answer::Commit),
                query => query.perform(&*self.inner).await,
            }
        })
    }
}

impl std::fmt::Debug for Faulty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let calls = self.calls.load(Ordering::SeqCst);
        f.debug_struct("Faulty").field("calls", &calls).finish()
    }
}

fn scheduled_fault() -> StoreError {
    StoreError::Unavailable {
        detail: "fault scheduled by the test".to_owned(),
    }
}
