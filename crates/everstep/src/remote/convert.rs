//! Conversions between the types of the engine and of the wire.

use everstep_engine::{Append, Message, Then};
use everstep_machine::{LeftChild, Obsolete};
use everstep_model::{Entry, ErrorCode, Failure, Record, RunStatus};
use everstep_protocol::worker::{
    AbandonedChild, NewsWord, ObsoleteRow, OfferedWorkflow, OneAnswer, OneAppend, ThenWord,
    WireEntry, WireRecord,
};

use crate::workflow::Definition;

pub(super) fn offered(definition: &Definition) -> OfferedWorkflow {
    OfferedWorkflow {
        name: definition.name.clone(),
        versions: [*definition.versions.start(), *definition.versions.end()],
        description: definition.describe(),
    }
}

pub(super) fn append(token: &str, seq: u64, append: Append) -> OneAppend {
    let (then, status) = then(append.then);
    OneAppend {
        token: token.to_owned(),
        seq,
        records: append.records.into_iter().map(WireRecord).collect(),
        then,
        status,
        seen: append.seen,
        inbox_seen: append.inbox_seen,
        progress: append.progress,
        obsolete: append.obsolete.into_iter().map(obsolete).collect(),
        left: append.left.into_iter().map(left).collect(),
    }
}

fn then(then: Then) -> (ThenWord, Option<RunStatus>) {
    match then {
        Then::Continue => (ThenWord::Continue, None),
        Then::GoOnAs(status) => (ThenWord::GoOnAs, Some(status)),
        Then::Suspend(status) => (ThenWord::Suspend, Some(status)),
        Then::Park(status) => (ThenWord::Park, Some(status)),
        Then::Release | Then::Abandon => (ThenWord::Release, None),
        Then::End(status) => (ThenWord::End, Some(status)),
        Then::EndAnyway(status) => (ThenWord::EndAnyway, Some(status)),
    }
}

fn obsolete(row: Obsolete) -> ObsoleteRow {
    match row {
        Obsolete::Timer(due, purpose, location) => ObsoleteRow::Timer {
            due,
            purpose,
            location,
        },
        Obsolete::Rpc(id) => ObsoleteRow::Rpc { id },
    }
}

fn left(left: LeftChild) -> AbandonedChild {
    AbandonedChild {
        location: left.location,
        run: left.run,
        on_close: left.on_close,
    }
}

/// The message to the executor after its append.
pub(super) fn answer(answer: OneAnswer, records: Vec<Record>) -> Message {
    match answer {
        OneAnswer::Appended { first, before } => Message::Appended {
            first,
            before: entries(before),
            records,
        },
        OneAnswer::Missed { came } => Message::Missed {
            came: entries(came),
            records,
        },
        OneAnswer::Lost => Message::Lost,
        OneAnswer::Refused { code, detail } => {
            let refused = Failure::new(ErrorCode::InvalidAppend, detail).named(&code);
            Message::Refused(Box::new(Failure { code, ..refused }))
        }
    }
}

pub(super) fn entries(wire: Vec<WireEntry>) -> Vec<Entry> {
    wire.into_iter().map(|entry| entry.0).collect()
}

pub(super) fn message(word: NewsWord) -> Message {
    match word {
        NewsWord::Grew => Message::Grew,
        NewsWord::Resumed => Message::Resumed,
        NewsWord::Lost => Message::Lost,
        NewsWord::Evict => Message::Evict,
        NewsWord::Stop => Message::Stop,
    }
}
