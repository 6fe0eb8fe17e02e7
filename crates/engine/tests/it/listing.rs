//! Lists on the real runtime: while the store compares runs, it occupies its thread.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use everstep_engine::{Engine, EngineParts, Settings, TokioRuntime};
use everstep_store::{
    Call, Description, Intercept, ListQuery, LocalBus, MemoryStore, Store, StoreError, SystemClock,
};

/// A store whose lists occupy the calling thread until the test continues.
struct Occupying {
    inner: Arc<dyn Store>,
    started: Sender<()>,
    go_on: Mutex<Receiver<()>>,
}

impl Intercept for Occupying {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(self.inner.clone())
    }

    fn description(&self) -> Description {
        Description {
            exclusive: true,
            ..self.inner.describe()
        }
    }

    fn before(&self, call: &Call) -> Result<(), StoreError> {
        if matches!(call, Call::List { .. }) {
            self.started.send(()).unwrap();
            let waited = self.go_on.lock().unwrap();
            let waited = waited.recv_timeout(Duration::from_secs(10));
            waited.map_err(|_| StoreError::Unavailable {
                detail: "the list holds up the task that lets it go on".to_owned(),
            })?;
        }
        Ok(())
    }
}

// B800
#[tokio::test]
async fn a_list_holds_up_no_task_and_a_second_list_waits_for_the_first() {
    let (started, starts) = channel();
    let (go, go_on) = channel();
    let store = Occupying {
        inner: Arc::new(MemoryStore::new(Arc::new(SystemClock))),
        started,
        go_on: Mutex::new(go_on),
    };
    let engine = Engine::open(EngineParts {
        store: Arc::new(store),
        bus: Arc::new(LocalBus::default()),
        runtime: Arc::new(TokioRuntime::current().unwrap()),
        settings: Settings::default(),
        workers: Vec::new(),
        failure_hooks: Vec::new(),
    });
    let engine = engine.await.unwrap();
    let list = || engine.list(ListQuery::default());
    let other_task = async {
        // All tasks of this runtime have one thread.
        tokio::task::yield_now().await;
        starts.recv().unwrap();
        tokio::task::yield_now().await;
        assert!(starts.try_recv().is_err(), "one list at a time");
        go.send(()).unwrap();
        go.send(()).unwrap();
    };
    let (first, second, ()) = tokio::join!(list(), list(), other_task);
    assert!(first.unwrap().rows.is_empty() && second.unwrap().rows.is_empty());
    engine.shutdown().await;
}
