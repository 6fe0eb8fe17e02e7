//! The bytes in `docs/format.md` are the bytes that the store writes. A change here changes the
//! format.

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

use crate::directory::format::FORMAT;
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

/// Asserts that the document shows these bytes after this label.
fn assert_shown(label: &str, bytes: &[u8]) {
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
fn the_document_shows_the_bytes_of_a_frame() {
    let records = [step("charge"), event("paid")];
    let bytes = Frame::encode(&header(), &records);
    assert_shown("frame", &bytes);
    let frame = Frame::decode(&Bytes::from(bytes), &mut Interner::default()).unwrap();
    assert_eq!(
        (frame.header, frame.records.as_slice()),
        (header(), records.as_slice())
    );
}

#[test]
fn the_document_shows_the_bytes_of_a_head() {
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
    assert_shown("head", &values::encode_head(&head));
}

#[test]
fn the_document_shows_the_bytes_of_keys() {
    let stream = StreamNumber(7);
    assert_shown("journal key", &keys::frame(stream, RecordNumber(300)));
    assert_shown("head key", &keys::stream(stream));
    assert_shown("name key", &keys::name("workflows/a"));
    assert_shown("name value", &values::encode_number(7));
    assert_shown("dedup key", &keys::dedup(stream, "id"));
    let order = name("order");
    let page = page::number_of(stream);
    assert_shown(
        "list key",
        &keys::page(&keys::status(&order, RunStatus::Running), page),
    );
    assert_shown("tag key", &keys::page(&keys::tag("red"), page));
    assert_shown("key of all runs", &keys::page(&keys::ALL_RUNS, page));
    let hour = keys::created_in(491_712);
    assert_shown("key of the runs of an hour", &keys::page(&hour, page));
    let mut members = Page::default();
    for member in [7, 9, 30] {
        members.put(StreamNumber(member), true);
    }
    assert_shown("page", &members.encode());
    assert_shown(
        "timer key",
        &keys::timer(&timer(stream, 5, Some("loop/~3/wait:0"))).0,
    );
}

#[test]
fn the_document_shows_the_bytes_of_rows() {
    let open = Row::Rpc(rpc(StreamNumber(7), "rpc_1"));
    assert_shown("rpc key", &keys::lookup(&open.key()).unwrap());
    assert_shown("rpc value", &values::encode_row(&open));
    let used = idempotency("order", "key", "workflows/a");
    assert_shown("idempotency key", &keys::lookup(&used.key()).unwrap());
    assert_shown("idempotency value", &values::encode_row(&used));
    let latest = generation("a", 3, StreamNumber(7));
    assert_shown("generation key", &keys::lookup(&latest.key()).unwrap());
    assert_shown("generation value", &values::encode_row(&latest));
    assert_shown("removed key", &keys::REMOVED);
    assert_shown(
        "removed value",
        &values::encode_removed(StreamNumber(8), Term(1)),
    );
    let caused = Row::Outbox(effect(StreamNumber(7), "key"));
    assert_shown("outbox key", &keys::lookup(&caused.key()).unwrap());
    assert_shown("outbox value", &values::encode_row(&caused));
    let stream = Row::Stream(Box::new(stream_row(StreamNumber(7))));
    assert_shown("stream key", &keys::lookup(&stream.key()).unwrap());
    assert_shown("stream value", &values::encode_row(&stream));
    let appended = Row::Producer(producer(StreamNumber(7), "p", 2));
    assert_shown("producer key", &keys::lookup(&appended.key()).unwrap());
    assert_shown("producer value", &values::encode_row(&appended));
    let parts = ["orders".into(), 2.into()];
    let mut slot = shared(SharedKind::Slot, &parts, "{\"run\":\"a\"}");
    assert_shown(
        "shared key",
        &keys::lookup(&Row::Shared(slot.clone()).key()).unwrap(),
    );
    assert_shown(
        "shared value",
        &values::encode_row(&Row::Shared(slot.clone())),
    );
    slot.committed_at = CommitTime::At(START);
    assert_shown("stamped value", &values::encode_row(&Row::Shared(slot)));
}

/// Returns the text between two texts.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    Some(text.split_once(from)?.1.split_once(to)?.0)
}

/// Returns one row per kind of record, taken from the source code: tag, type name, and fields in
/// the order of their bytes.
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
fn the_document_names_the_version_of_directories() {
    for text in ["the directory (5)", "`everstep store, format 5`"] {
        let text = text.replace('5', &FORMAT.to_string());
        assert!(DOCUMENT.contains(&text), "{text}");
    }
}

#[test]
fn the_document_lists_all_kinds_of_records_with_their_fields() {
    let rows = record_rows();
    assert!(rows.len() > 40, "{}", rows.len());
    for row in rows {
        assert!(
            DOCUMENT.contains(&row),
            "docs/format.md lacks the row\n{row}"
        );
    }
}
