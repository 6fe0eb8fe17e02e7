//! Answers of a bridge while it gives its run back.

use std::sync::Mutex;
use std::task::Context;

use everstep_engine::{Engine, EngineParts, Runtime, Seat, Settings, TokioRuntime};
use everstep_model::{Generation, Name, RunId};
use everstep_store::{BoxFuture, LocalBus, MemoryStore, StoreError};

use super::*;
use crate::options::Options;

/// Records appends. The test provides the answers.
struct RecordingSeat {
    appended: Arc<Mutex<Vec<Then>>>,
    runtime: Arc<dyn Runtime>,
    settings: Settings,
}

impl Seat for RecordingSeat {
    fn poll_message(&mut self, _context: &mut Context<'_>) -> Poll<Message> {
        Poll::Pending
    }

    fn append(&mut self, append: Append) {
        self.appended.lock().unwrap().push(append.then);
    }

    fn read(&self, _from: RecordNumber) -> BoxFuture<'static, Result<Vec<Entry>, StoreError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn runtime(&self) -> &Arc<dyn Runtime> {
        &self.runtime
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }
}

async fn bridge() -> (Bridge, Arc<Mutex<Vec<Then>>>) {
    let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current().unwrap());
    let clock = Arc::new(TokioRuntime::current().unwrap());
    let parts = EngineParts {
        store: Arc::new(MemoryStore::new(clock)),
        bus: Arc::new(LocalBus::default()),
        runtime: runtime.clone(),
        settings: Settings::default(),
        workers: Vec::new(),
        failure_hooks: Vec::new(),
    };
    let engine = Engine::open(parts).await.unwrap();
    let appended = Arc::<Mutex<Vec<Then>>>::default();
    let seat = RecordingSeat {
        appended: appended.clone(),
        runtime,
        settings: Settings::default(),
    };
    let activation = Activation {
        run: RunId::new("a").unwrap(),
        generation: Generation::FIRST,
        workflow: Name::new("w").unwrap(),
        version: 1,
        journal: Vec::new(),
        cautious: false,
        seat: Box::new(seat),
    };
    let pool = Arc::new(Pool::new(engine, &Options::default()));
    let journal = Some(Vec::new());
    let bridge = Bridge::new((pool, 1), activation, RecordsRead::default(), journal);
    (bridge, appended)
}

/// Returns an append of the worker with this sequence number, and the receiver of its answer.
fn append(seq: u64) -> (Command, oneshot::Receiver<OneAnswer>) {
    let (reply, answer) = oneshot::channel();
    let append = Append {
        records: Vec::new(),
        then: Then::Continue,
        seen: RecordNumber(1),
        inbox_seen: 1,
        progress: false,
        obsolete: Vec::new(),
        left: Vec::new(),
    };
    let append = Box::new(append);
    (
        Command::Append {
            seq,
            append: Ok(append),
            reply,
        },
        answer,
    )
}

fn durable() -> Message {
    Message::Appended {
        first: RecordNumber(1),
        before: Vec::new(),
        records: Vec::new(),
    }
}

#[tokio::test]
async fn an_append_during_give_back_is_answered_as_lost() {
    let (mut bridge, appended) = bridge().await;
    assert!(bridge.on_command(Command::GiveBack { as_lost: false }) == Next::Continue);
    let (command, answer) = append(1);
    assert!(bridge.on_command(command) == Next::Continue);
    assert!(bridge.on_message(durable()) == Next::End);
    assert_eq!(answer.await.unwrap(), OneAnswer::Lost);
    assert_eq!(*appended.lock().unwrap(), [Then::Release]);
}

#[tokio::test]
async fn a_repeated_append_is_written_once_and_answered_twice() {
    let (mut bridge, appended) = bridge().await;
    let ((first, one), (again, two)) = (append(1), append(1));
    assert!(bridge.on_command(first) == Next::Continue);
    assert!(bridge.on_command(again) == Next::Continue);
    assert!(bridge.on_message(durable()) == Next::Continue);
    assert_eq!(one.await.unwrap(), two.await.unwrap());
    assert_eq!(*appended.lock().unwrap(), [Then::Continue]);
}
