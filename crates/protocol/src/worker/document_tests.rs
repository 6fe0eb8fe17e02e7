//! Checks that PROTOCOL.md documents every message, field and limit of the worker protocol.

use std::collections::BTreeSet;

use everstep_model::record::{NoReturn, ParentClose};
use everstep_model::{
    Described, DescribedRpc, Description, Entry, Generation, Location, Name, Record, RecordNumber,
    RunId, RunStatus, Timestamp,
};
use serde::Serialize;
use serde_json::Value;

use super::*;

const TEXT: &str = include_str!("../../../../PROTOCOL.md");
const LIMITS: &str = include_str!("mod.rs");

/// Returns the words in backticks in the first column of the table under a heading.
fn documented(message: &str) -> BTreeSet<String> {
    let heading = format!("\n#### `{message}`\n");
    let (_, rest) = TEXT
        .split_once(&heading)
        .unwrap_or_else(|| panic!("there is no message {message}"));
    let table = rest.trim_start().lines();
    let table = table.skip_while(|line| !line.starts_with('|'));
    let rows = table.take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    cells.map(str::to_owned).collect()
}

/// Checks that the fields of a message, which has all optional ones, are documented.
#[track_caller]
fn check(name: &str, message: &impl Serialize) {
    let Value::Object(fields) = serde_json::to_value(message).unwrap() else {
        panic!("{name} is an object");
    };
    let fields: BTreeSet<String> = fields.into_iter().map(|(field, _)| field).collect();
    assert_eq!(documented(name), fields, "{name}");
}

fn name() -> Name {
    Name::new("n").unwrap()
}

fn location() -> Location {
    "n:0".parse().unwrap()
}

fn record() -> Record {
    Record {
        time: Timestamp::default(),
        body: NoReturn {
            location: location(),
        }
        .into(),
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "one row for each message")]
fn every_message_is_documented_with_its_fields() {
    let now = Timestamp::default();
    let (token, run) = ("t".to_owned(), RunId::new("r").unwrap());
    let workflow = OfferedWorkflow {
        name: name(),
        versions: [1, 2],
        description: Description::default(),
    };
    check("OfferedWorkflow", &workflow);
    check(
        "RegisterRequest",
        &RegisterRequest {
            worker: "w".to_owned(),
            sdk: Some("s".to_owned()),
            protocol: [1, 1],
            slots: 1,
            workflows: vec![workflow],
        },
    );
    check(
        "RegisterAnswer",
        &RegisterAnswer {
            session: "s".to_owned(),
            protocol: 1,
            server: "s".to_owned(),
            time_to_live: 1,
            heartbeat_every: 1,
            development: true,
            now,
        },
    );
    check(
        "ClaimRequest",
        &ClaimRequest {
            after: 1,
            leaving: true,
        },
    );
    let assigned = Assigned {
        token: token.clone(),
        id: run.clone(),
        generation: Generation::FIRST,
        workflow: name(),
        version: 1,
        cautious: true,
        journal: vec![WireEntry(Entry {
            number: RecordNumber(0),
            record: record(),
        })],
    };
    check("Assigned", &assigned);
    let news = News {
        token: token.clone(),
        word: NewsWord::Grew,
        after: 1,
    };
    check("News", &news);
    let item = Item {
        number: 1,
        run: Some(assigned),
        news: Some(news),
    };
    check("Item", &item);
    check(
        "ClaimAnswer",
        &ClaimAnswer {
            items: vec![item],
            now,
            closing: true,
        },
    );
    let left = AbandonedChild {
        location: location(),
        run,
        on_close: ParentClose::Cancel,
    };
    check("AbandonedChild", &left);
    let append = OneAppend {
        token: token.clone(),
        seq: 1,
        records: vec![WireRecord(record())],
        then: ThenWord::End,
        status: Some(RunStatus::Completed),
        seen: RecordNumber(1),
        inbox_seen: 1,
        progress: true,
        obsolete: vec![ObsoleteRow::Rpc {
            id: everstep_model::RpcId("rpc_1".into()),
        }],
        left: vec![left],
    };
    check("OneAppend", &append);
    check(
        "AppendRequest",
        &AppendRequest {
            appends: vec![append],
            released: vec![token.clone()],
        },
    );
    check(
        "AppendAnswer",
        &AppendAnswer {
            answers: vec![OneAnswer::Lost],
            now,
        },
    );
    check(
        "ReadRequest",
        &ReadRequest {
            token: token.clone(),
            from: RecordNumber(0),
        },
    );
    let records = Vec::new();
    check("ReadAnswer", &ReadAnswer { records, now });
    let tokens = vec![token];
    check("ReleaseRequest", &ReleaseRequest { tokens });
    check("Acknowledged", &Acknowledged { now });
}

#[test]
fn every_word_is_documented() {
    let then = [
        ThenWord::Continue,
        ThenWord::GoOnAs,
        ThenWord::Suspend,
        ThenWord::Park,
        ThenWord::Release,
        ThenWord::End,
        ThenWord::EndAnyway,
    ];
    let news = [
        NewsWord::Grew,
        NewsWord::Resumed,
        NewsWord::Lost,
        NewsWord::Evict,
        NewsWord::Stop,
    ];
    for word in then.iter().map(word).chain(news.iter().map(word)) {
        assert!(TEXT.contains(&format!("| `{word}` |")), "{word}");
    }
    for outcome in ["appended", "missed", "lost", "refused"] {
        assert!(TEXT.contains(&format!("| `{outcome}` |")), "{outcome}");
    }
}

fn word<T: Serialize>(value: &T) -> String {
    let json = serde_json::to_string(value).unwrap();
    json.trim_matches('"').to_owned()
}

#[test]
fn the_description_of_a_workflow_is_documented() {
    let schema = || Some(everstep_model::Payload::null());
    let rpc = DescribedRpc {
        args: schema(),
        schema: schema(),
    };
    let description = Description {
        input: schema(),
        output: schema(),
        events: Some([("e".to_owned(), Described { schema: schema() })].into()),
        rpcs: [("r".to_owned(), rpc)].into(),
        deadline: Some(1),
    };
    let Value::Object(fields) = serde_json::to_value(&description).unwrap() else {
        panic!("it is an object");
    };
    let text = TEXT.split("A **description** has").nth(1).unwrap();
    let text = text.split("\n\n").next().unwrap();
    for field in fields.keys() {
        assert!(text.contains(&format!("`{field}`")), "{field}");
    }
}

#[test]
fn every_limit_is_documented_with_its_value() {
    let consts = LIMITS
        .lines()
        .filter_map(|line| line.strip_prefix("pub const "));
    for line in consts {
        let (name, rest) = line.split_once(':').unwrap();
        let value = rest.split_once("= ").unwrap().1;
        let value = value.trim_end_matches(';').replace('_', "");
        assert!(TEXT.contains(&format!("| `{name}` | {value} |")), "{name}");
    }
}
