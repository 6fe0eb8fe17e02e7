//! The driver without an engine. The tests act as engine and shell: they send messages and check
//! actions.

mod concluding;
mod dry;
mod no_return;
mod reading;
mod writing;

use std::collections::HashSet;

use everstep_machine::{CallSite, OpId, Resolution};
use everstep_model::record::{CancelRequested, Created, Event, ParentClose};
use everstep_model::{
    Body, Entry, Failure, Generation, Location, Name, Payload, Record, RecordNumber, RunId,
    RunStatus, Scope, Seed, StepOptions, Timestamp, UndoMode,
};

use crate::{
    Action, Append, CodeFailure, Driver, ExecutionKind, Host, Message, ReadFor, Returned, Setup,
    Then,
};

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

/// A shell that keeps only the locations of undos.
#[derive(Debug, Default)]
struct Undos(HashSet<Location>);

impl Host for Undos {
    fn has_undo(&self, of: &Location) -> bool {
        self.0.contains(of)
    }

    fn adopt_undos(&mut self, earlier: Self) {
        self.0.extend(earlier.0);
    }

    fn retain_undos(&mut self, is_kept: impl Fn(&Location) -> bool) {
        self.0.retain(|step| is_kept(step));
    }
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn json(text: &str) -> Payload {
    Payload::from_json(text.to_owned()).unwrap()
}

fn created() -> Body {
    Created {
        workflow: name("w"),
        version: 1,
        input: json("5"),
        seed: Seed(1),
        tags: vec![],
        deadline: None,
        execution_retries: None,
        idempotency_key: None,
        parent: None,
        by: None,
        forked_from: None,
        mark: None,
        parent_identity: None,
        trace: None,
        no_return: false,
    }
    .into()
}

fn go() -> Body {
    Event {
        name: name("go"),
        payload: json("1"),
        dedup_id: None,
        reply_to: None,
        by: None,
    }
    .into()
}

fn cancel() -> Body {
    CancelRequested {
        reason: None,
        rollback: false,
        by: None,
    }
    .into()
}

fn entries(from: u64, bodies: impl IntoIterator<Item = Body>) -> Vec<Entry> {
    let numbered = bodies.into_iter().zip(from..);
    let entry = |(body, number)| Entry {
        number: RecordNumber(number),
        record: Record { time: NOW, body },
    };
    numbered.map(entry).collect()
}

fn setup() -> Setup {
    Setup {
        run: RunId::new("r").unwrap(),
        generation: Generation::FIRST,
        execution_retries: None,
        development: false,
        cautious: false,
    }
}

/// A driver, with the test as its shell and engine.
struct Shell {
    driver: Driver<Undos>,
    /// What the journal contains.
    journal: Vec<Entry>,
    /// What the driver wrote last, unanswered.
    appended: Option<Append>,
}

impl Shell {
    fn new(journal: Vec<Entry>, change: impl FnOnce(&mut Setup)) -> Self {
        let mut setup = setup();
        change(&mut setup);
        Self {
            driver: Driver::new(setup, journal.clone()),
            journal,
            appended: None,
        }
    }

    /// Creates an activation of a new run.
    fn of_new_run() -> Self {
        Self::new(entries(0, [created()]), |_| {})
    }

    fn next(&mut self) -> Action {
        let action = self.driver.next(NOW, false);
        if let Action::Append(append) = &action {
            self.appended = Some(append.clone());
        }
        action
    }

    /// Starts the code, which calls a step.
    fn call_step(&mut self, step: &str) -> OpId {
        let options = StepOptions::default();
        let replay = &mut self.driver.current().0.replay;
        let op = replay.call(&Scope::ROOT, &name(step), options, CallSite::Shell(0));
        op.unwrap()
    }

    /// Calls a child that can be undone.
    fn call_child(&mut self) {
        let child = everstep_machine::ChildCall {
            workflow: name("ship"),
            id: None,
            input: json("1"),
            tags: vec![],
            timeout: None,
            on_close: ParentClose::Cancel,
            undo: UndoMode::Undo,
        };
        let (current, _) = self.driver.current();
        current.host.0.insert(Location::root(name("ship"), 0));
        let site = CallSite::Shell(0);
        current
            .replay
            .call(&Scope::ROOT, &name("ship"), child, site);
    }

    fn wait_for_go(&mut self) -> OpId {
        let wanted = everstep_machine::WaitCall {
            names: vec![name("go")],
            batch: 1,
            at_once: false,
            timeout: None,
        };
        let replay = &mut self.driver.current().0.replay;
        let site = CallSite::Shell(0);
        let op = replay.call(&Scope::ROOT, &name("go"), wanted, site);
        op.unwrap()
    }

    /// Executes the step's attempt.
    fn complete(&mut self, op: OpId, result: &str) {
        let replay = &mut self.driver.live().replay;
        let start = replay.begin_attempt(op).expect("the attempt may begin");
        replay.complete_attempt(op, &start, json(result));
    }

    /// Answers the append: it is durable.
    fn commit(&mut self) {
        let append = self.appended.take().expect("an append is in flight");
        let first = RecordNumber(self.journal.len() as u64);
        let bodies = append.records.iter().map(|record| record.body.clone());
        self.journal.extend(entries(first.0, bodies));
        self.driver.receive(Message::Appended {
            first,
            before: vec![],
            records: append.records,
        });
    }

    /// Answers the append: these records were committed first.
    fn refuse(&mut self, came: Vec<Entry>) {
        let append = self.appended.take().expect("an append is in flight");
        self.journal.extend(came.clone());
        self.driver.receive(Message::Missed {
            came,
            records: append.records,
        });
    }

    /// Returns the type names of what the driver writes next, and what that means for the run.
    fn written(&mut self) -> (Vec<&'static str>, Then) {
        match self.next() {
            Action::Append(append) => (types(&append), append.then),
            other => panic!("not an append: {other:?}"),
        }
    }
}

fn types(append: &Append) -> Vec<&'static str> {
    let records = append.records.iter();
    records.map(|record| record.body.type_name()).collect()
}

fn fails(message: &str) -> Returned {
    let failure = Failure::new(everstep_model::ErrorCode::WorkflowFailed, message);
    Returned::Failed(Box::new(CodeFailure {
        text: failure.to_string(),
        failure,
        causes: vec![],
        is_worth_another_pass: true,
    }))
}
