//! Runs whose journals are longer than a page, or cannot be read in full. Pages are small here.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use everstep_engine::simulation::VirtualRuntime;
use everstep_engine::{
    Activation, Append, CodedError, Control, Declares, Done, Engine, EngineParts, Message, Offer,
    Offered, RequestOrigin, SendEvent, Settings, Start, Then, Worker,
};
use everstep_model::record::{ChildStarted, ParentClose, StepStarted};
use everstep_model::{
    Body, Description, ErrorCode, Generation, Location, Name, Payload, Record, RunId, RunStatus,
    StreamName, StreamNumber, UndoMode,
};
use everstep_store::{
    Answer, BoxFuture, Call, Intercept, LocalBus, MemoryStore, Store, StoreError, StreamRef,
};
use everstep_store_testkit::Counting;

use crate::support::{World, two_nodes_on, virtual_time};

/// Appends these records to each run of a workflow, and then waits until it loses the run.
struct Writes {
    workflow: &'static str,
    bodies: Vec<Body>,
}

impl Worker for Writes {
    fn offers(&self) -> Vec<Offer> {
        vec![Offer {
            workflow: name(self.workflow),
            versions: 1..=1,
        }]
    }

    fn declares(&self, _workflow: &Name) -> Option<Arc<dyn Declares>> {
        Some(Arc::new(Description::default()))
    }

    fn execute(&self, mut activation: Activation) -> BoxFuture<'static, ()> {
        let time = activation.now();
        let bodies = self.bodies.iter().cloned();
        let records = bodies.map(|body| Record { time, body }).collect();
        Box::pin(async move {
            let is_new = activation.journal.len() == 1;
            let seen = activation.journal.last().unwrap().number.plus(1);
            if is_new {
                activation.seat.append(Append {
                    records,
                    then: Then::Continue,
                    seen,
                    inbox_seen: 1,
                    progress: false,
                    obsolete: Vec::new(),
                    left: Vec::new(),
                });
            }
            loop {
                let message = std::future::poll_fn(|cx| activation.seat.poll_message(cx));
                if matches!(message.await, Message::Lost | Message::Stop) {
                    return;
                }
            }
        })
    }
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn run(id: &str) -> RunId {
    RunId::new(id).unwrap()
}

fn at(operation: &str) -> Location {
    Location::root(name(operation), 0)
}

fn child(id: &str) -> Body {
    let started = ChildStarted {
        location: at(id),
        run: run(id),
        workflow: name("child"),
        input: Payload::null(),
        tags: Vec::new(),
        deadline: None,
        on_close: ParentClose::Terminate,
        detached: false,
        undo: UndoMode::default(),
    };
    started.into()
}

fn step(id: &str) -> Body {
    let started = StepStarted {
        location: at(id),
        attempt: 1,
        options: None,
    };
    started.into()
}

fn parent(bodies: Vec<Body>) -> Arc<dyn Worker> {
    let workflow = "parent";
    Arc::new(Writes { workflow, bodies })
}

fn children() -> Arc<dyn Worker> {
    let workflow = "child";
    let bodies = Vec::new();
    Arc::new(Writes { workflow, bodies })
}

fn small_pages() -> Settings {
    Settings {
        journal_page_records: 4,
        ..Settings::default()
    }
}

fn for_each_store<F: Future<Output = ()>>(test: impl Fn(World) -> F) {
    for in_memory in [true, false] {
        virtual_time(async {
            test(World::with_settings(in_memory, small_pages()).await).await;
        });
    }
}

/// Starts the parent and sends it events until its journal has several pages.
async fn start_parent(engine: &Engine) {
    let mut start = Start::new(name("parent"), Payload::null());
    start.id = Some(run("parent"));
    engine.start(start).await.unwrap();
    for _ in 0..10 {
        send(engine, "event").await;
    }
}

/// Sends the parent an event.
async fn send(engine: &Engine, payload: &str) {
    let event = SendEvent {
        run: run("parent"),
        name: name("event"),
        payload: Payload::from_value(payload).unwrap(),
        dedup_id: None,
        by: None,
        generation: None,
    };
    engine.send(event).await.unwrap();
}

async fn control(engine: &Engine, control: Control) -> Done {
    let (parent, origin) = (run("parent"), RequestOrigin::default());
    engine.control(&parent, control, origin).await.unwrap()
}

async fn terminate(engine: &Engine) -> Done {
    control(engine, Control::Terminate).await
}

async fn status(engine: &Engine, id: &str) -> Option<RunStatus> {
    engine.row(&run(id)).await.ok().map(|row| row.status)
}

/// Waits for a status. All effects of an engine are delivered within a few minutes.
async fn reach(engine: &Engine, id: &str, expected: RunStatus) {
    for _ in 0..300 {
        if status(engine, id).await == Some(expected) {
            return;
        }
        pass(engine, 1).await;
    }
    panic!("`{id}` is {:?}", status(engine, id).await);
}

/// Lets time pass on the virtual clock of the engine.
async fn pass(engine: &Engine, secs: u64) {
    engine.runtime().sleep(Duration::from_secs(secs)).await;
}

// B865
#[test]
fn a_child_that_starts_after_its_long_parent_was_terminated_is_ended() {
    for_each_store(async |world| {
        let engine = world.engine();
        let _parent = engine.offer(parent(vec![child("c")])).await.unwrap();
        start_parent(engine).await;
        terminate(engine).await;
        pass(engine, 60).await;
        assert_eq!(status(engine, "c").await, None, "no worker offers it");
        let _children = engine.offer(children()).await.unwrap();
        reach(engine, "c", RunStatus::Terminated).await;
    });
}

// B865
#[test]
fn a_child_that_starts_after_another_node_has_terminated_its_parent_is_ended() {
    virtual_time(async {
        // No hint reaches the other node.
        let (one, two) = two_nodes_on([Arc::default(), Arc::default()]).await;
        let _parent = one.offer(parent(vec![child("c")])).await.unwrap();
        start_parent(&one).await;
        terminate(&two).await;
        pass(&one, 60).await;
        assert_eq!(status(&one, "c").await, None, "no worker offers it");
        let _children = one.offer(children()).await.unwrap();
        reach(&one, "c", RunStatus::Terminated).await;
    });
}

// B867
#[test]
fn a_long_run_that_is_terminated_lists_the_steps_that_it_abandons() {
    for_each_store(async |world| {
        let engine = world.engine();
        let steps = vec![step("first"), step("second")];
        let _parent = engine.offer(parent(steps)).await.unwrap();
        start_parent(engine).await;
        terminate(engine).await;
        let end = engine.ended(&run("parent"), None).await.unwrap();
        let Body::Terminated(end) = end.body else {
            panic!("{end:?}");
        };
        assert_eq!(end.abandoned, [at("first"), at("second")]);
    });
}

/// Starts a run whose journal of 10 kB is larger than the limit, and offers a worker for it.
async fn too_large() -> (Arc<Counting>, Engine, Offered) {
    let runtime = Arc::new(VirtualRuntime::new(1));
    let store = Arc::new(Counting::new(MemoryStore::new(runtime.clone())));
    let engine = Engine::open(EngineParts {
        store: store.clone(),
        bus: Arc::new(LocalBus::default()),
        runtime,
        settings: Settings {
            journal_bytes_max: 5_000,
            ..small_pages()
        },
        workers: Vec::new(),
        failure_hooks: Vec::new(),
    });
    let engine = engine.await.unwrap();
    // The catalog keeps the workflow, so that the run can be started without a worker.
    drop(engine.offer(parent(Vec::new())).await.unwrap());
    start_parent(&engine).await;
    for _ in 0..10 {
        send(&engine, &"x".repeat(1_000)).await;
    }
    let offered = engine.offer(parent(Vec::new())).await.unwrap();
    reach(&engine, "parent", RunStatus::Paused).await;
    (store, engine, offered)
}

async fn pauses(engine: &Engine) -> usize {
    let journal = engine.journal(&run("parent")).await.unwrap();
    let bodies = journal.iter().map(|entry| &entry.record.body);
    bodies
        .filter(|body| matches!(body, Body::Paused(_)))
        .count()
}

// B869
#[test]
fn a_run_that_is_too_large_is_read_again_only_after_it_was_resumed() {
    virtual_time(async {
        let (store, engine, _offered) = too_large().await;
        let reads = store.calls().reads;
        for _ in 0..3 {
            send(&engine, "event").await;
            pass(&engine, 60).await;
        }
        assert_eq!(store.calls().reads, reads);
        assert_eq!(status(&engine, "parent").await, Some(RunStatus::Paused));
        assert_eq!(pauses(&engine).await, 1);
        assert!(control(&engine, Control::Resume).await.changed());
        pass(&engine, 60).await;
        assert_eq!(status(&engine, "parent").await, Some(RunStatus::Paused));
        assert_eq!(pauses(&engine).await, 2);
    });
}

// B870
#[test]
fn a_run_that_is_too_large_is_restarted_from_its_beginning() {
    virtual_time(async {
        let (_store, engine, _offered) = too_large().await;
        assert!(control(&engine, Control::Restart).await.changed());
        reach(&engine, "parent", RunStatus::Running).await;
        let row = engine.row(&run("parent")).await.unwrap();
        assert_eq!(row.generation, Generation(2));
    });
}

/// What the store returns for a page that is damaged.
#[derive(Clone, Copy, PartialEq)]
enum Damage {
    Error,
    NoRecords,
}

/// A store in memory with one journal that is damaged from a record on.
struct Damaged {
    inner: MemoryStore,
    damage: Mutex<Option<(StreamNumber, u64, Damage)>>,
}

impl Damaged {
    async fn open() -> (Arc<Self>, Engine) {
        let runtime = Arc::new(VirtualRuntime::new(1));
        let store = Arc::new(Self {
            inner: MemoryStore::new(runtime.clone()),
            damage: Mutex::default(),
        });
        let engine = Engine::open(EngineParts {
            store: store.clone(),
            bus: Arc::new(LocalBus::default()),
            runtime,
            settings: small_pages(),
            workers: Vec::new(),
            failure_hooks: Vec::new(),
        });
        (store, engine.await.unwrap())
    }

    async fn damage(&self, id: &str, from: u64, damage: Damage) {
        let name = StreamName::of_run(&run(id), Generation::FIRST);
        let head = self.inner.head(StreamRef::Name(name)).await.unwrap();
        *self.damage.lock().unwrap() = Some((head.unwrap().number, from, damage));
    }

    fn damage_of(&self, call: &Call) -> Option<Damage> {
        let (stream, from, damage) = (*self.damage.lock().unwrap())?;
        let Call::Read { request } = call else {
            return None;
        };
        let is_damaged = request.stream == stream && request.from.0 + 4 > from;
        is_damaged.then_some(damage)
    }
}

impl Intercept for Damaged {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(Arc::new(self.inner.clone()))
    }

    fn description(&self) -> everstep_store::Description {
        self.inner.describe()
    }

    fn before(&self, call: &Call) -> Result<(), StoreError> {
        match self.damage_of(call) {
            Some(Damage::Error) => Err(StoreError::corrupt("the test", "damaged")),
            Some(Damage::NoRecords) | None => Ok(()),
        }
    }

    fn after(&self, call: &Call, answer: &mut Answer) -> Result<(), StoreError> {
        if let (Some(Damage::NoRecords), Answer::Read(Some(page))) = (self.damage_of(call), answer)
        {
            page.entries.clear();
        }
        Ok(())
    }
}

// B866
#[test]
fn a_damaged_child_does_not_prevent_the_end_of_its_siblings() {
    virtual_time(async {
        let (store, engine) = Damaged::open().await;
        let bodies = vec![child("a"), child("b")];
        let _parent = engine.offer(parent(bodies)).await.unwrap();
        let _children = engine.offer(children()).await.unwrap();
        start_parent(&engine).await;
        reach(&engine, "a", RunStatus::Running).await;
        store.damage("a", 0, Damage::Error).await;
        terminate(&engine).await;
        reach(&engine, "b", RunStatus::Terminated).await;
        assert_eq!(status(&engine, "a").await, Some(RunStatus::Running));
    });
}

// B702
#[test]
fn what_comes_before_the_damage_of_a_terminated_run_is_ended() {
    virtual_time(async {
        let (store, engine) = Damaged::open().await;
        let _parent = engine.offer(parent(vec![child("c")])).await.unwrap();
        let _children = engine.offer(children()).await.unwrap();
        start_parent(&engine).await;
        reach(&engine, "c", RunStatus::Running).await;
        store.damage("parent", 8, Damage::Error).await;
        assert!(terminate(&engine).await.changed());
        reach(&engine, "c", RunStatus::Terminated).await;
    });
}

// B868
#[test]
fn an_empty_page_before_the_end_of_a_journal_is_an_error() {
    virtual_time(async {
        let (store, engine) = Damaged::open().await;
        let _parent = engine.offer(parent(Vec::new())).await.unwrap();
        start_parent(&engine).await;
        let parent = run("parent");
        assert_eq!(engine.inspect(&parent).await.unwrap().overview.records, 11);
        store.damage("parent", 8, Damage::NoRecords).await;
        let inspected = engine.inspect(&parent).await;
        assert_eq!(inspected.unwrap_err().code(), ErrorCode::StoreCorrupt);
        let read = engine.journal(&parent).await;
        assert_eq!(read.unwrap_err().code(), ErrorCode::StoreCorrupt);
    });
}
