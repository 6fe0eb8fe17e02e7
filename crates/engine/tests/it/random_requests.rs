//! Random requests to a few streams, on each kind of store and across restarts, have the outcomes
//! of the model, and offsets stay valid.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use everstep_engine::streams::{
    Append, Create, Fork, Producer, ReadFrom, StreamError, StreamPath, Streams,
};
use everstep_model::Offset;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use crate::model::{AppendPlan, Model, Verdict};
use crate::support::{World, create, json, path, read_all, text, virtual_time};

const PATHS: u8 = 5;

#[derive(Clone, Debug)]
enum Turn {
    Create {
        path: u8,
        json: bool,
        closed: bool,
        messages: u8,
    },
    Fork {
        path: u8,
        source: u8,
        pick: u8,
        sub: u8,
    },
    Append {
        path: u8,
        json: bool,
        messages: u8,
        close: bool,
        producer: Option<(u8, u8, u8)>,
        seq: Option<u8>,
    },
    Delete {
        path: u8,
    },
    Reopen,
}

fn turn() -> impl Strategy<Value = Turn> {
    let at = || 0..PATHS;
    let producer = proptest::option::weighted(0.4, (0u8..2, 0u8..3, 0u8..4));
    prop_oneof![
        4 => (at(), any::<bool>(), prop::bool::weighted(0.1), 0u8..4)
            .prop_map(|(path, json, closed, messages)| Turn::Create { path, json, closed, messages }),
        4 => (at(), at(), any::<u8>(), prop_oneof![Just(0), 0u8..7])
            .prop_map(|(path, source, pick, sub)| Turn::Fork { path, source, pick, sub }),
        12 => (at(), any::<bool>(), 0u8..4, prop::bool::weighted(0.05), producer, proptest::option::weighted(0.2, 0u8..9))
            .prop_map(|(path, json, messages, close, producer, seq)| {
                Turn::Append { path, json, messages: if close { messages } else { messages.max(1) }, close, producer, seq }
            }),
        2 => at().prop_map(|path| Turn::Delete { path }),
        1 => Just(Turn::Reopen),
    ]
}

fn at(number: u8) -> StreamPath {
    path(&format!("s/{number}"))
}

/// An engine, its model, and the offsets that it returned, by stream and number of messages before
/// them.
struct Trial {
    world: World,
    model: Model,
    offsets: BTreeMap<usize, Vec<(usize, Offset)>>,
    message_count: u64,
    verdicts: BTreeSet<Verdict>,
}

impl Trial {
    fn streams(&self) -> Streams {
        self.world.streams()
    }

    /// Returns messages that differ from all earlier ones.
    fn new_messages(&mut self, count: u8, json: bool) -> Vec<String> {
        let mut messages = Vec::new();
        for _ in 0..count {
            self.message_count += 1;
            messages.push(format!("\"m{}\"", self.message_count));
        }
        if !json && !messages.is_empty() {
            messages = vec![messages.concat()];
        }
        messages
    }

    fn record_offset(&mut self, path: u8, offset: Offset) {
        if let Ok(id) = self.model.at(path) {
            let count = usize::try_from(offset.next.0).unwrap();
            let given = self.offsets.entry(id).or_default();
            given.push((count, offset));
        }
    }

    async fn perform(&mut self, turn: Turn) {
        match turn {
            Turn::Reopen => self.world.reopen().await,
            Turn::Delete { path } => {
                let expected = self.model.delete(path);
                let result = self.streams().delete(&at(path)).await;
                assert_eq!(verdict(&result), expected);
                self.verdicts.insert(expected);
            }
            Turn::Create {
                path,
                json,
                closed,
                messages,
            } => {
                self.create(path, json, closed, messages).await;
            }
            Turn::Fork {
                path,
                source,
                pick,
                sub,
            } => self.fork(path, source, pick, sub).await,
            Turn::Append {
                path,
                json,
                messages,
                close,
                producer,
                seq,
            } => {
                let messages = self.new_messages(messages, json);
                let producer = producer.map(|(id, epoch, seq)| (id, epoch.into(), seq.into()));
                let plan = AppendPlan {
                    messages,
                    json,
                    close,
                    producer,
                    seq,
                };
                self.append(path, &plan).await;
            }
        }
    }

    async fn create(&mut self, path: u8, is_json: bool, closed: bool, messages: u8) {
        let messages = self.new_messages(messages, is_json);
        let request = Create {
            path: at(path),
            closed,
            body: body(&messages, is_json),
            ..create("x", if is_json { json() } else { text() })
        };
        let expected = self.model.create(path, is_json, closed, messages);
        let result = self.streams().create(request).await;
        assert_eq!(created(&result), expected);
        self.verdicts.insert(expected);
        if let Ok(result) = result {
            self.record_offset(path, result.info.next);
        }
    }

    async fn fork(&mut self, path: u8, source: u8, pick: u8, sub: u8) {
        let known = self.model.at(source).ok();
        let given = known.and_then(|id| self.offsets.get(&id));
        let picked = given.and_then(|given| given.get(usize::from(pick) % given.len()));
        let (count, offset) = picked.copied().unwrap_or((
            0,
            Offset {
                term: everstep_model::Term(0),
                next: everstep_model::RecordNumber(0),
            },
        ));
        let request = Create {
            path: at(path),
            content_type: None,
            fork: Some(Fork {
                source: at(source),
                offset: Some(offset),
                sub_offset: sub.into(),
            }),
            ..create("x", text())
        };
        let expected = self.model.fork(path, source, count, sub.into());
        let result = self.streams().create(request).await;
        assert_eq!(created(&result), expected);
        self.verdicts.insert(expected);
        if let Ok(result) = result {
            self.record_offset(path, result.info.next);
            self.record_offset(path, offset);
        }
    }

    async fn append(&mut self, path: u8, plan: &AppendPlan) {
        let producer = plan.producer.map(|(id, epoch, seq)| Producer {
            id: id.to_string(),
            epoch,
            seq,
        });
        let append = Append {
            path: at(path),
            content_type: Some(if plan.json { json() } else { text() }),
            body: body(&plan.messages, plan.json),
            close: plan.close,
            producer,
            seq: plan.seq.map(|seq| seq.to_string()),
        };
        let expected = self.model.append(path, plan);
        let result = self.streams().append(append).await;
        let verdict = match &result {
            Ok(appended) if appended.repeated => Verdict::Again,
            Ok(_) => Verdict::Done,
            Err(error) => Verdict::of(error),
        };
        assert_eq!(verdict, expected);
        self.verdicts.insert(expected);
        if let Ok(appended) = result {
            self.record_offset(path, appended.next);
        }
    }

    /// Compares every stream with the model, from its start and from every offset that it returned.
    async fn check(&mut self) {
        let streams = self.streams();
        for path in 0..PATHS {
            let id = match self.model.at(path) {
                Ok(id) => id,
                Err(expected) => {
                    let read = read_all(&streams, &at(path), ReadFrom::Start).await;
                    assert_eq!(Verdict::of(&read.unwrap_err()), expected);
                    continue;
                }
            };
            let is = self.model.streams[id].clone();
            let expected: Vec<&str> = is.messages.iter().map(|(text, _)| text.as_str()).collect();
            let (found, offsets, closed) = read_all(&streams, &at(path), ReadFrom::Start)
                .await
                .unwrap();
            assert_eq!((&found[..], closed), (&as_bytes(&expected)[..], is.closed));
            let texts: Vec<String> = offsets.iter().map(Offset::to_string).collect();
            assert!(texts.is_sorted(), "{texts:?}");
            for offset in offsets {
                self.record_offset(path, offset);
            }
            for (count, offset) in self.offsets.get(&id).cloned().unwrap_or_default() {
                let (rest, ..) = read_all(&streams, &at(path), ReadFrom::Offset(offset))
                    .await
                    .unwrap();
                assert_eq!(rest, as_bytes(&expected[count..]), "{path} from {offset}");
            }
        }
    }
}

fn as_bytes(messages: &[&str]) -> Vec<Bytes> {
    let copied = messages
        .iter()
        .map(|text| Bytes::copy_from_slice(text.as_bytes()));
    copied.collect()
}

fn body(messages: &[String], json: bool) -> Bytes {
    match (json, messages) {
        (_, []) => Bytes::new(),
        (true, messages) => format!("[{}]", messages.join(",")).into(),
        (false, messages) => messages.concat().into(),
    }
}

fn verdict<T>(result: &Result<T, StreamError>) -> Verdict {
    match result {
        Ok(_) => Verdict::Done,
        Err(error) => Verdict::of(error),
    }
}

fn created(result: &Result<everstep_engine::streams::Created, StreamError>) -> Verdict {
    match result {
        Ok(created) if !created.created => Verdict::Again,
        result => verdict(result),
    }
}

fn try_all(in_memory: bool, turns: Vec<Turn>) -> BTreeSet<Verdict> {
    virtual_time(async {
        let mut trial = Trial {
            world: World::new(in_memory).await,
            model: Model::default(),
            offsets: BTreeMap::new(),
            message_count: 0,
            verdicts: BTreeSet::new(),
        };
        for (n, turn) in turns.into_iter().enumerate() {
            trial.perform(turn).await;
            if n % 8 == 7 {
                trial.check().await;
            }
        }
        trial.check().await;
        trial.verdicts
    })
}

#[test]
fn the_requests_have_every_outcome() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let turns = proptest::collection::vec(turn(), 80);
    let mut verdicts = BTreeSet::new();
    for _ in 0..40 {
        let turns = turns.new_tree(&mut runner).unwrap().current();
        verdicts.extend(try_all(true, turns));
    }
    assert_eq!(verdicts.len(), 14, "{verdicts:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn streams_in_memory_match_the_model(turns in proptest::collection::vec(turn(), 1..80)) {
        try_all(true, turns);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn streams_in_a_directory_match_the_model(turns in proptest::collection::vec(turn(), 1..80)) {
        try_all(false, turns);
    }
}
