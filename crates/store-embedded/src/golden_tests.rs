//! `docs/format.md` shows bytes; these are the bytes that are written. A change here is a change of
//! the format.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use everstep_model::{
    Epoch, ExecutorSeq, Frame, FrameHeader, Interner, RecordNumber, RunStatus, StreamName,
    StreamNumber, Term,
};
use everstep_store::{CommitTime, Head, Owner, Row, SharedKind};
use everstep_store_testkit::START;
use everstep_store_testkit::sample::{
    NODE, NONCE, effect, event, generation, idempotency, name, producer, rpc, run, shared, step,
    stream_row, timer,
};

use crate::encoding::keys;
use crate::encoding::page::{self, Page};
use crate::encoding::values;

const DOCUMENT: &str = include_str!("../../../docs/format.md");

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}

/// The document shows these bytes, in lines of its own, behind this label.
fn shown(label: &str, bytes: &[u8]) {
    let (_, rest) = DOCUMENT
        .split_once(&format!("\n{label}:\n"))
        .unwrap_or_else(|| panic!("{label}: {}", hex(bytes)));
    let lines = rest
        .lines()
        .take_while(|line| !line.is_empty() && !line.starts_with('`'));
    let text: String = lines
        .flat_map(str::chars)
        .filter(|c| !c.is_whitespace())
        .collect();
    assert_eq!(text, hex(bytes), "{label}");
}

fn header() -> FrameHeader {
    FrameHeader {
        epoch: Epoch(2),
        seq: ExecutorSeq(5),
        executor_at: RecordNumber(300),
        progress_epoch: Epoch(1),
        inbox_count: 3,
        unconsumed_events: 1,
    }
}

#[test]
fn the_frame_of_the_document_is_what_is_written() {
    let records = [step("charge"), event("paid")];
    let bytes = Frame::encode(&header(), &records);
    shown("frame", &bytes);
    let frame = Frame::decode(&Bytes::from(bytes), &mut Interner::default()).unwrap();
    assert_eq!(
        (frame.header, frame.records.as_slice()),
        (header(), records.as_slice())
    );
}

#[test]
fn the_head_of_the_document_is_what_is_written() {
    let name = StreamName::from_stored("workflows/a");
    let mut head = Head::new(StreamNumber(7), name, Term(0));
    head.next = RecordNumber(302);
    head.frame = header();
    head.epoch = Epoch(2);
    head.owner = Some(Owner {
        node: NODE,
        nonce: NONCE,
    });
    head.ready = true;
    head.run = Some(Arc::new(run("a", "order", RunStatus::Running)));
    shown("head", &values::encode_head(&head));
}

#[test]
fn the_keys_of_the_document_are_what_is_written() {
    let stream = StreamNumber(7);
    shown("journal key", &keys::frame(stream, RecordNumber(300)));
    shown("head key", &keys::stream(stream));
    shown("name key", &keys::name("workflows/a"));
    shown("name value", &values::encode_number(7));
    shown("dedup key", &keys::dedup(stream, "id"));
    let order = name("order");
    let page = page::number_of(stream);
    shown(
        "list key",
        &keys::page(&keys::status(&order, RunStatus::Running), page),
    );
    shown("tag key", &keys::page(&keys::tag("red"), page));
    let mut members = Page::default();
    for member in [7, 9, 30] {
        members.put(StreamNumber(member), true);
    }
    shown("page", &members.encode());
    shown(
        "timer key",
        &keys::timer(&timer(stream, 5, Some("loop/~3/wait:0"))).0,
    );
}

#[test]
fn the_rows_of_the_document_are_what_is_written() {
    let open = Row::Rpc(rpc(StreamNumber(7), "rpc_1"));
    shown("rpc key", &keys::lookup(&open.key()).unwrap());
    shown("rpc value", &values::encode_row(&open));
    let used = idempotency("order", "key", "workflows/a");
    shown("idempotency key", &keys::lookup(&used.key()).unwrap());
    shown("idempotency value", &values::encode_row(&used));
    let latest = generation("a", 3, StreamNumber(7));
    shown("generation key", &keys::lookup(&latest.key()).unwrap());
    shown("generation value", &values::encode_row(&latest));
    shown("removed key", &keys::REMOVED);
    shown(
        "removed value",
        &values::encode_removed(StreamNumber(8), Term(1)),
    );
    let caused = Row::Outbox(effect(StreamNumber(7), "key"));
    shown("outbox key", &keys::lookup(&caused.key()).unwrap());
    shown("outbox value", &values::encode_row(&caused));
    let stream = Row::Stream(Box::new(stream_row(StreamNumber(7))));
    shown("stream key", &keys::lookup(&stream.key()).unwrap());
    shown("stream value", &values::encode_row(&stream));
    let appended = Row::Producer(producer(StreamNumber(7), "p", 2));
    shown("producer key", &keys::lookup(&appended.key()).unwrap());
    shown("producer value", &values::encode_row(&appended));
    let parts = ["orders".into(), 2.into()];
    let mut slot = shared(SharedKind::Slot, &parts, "{\"run\":\"a\"}");
    shown(
        "shared key",
        &keys::lookup(&Row::Shared(slot.clone()).key()).unwrap(),
    );
    shown(
        "shared value",
        &values::encode_row(&Row::Shared(slot.clone())),
    );
    slot.committed_at = CommitTime::At(START);
    shown("stamped value", &values::encode_row(&Row::Shared(slot)));
}

/// The text between two marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    Some(text.split_once(from)?.1.split_once(to)?.0)
}

/// One row per kind of record, from the code that defines them: tag, type name, fields in the order
/// they are written.
fn record_rows() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../model/src/record");
    let mut source = String::new();
    for file in fs::read_dir(folder).unwrap() {
        source.push_str(&fs::read_to_string(file.unwrap().path()).unwrap());
    }
    let kinds = between(&source, "\nrecord_kinds! {\n    ($)", "\n}").unwrap();
    let rows = kinds.split(';').filter_map(|kind| {
        let (name, rest) = kind.trim().split_once(" = ")?;
        let mut parts = rest.split(", ");
        let (tag, text) = (parts.next()?, parts.next()?.trim_matches('"'));
        Some(format!("| {tag} | `{text}` | {} |", fields(&source, name)))
    });
    rows.collect()
}

/// The fields of a struct that the macro `records` declares, which encodes them in this order.
fn fields(source: &str, kind: &str) -> String {
    let start = format!("    pub struct {kind} {{");
    let declaration = source.split_once(&start).map_or("", |(_, rest)| rest);
    let lines = declaration.lines();
    let lines = lines.take_while(|line| *line != "}" && *line != "    }");
    let fields = lines.filter_map(|line| {
        let field = line.strip_prefix("        pub ")?.strip_suffix(',')?;
        // A box is only in memory.
        Some(match field.split_once("Box<") {
            Some((outer, inner)) => format!("{outer}{}", inner.replacen('>', "", 1)),
            None => field.to_owned(),
        })
    });
    fields.collect::<Vec<_>>().join(", ")
}

#[test]
fn the_document_lists_every_kind_of_record_with_its_fields() {
    let rows = record_rows();
    assert!(rows.len() > 40, "{}", rows.len());
    for row in rows {
        assert!(
            DOCUMENT.contains(&row),
            "docs/format.md lacks the row\n{row}"
        );
    }
}
