//! An engine for tests. It differs from a real one in its clock, its mocks, and crashes on demand.
#![allow(clippy::disallowed_methods, reason = "tokio's clock is paused here")]

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use everstep_engine::simulation::VirtualRuntime;
use everstep_model::{RunStatus, Timestamp};
use everstep_store::{Clock, MemoryStore, Store};
use serde::Serialize;

use super::builder::TestEngineBuilder;
use super::earlier_records::newest_record;
use super::journal::JournalView;
use super::plug::Plug;
use super::wait_limit::{LimitedPort, explain};
use crate::client::{Client, RunHandle};
use crate::declaration::Rpc;
use crate::engine::{Engine, Storage};
use crate::workflow::Workflows;

/// The shortest interval at which the state of a run is read while a test waits for it.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);
/// The interval is this part of the time that the test has waited, so that long waits need few
/// reads.
const CHECKS_PER_WAIT: u32 = 10_000;

impl TestEngineBuilder {
    /// Starts the engine.
    ///
    /// # Panics
    /// Outside [`virtual_time`](super::virtual_time), or if the engine cannot be opened.
    pub async fn start(mut self) -> TestEngine {
        let runtime = Arc::new(VirtualRuntime::new(self.seed));
        if let Storage::Memory = self.engine.storage {
            // All processes of the test use the same store.
            self.engine.storage = Storage::Store(Arc::new(MemoryStore::new(runtime.clone())));
        }
        let store = open_store(&self, &runtime);
        // The time must not go back on a store that has runs already.
        if let Ok(Some(newest)) = newest_record(&*store).await {
            runtime.start_no_earlier_than(newest);
        }
        TestEngine::open(self, runtime, store).await
    }
}

fn open_store(setup: &TestEngineBuilder, runtime: &Arc<VirtualRuntime>) -> Arc<dyn Store> {
    match setup.engine.storage.clone().open(runtime.clone()) {
        Ok(store) => store,
        Err(error) => panic!("the store of the test engine could not be opened: {error}"),
    }
}

/// An engine on a virtual clock. It derefs to [`Engine`]: start runs on it, list them, subscribe.
///
/// Use it inside [`virtual_time`](super::virtual_time).
pub struct TestEngine {
    engine: Engine,
    plug: Arc<Plug>,
    runtime: Arc<VirtualRuntime>,
    setup: TestEngineBuilder,
}

impl TestEngine {
    /// Configures a test engine.
    pub fn builder() -> TestEngineBuilder {
        TestEngineBuilder::new()
    }

    async fn open(
        setup: TestEngineBuilder,
        runtime: Arc<VirtualRuntime>,
        store: Arc<dyn Store>,
    ) -> Self {
        let mut engine = setup.engine.clone().runtime(runtime.clone());
        let plug = Arc::new(Plug::new(store));
        engine.storage = Storage::Store(plug.clone());
        #[cfg(feature = "remote")]
        if setup.server.is_some() {
            // A worker executes them.
            engine.workflows = Workflows::new();
        }
        let engine = match engine.start().await {
            Ok(engine) => engine,
            Err(error) => panic!("the test engine could not be opened: {error}"),
        };
        #[cfg(feature = "remote")]
        let engine = setup.serve(engine, &runtime).await;
        let port = LimitedPort {
            port: engine.port.clone(),
            limit: setup.wait_limit,
        };
        let engine = engine.with_client(Client::new(Arc::new(port)));
        Self {
            engine,
            plug,
            runtime,
            setup,
        }
    }

    /// Lets this much time pass. Everything that becomes due happens.
    pub async fn advance(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    /// The virtual time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.runtime.now()
    }

    /// The number of attempts of a step, mocked or real. The step is named as in
    /// [`TestEngineBuilder::mock_step`]. Restarts do not reset the number.
    #[must_use]
    pub fn calls(&self, step: &str) -> u32 {
        self.setup.mocks.calls(step)
    }

    /// The number of commits since the engine was last started.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.plug.commits()
    }

    /// Crashes and starts again: all tasks are dropped, only the store is left, and a new engine
    /// with the same workflows and mocks opens it. Old handles belong to the crashed process: take
    /// new ones.
    pub async fn restart(&mut self) {
        self.restart_with(|setup| setup).await;
    }

    /// Crashes and starts again with other code: only the workflows that `deploy` registers.
    pub async fn redeploy(&mut self, deploy: impl FnOnce(TestEngineBuilder) -> TestEngineBuilder) {
        self.restart_with(|mut setup| {
            setup.engine.workflows = Workflows::new();
            deploy(setup)
        })
        .await;
    }

    async fn restart_with(&mut self, change: impl FnOnce(TestEngineBuilder) -> TestEngineBuilder) {
        self.runtime.crash().await;
        self.plug.unplug().await;
        let storage = self.setup.engine.storage.clone();
        let mut setup = change(std::mem::replace(&mut self.setup, TestEngineBuilder::new()));
        // A restart keeps the stored runs, even if `change` sets another storage.
        setup.engine.storage = storage;
        let runtime = Arc::new(self.runtime.successor());
        let store = open_store(&setup, &runtime);
        *self = Self::open(setup, runtime, store).await;
    }

    /// Waits until the run has this status. Time passes meanwhile: ten virtual seconds at most, or
    /// as much as
    /// [`TestEngineBuilder::reach_limit`] sets.
    ///
    /// # Panics
    /// If the run does not reach it in this time. The message says why.
    pub async fn reach(&self, run: &RunHandle, status: RunStatus) {
        let mut checks = Checks::new(self);
        while checks.wait().await {
            if matches!(run.status().await, Ok(current) if current == status) {
                return;
            }
        }
        let (id, why) = (run.id(), explain(run.why().await));
        panic!("run `{id}` did not reach the status {status}; {why}");
    }

    /// Waits until the run makes this rpc, and answers the oldest open one.
    ///
    /// ```
    /// use everstep::testing::{TestEngine, virtual_time};
    /// use everstep::schemars::{self, JsonSchema};
    /// use everstep::{Ctx, Payload, Rpc, Workflows, interface};
    /// use serde::Serialize;
    ///
    /// #[derive(Serialize, JsonSchema)]
    /// struct Approve {
    ///     amount: u32,
    /// }
    /// impl Rpc for Approve {
    ///     const METHOD: &'static str = "approve";
    ///     type Answer = bool;
    /// }
    ///
    /// interface!(Pay { rpcs: Approve; });
    ///
    /// virtual_time(async {
    ///     let pay = |ctx: Ctx<Pay>, amount: u32| async move { ctx.rpc(Approve { amount }).await };
    ///     let test = TestEngine::builder().workflows(Workflows::new().function("pay", pay)).start().await;
    ///     let run = test.start_by_name("pay", Payload::from_value(&100).unwrap()).await.unwrap();
    ///     test.answer_next::<Approve>(&run, &true).await;
    ///     assert_eq!(run.wait_json().await.unwrap().as_str(), "true");
    /// });
    /// ```
    ///
    /// # Panics
    /// If the run does not make the rpc within ten virtual seconds (or
    /// [`TestEngineBuilder::reach_limit`]), or refuses the answer.
    pub async fn answer_next<R: Rpc>(&self, run: &RunHandle, answer: &R::Answer)
    where
        R::Answer: Serialize,
    {
        let mut checks = Checks::new(self);
        while checks.wait().await {
            let asked = run.inspect().await.ok().and_then(|info| {
                let mut open = info.overview.rpcs.into_iter();
                open.find(|rpc| rpc.method.as_str() == R::METHOD)
            });
            if let Some(rpc) = asked {
                match run.answer::<R>(&rpc.rpc_id, answer).await {
                    Ok(()) => return,
                    Err(error) => panic!(
                        "run `{}` refused the answer to `{}`: {error}",
                        run.id(),
                        R::METHOD
                    ),
                }
            }
        }
        panic!("run `{}` did not make the rpc `{}`", run.id(), R::METHOD);
    }

    /// The journal of the run, for assertions.
    ///
    /// # Panics
    /// If it cannot be read.
    pub async fn journal(&self, run: &RunHandle) -> JournalView {
        match run.journal().await {
            Ok(entries) => JournalView::new(entries),
            Err(error) => panic!(
                "the journal of run `{}` could not be read: {error}",
                run.id()
            ),
        }
    }
}

/// The moments at which a test looks whether something has happened.
struct Checks<'a> {
    test: &'a TestEngine,
    /// The time that has passed since the first check. `None` before it.
    waited: Option<Duration>,
}

impl<'a> Checks<'a> {
    fn new(test: &'a TestEngine) -> Self {
        Self { test, waited: None }
    }

    /// Waits for the next check. Returns `false` if the time is up.
    async fn wait(&mut self) -> bool {
        let Some(waited) = &mut self.waited else {
            self.waited = Some(Duration::ZERO);
            return true;
        };
        if *waited >= self.test.setup.reach_limit {
            return false;
        }
        let interval = CHECK_INTERVAL.max(*waited / CHECKS_PER_WAIT);
        *waited += interval;
        self.test.advance(interval).await;
        true
    }
}

impl Deref for TestEngine {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

impl std::fmt::Debug for TestEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TestEngine({:?})", self.engine)
    }
}
