//! Damage to files is reported as an error or is harmless. It never causes a panic or silent loss.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use everstep_model::{ErrorCode, RunStatus, StreamNumber, Timestamp};
use everstep_store::{ListQuery, ReadRequest, Row, Store, StoreError, StreamRef, TimerQuery};
use everstep_store_testkit::sample::{event, inbox, run_creation, timer};
use everstep_store_testkit::{Fixture, TestClock, block_on};
use tempfile::TempDir;

use crate::EmbeddedStore;

pub(crate) const STREAMS: u64 = 20;
pub(crate) const RECORDS: u64 = 30;
const ROUNDS: u64 = 150;

fn open(path: &Path) -> Result<EmbeddedStore, StoreError> {
    EmbeddedStore::open(path, Arc::new(TestClock::new()))
}

/// Creates a store with streams, timers and ready marks.
pub(crate) fn filled() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(TestClock::new());
    let store = EmbeddedStore::open(folder.path(), clock.clone()).unwrap();
    let f = Fixture { store, clock };
    block_on(async {
        for n in 0..STREAMS {
            let mut commit = run_creation(&format!("r{n}"), "order", RunStatus::Queued);
            commit.ready = true;
            commit
                .rows
                .put
                .push(Row::Timer(timer(StreamNumber(0), n, Some("s:0"))));
            let stream = f.create_with(commit).await;
            for _ in 1..RECORDS {
                f.accept(inbox(stream, vec![event("x")])).await;
            }
            if n == STREAMS / 2 {
                flush(&f.store);
            }
        }
    });
    folder
}

/// Writes all memtables to tables, so that later data is only in the journal.
pub(crate) fn flush(store: &EmbeddedStore) {
    let tables = &store.0.tables;
    for table in [
        &tables.journal,
        &tables.heads,
        &tables.lookups,
        &tables.lists,
        &tables.timers,
        &tables.ready,
    ] {
        table.rotate_memtable_and_wait().unwrap();
    }
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Reads everything. Returns the number of records, or the first error.
pub(crate) fn read_all(path: &Path) -> Result<u64, StoreError> {
    let store = open(path)?;
    block_on(async {
        let mut records = 0;
        for number in (1..=STREAMS).map(StreamNumber) {
            let request = ReadRequest {
                stream: number,
                from: everstep_model::RecordNumber(0),
                limit: 1_000,
                bytes: usize::MAX,
            };
            store.head(StreamRef::Number(number)).await?;
            let page = store.read(request).await?;
            records += page.map_or(0, |page| page.entries.len() as u64);
        }
        let statuses = vec![RunStatus::Queued];
        store
            .list(ListQuery {
                limit: 100,
                ..ListQuery::default()
            })
            .await?;
        store
            .list(ListQuery {
                statuses,
                limit: 100,
                ..ListQuery::default()
            })
            .await?;
        store.ready(None, 100).await?;
        let until = Timestamp::from_millis(u64::MAX);
        store
            .timers(TimerQuery {
                until,
                after: None,
                limit: 100,
            })
            .await?;
        Ok(records)
    })
}

/// A small deterministic generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Returns the end of the last block that is not zero: journals are allocated in advance.
fn used(bytes: &[u8]) -> u64 {
    bytes
        .chunks(4_096)
        .rposition(|chunk| chunk.iter().any(|b| *b != 0))
        .map_or(0, |at| (at as u64 + 1) * 4_096)
}

/// Damages one of the files in a copy of a folder. Returns its name, and what was done to it.
pub(crate) fn damage(
    random: &mut Random,
    names: &[PathBuf],
    original: &Path,
    copy: &Path,
) -> (String, String) {
    let victim = &names[random.below(names.len() as u64) as usize];
    let name = victim.strip_prefix(original).unwrap();
    let victim = copy.join(name);
    let mut bytes = fs::read(&victim).unwrap();
    let end = used(&bytes).min(bytes.len() as u64);
    let what = match random.below(3) {
        0 if end > 0 => {
            let at = random.below(end);
            bytes[at as usize] ^= 1 + random.below(255) as u8;
            format!("byte {at} changed")
        }
        1 if end > 0 => {
            bytes.truncate(random.below(end) as usize);
            format!("cut to {} bytes", bytes.len())
        }
        _ => {
            let at = random.below(end + 1) as usize;
            let stop = (at + 64).min(bytes.len());
            bytes[at.min(stop)..stop].fill(0xA5);
            format!("overwritten from {at}")
        }
    };
    fs::write(&victim, &bytes).unwrap();
    (name.display().to_string(), what)
}

#[test]
fn damage_anywhere_is_an_error_or_harmless_but_never_a_panic() {
    let original = filled();
    assert_eq!(read_all(original.path()).unwrap(), STREAMS * RECORDS);
    // Reopening has truncated the journal, so copies are small.
    let names = files(original.path());
    let mut random = Random(0x5eed);
    for round in 0..ROUNDS {
        let folder = tempfile::tempdir().unwrap();
        copy(original.path(), folder.path());
        let (file, what) = damage(&mut random, &names, original.path(), folder.path());
        let result = catch_unwind(AssertUnwindSafe(|| read_all(folder.path())));
        let result = result.unwrap_or_else(|_| panic!("round {round}: {file} {what}: panicked"));
        if let Err(error) = &result {
            assert_ne!(
                error.code(),
                ErrorCode::StorePoisoned,
                "round {round}: {file} {what}"
            );
        }
        eprintln!("{round:>3} {file} {what}: {result:?}");
    }
}

#[test]
fn a_changed_byte_in_the_journal_is_detected_without_loss() {
    let original = filled();
    let journal = original.path().join("data/0.jnl");
    let mut bytes = fs::read(&journal).unwrap();
    let middle = used(&bytes) / 2;
    bytes[middle as usize] ^= 0xff;
    fs::write(&journal, &bytes).unwrap();
    let error = read_all(original.path()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::StoreCorrupt);
    let text = error.to_string();
    assert!(
        text.contains("0.jnl") && text.contains("restore it from a backup"),
        "{text}"
    );
    bytes[middle as usize] ^= 0xff;
    fs::write(&journal, &bytes).unwrap();
    assert_eq!(
        read_all(original.path()).unwrap(),
        STREAMS * RECORDS,
        "no data was deleted"
    );
}

#[test]
fn a_torn_last_batch_loses_only_unacknowledged_data() {
    let original = filled();
    let journal = original.path().join("data/0.jnl");
    let mut bytes = fs::read(&journal).unwrap();
    let end = bytes.iter().rposition(|b| *b != 0).unwrap();
    bytes[end - 40..=end].fill(0);
    fs::write(&journal, &bytes).unwrap();
    let copied = tempfile::tempdir().unwrap();
    copy(original.path(), copied.path());
    let error = read_all(copied.path()).unwrap_err();
    assert_eq!(
        error.code(),
        ErrorCode::StoreCorrupt,
        "it was longer before"
    );
    fs::remove_file(original.path().join("EXTENT")).unwrap();
    assert_eq!(read_all(original.path()).unwrap(), STREAMS * RECORDS - 1);
}

#[test]
fn missing_files_are_damage() {
    let original = filled();
    for name in [
        "data/keyspaces/1/tables/0",
        "data/version",
        "data/0.jnl",
        "data/keyspaces/2/current",
        "data/keyspaces/0/current",
    ] {
        let folder = tempfile::tempdir().unwrap();
        copy(original.path(), folder.path());
        fs::remove_file(folder.path().join(name)).unwrap();
        let error = read_all(folder.path()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::StoreCorrupt, "{name}");
    }
    fs::remove_dir_all(original.path().join("data")).unwrap();
    assert_eq!(
        read_all(original.path()).unwrap_err().code(),
        ErrorCode::StoreCorrupt
    );
}

#[test]
fn leftovers_of_a_crash_are_ignored() {
    let original = filled();
    for name in [
        "data/keyspaces/1/tables/99",
        "data/keyspaces/2/v7",
        "data/FORMAT.new",
    ] {
        fs::write(original.path().join(name), "half a file").unwrap();
    }
    assert_eq!(read_all(original.path()).unwrap(), STREAMS * RECORDS);
}

/// A flushed table shows that the journal was longer, also after a crash, which leaves no `EXTENT`.
// B337
#[test]
fn a_journal_shorter_than_flushed_tables_show_is_refused() {
    let original = filled();
    fs::remove_file(original.path().join("EXTENT")).unwrap();
    let whole = fs::read(original.path().join("data/0.jnl")).unwrap();
    let end = used(&whole);
    for (length, is_refused) in [(0, true), (end / 4, true), (end * 3 / 4, false)] {
        let folder = tempfile::tempdir().unwrap();
        copy(original.path(), folder.path());
        let journal = folder.path().join("data/0.jnl");
        fs::write(&journal, &whole[..length as usize]).unwrap();
        for attempt in 0..2 {
            let result = read_all(folder.path());
            let code = result.as_ref().map_err(StoreError::code);
            let refused = matches!(code, Err(ErrorCode::StoreCorrupt));
            assert_eq!(refused, is_refused, "{length}, {attempt}: {result:?}");
        }
    }
}
