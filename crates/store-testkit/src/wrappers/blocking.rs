//! A store whose calls are complete when they return. Virtual clocks need it: they would run ahead
//! while a call waits for a real server.

use std::sync::Arc;

use everstep_store::{Answer, BoxFuture, Call, Description, Intercept, Store, StoreError};

use crate::block_on::block_on;

/// Waits for each call on the calling thread. The wrapped store must not need that thread.
pub struct Blocking(Arc<dyn Store>);

impl Blocking {
    pub fn new(inner: impl Store) -> Self {
        Self(Arc::new(inner))
    }
}

impl Intercept for Blocking {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(self.0.clone())
    }

    fn description(&self) -> Description {
        self.0.describe()
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Answer, StoreError>> {
        Box::pin(std::future::ready(block_on(call.perform(&*self.0))))
    }
}

impl std::fmt::Debug for Blocking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Blocking({})", self.0.describe().name)
    }
}
