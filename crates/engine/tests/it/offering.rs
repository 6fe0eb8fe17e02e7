//! Workers that are added and removed: runs wait for them, and the catalog keeps their workflows.

use std::collections::BTreeMap;
use std::sync::Arc;

use everstep_engine::{
    Activation, Append, Declares, Engine, Message, Offer, SendError, SendEvent, Start, StartError,
    Then, Worker,
};
use everstep_model::record::Completed;
use everstep_model::{Described, Description, Name, Payload, Record, RunId, RunStatus};
use everstep_store::BoxFuture;

use crate::support::{for_each_store, two_nodes, virtual_time};

/// Completes every run immediately with its version.
struct Completes {
    versions: std::ops::RangeInclusive<u32>,
    description: Arc<Description>,
}

impl Worker for Completes {
    fn offers(&self) -> Vec<Offer> {
        vec![Offer {
            workflow: name("w"),
            versions: self.versions.clone(),
        }]
    }

    fn declares(&self, _workflow: &Name) -> Option<Arc<dyn Declares>> {
        Some(self.description.clone())
    }

    fn execute(&self, mut activation: Activation) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let result = Payload::from_value(&activation.version).unwrap();
            let end = Completed {
                result,
                abandoned: Vec::new(),
            };
            activation.seat.append(Append {
                records: vec![Record {
                    time: activation.now(),
                    body: end.into(),
                }],
                then: Then::EndAnyway(RunStatus::Completed),
                seen: activation.journal.last().unwrap().number.plus(1),
                inbox_seen: 1,
                progress: false,
                obsolete: Vec::new(),
                left: Vec::new(),
            });
            let answer =
                std::future::poll_fn(|context| activation.seat.poll_message(context)).await;
            assert!(matches!(answer, Message::Appended { .. }), "{answer:?}");
        })
    }
}

/// Drops every run, as a task that panics does.
struct DropsRuns;

impl Worker for DropsRuns {
    fn offers(&self) -> Vec<Offer> {
        worker(1..=1).offers()
    }

    fn execute(&self, activation: Activation) -> BoxFuture<'static, ()> {
        drop(activation);
        Box::pin(std::future::ready(()))
    }
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn json(text: &str) -> Payload {
    Payload::from_json(text.to_owned()).unwrap()
}

/// Accepts numbers as input, and the event `go`.
fn worker(versions: std::ops::RangeInclusive<u32>) -> Arc<dyn Worker> {
    let number = Described {
        schema: Some(json(r#"{"type": "number"}"#)),
    };
    let description = Description {
        input: number.schema.clone(),
        events: Some(BTreeMap::from([("go".to_owned(), number)])),
        deadline: Some(60_000),
        ..Description::default()
    };
    Arc::new(Completes {
        versions,
        description: Arc::new(description),
    })
}

fn start(id: &str, input: &str) -> Start {
    let mut start = Start::new(name("w"), json(input));
    start.id = Some(RunId::new(id).unwrap());
    start
}

async fn ended(engine: &Engine, id: &str) -> String {
    let last = engine.ended(&RunId::new(id).unwrap(), None).await.unwrap();
    match last.body {
        everstep_model::Body::Completed(end) => end.result.as_str().to_owned(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_without_a_worker_waits_for_one() {
    for_each_store(async |mut world| {
        let unknown = world.engine().start(start("a", "1")).await;
        assert!(matches!(unknown, Err(StartError::UnknownWorkflow(_))));
        let offered = world.engine().offer(worker(1..=2)).await.unwrap();
        world.engine().start(start("a", "1")).await.unwrap();
        assert_eq!(ended(world.engine(), "a").await, "2", "the newest version");
        drop(offered);
        world.reopen().await;
        let engine = world.engine();
        let started = engine.start(start("b", "1")).await.unwrap();
        assert!(started.created, "the workflow is in the catalog");
        let why = engine.why(&started.run, None).await.unwrap().to_string();
        assert!(why.contains("no live worker"), "{why}");
        let _offered = engine.offer(worker(1..=2)).await.unwrap();
        assert_eq!(ended(engine, "b").await, "2");
    });
}

#[test]
fn payloads_are_checked_against_the_catalog_without_a_worker() {
    for_each_store(async |mut world| {
        drop(world.engine().offer(worker(1..=1)).await.unwrap());
        world.reopen().await;
        let engine = world.engine();
        let bad = engine.start(start("a", "\"much\"")).await;
        assert!(matches!(bad, Err(StartError::Schema(_))), "{bad:?}");
        engine.start(start("a", "1")).await.unwrap();
        let send = |event: &str, payload: &str| {
            engine.send(SendEvent {
                run: RunId::new("a").unwrap(),
                name: name(event),
                payload: json(payload),
                dedup_id: None,
                by: None,
                generation: None,
            })
        };
        let other = send("stop", "1").await;
        assert!(matches!(other, Err(SendError::NotAccepted(_))));
        let bad = send("go", "true").await;
        assert!(matches!(bad, Err(SendError::Schema(_))), "{bad:?}");
        send("go", "1").await.unwrap();
        let info = engine.inspect(&RunId::new("a").unwrap()).await.unwrap();
        let (created, deadline) = (info.row.created_at, info.overview.deadline.unwrap());
        assert_eq!(deadline.as_millis() - created.as_millis(), 60_000);
    });
}

#[test]
fn a_node_starts_a_workflow_that_another_node_offers() {
    virtual_time(async {
        let (one, two) = two_nodes().await;
        let offered = one.offer(worker(1..=1)).await.unwrap();
        two.start(start("a", "1")).await.unwrap();
        assert_eq!(ended(&two, "a").await, "1");
        drop(offered);
        let _newer = two.offer(worker(3..=3)).await.unwrap();
        one.start(start("b", "1")).await.unwrap();
        let row = one.row(&RunId::new("b").unwrap()).await.unwrap();
        assert_eq!(row.version, 1, "this node does not know the newer one");
        let _older = one.offer(worker(1..=1)).await.unwrap();
        assert_eq!(ended(&two, "b").await, "1");
    });
}

#[test]
fn a_run_whose_worker_is_removed_during_creation_waits_for_another() {
    for_each_store(async |world| {
        let engine = world.engine();
        let offered = engine.offer(worker(1..=1)).await.unwrap();
        let mut starting = std::pin::pin!(engine.start(start("a", "1")));
        let is_pending = std::future::poll_fn(|context| {
            std::task::Poll::Ready(starting.as_mut().poll(context).is_pending())
        });
        assert!(is_pending.await);
        drop(offered);
        starting.await.unwrap();
        let _next = engine.offer(worker(1..=1)).await.unwrap();
        assert_eq!(ended(engine, "a").await, "1");
    });
}

#[test]
fn a_lost_run_of_a_node_without_a_worker_moves_to_another_node() {
    virtual_time(async {
        let (one, two) = two_nodes().await;
        let offered = one.offer(Arc::new(DropsRuns)).await.unwrap();
        one.start(start("a", "1")).await.unwrap();
        drop(offered);
        let _offered = two.offer(worker(1..=1)).await.unwrap();
        assert_eq!(ended(&two, "a").await, "1");
    });
}
