//! A torn end is removed, and damage before it is refused without loss.

use fjall::{Database, KeyspaceCreateOptions, PersistMode};
use tempfile::TempDir;

use super::*;

const ACTIVE: Role = Role::Active { whole_to: 0 };

/// Lets the key-value store write a journal. Returns the end of each batch.
fn journal(batches: usize) -> (TempDir, std::path::PathBuf, Vec<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let db = Database::builder(folder.path()).open().unwrap();
    let table = db.keyspace("t", KeyspaceCreateOptions::default).unwrap();
    for n in 0..batches {
        let mut batch = db.batch().durability(Some(PersistMode::SyncAll));
        for item in 0..3 {
            batch.insert(&table, format!("{n}-{item}"), "value".repeat(n * 40 + 1));
        }
        batch.remove(&table, "gone");
        batch.commit().unwrap();
    }
    drop(table);
    drop(db);
    let path = folder.path().join("0.jnl");
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(1 << 16);
    let ends = (4..bytes.len()).filter(|at| bytes[at - 4..*at] == TRAILER);
    let ends = ends.collect();
    (folder, path, ends)
}

#[test]
fn a_journal_of_the_key_value_store_is_whole() {
    let (_folder, path, ends) = journal(5);
    assert_eq!(ends.len(), 5);
    let found = scan(&path).unwrap();
    assert_eq!(found.whole.length, ends[4] as u64);
    assert!(found.unread.is_none(), "unused space is zero");
    assert!(check(&path, Role::Sealed).is_ok());
}

#[test]
fn a_changed_byte_before_the_last_batch_is_damage() {
    let (_folder, path, ends) = journal(3);
    let whole = fs::read(&path).unwrap();
    for at in 0..ends[1] {
        let mut bytes = whole[..ends[2]].to_vec();
        bytes[at] ^= 0x55;
        fs::write(&path, &bytes).unwrap();
        let result = check(&path, ACTIVE);
        assert!(
            matches!(result, Err(StoreError::Corrupt { .. })),
            "byte {at}"
        );
        assert_eq!(
            fs::read(&path).unwrap(),
            bytes,
            "the damaged file is not changed"
        );
    }
}

#[test]
fn a_torn_last_batch_is_removed() {
    let (_folder, path, ends) = journal(3);
    let whole = fs::read(&path).unwrap();
    for length in ends[1] + 1..ends[2] {
        fs::write(&path, &whole[..length]).unwrap();
        check(&path, ACTIVE).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().len(),
            ends[1] as u64,
            "{length}"
        );
    }
}

#[test]
fn a_hole_in_the_last_batch_is_a_torn_end() {
    let (_folder, path, ends) = journal(3);
    let mut whole = fs::read(&path).unwrap();
    whole.truncate(ends[2] + 1_000);
    for at in (ends[1]..ends[2] - 20).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at..at + 20].fill(0);
        fs::write(&path, &bytes).unwrap();
        check(&path, ACTIVE).unwrap();
        let left = fs::read(&path).unwrap();
        assert_eq!(left[..ends[1]], whole[..ends[1]], "{at}");
        let rest = left[ends[1]..].iter();
        assert!(
            rest.clone().all(|b| *b == 0) || left == whole,
            "{at}: {}",
            rest.len()
        );
    }
}

#[test]
fn a_torn_end_of_a_sealed_journal_is_damage() {
    let (_folder, path, ends) = journal(3);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..ends[2] - 1]).unwrap();
    let result = check(&path, Role::Sealed);
    assert!(matches!(result, Err(StoreError::Corrupt { .. })));
}

#[test]
fn a_journal_that_was_longer_is_damaged() {
    let (_folder, path, ends) = journal(3);
    let whole = fs::read(&path).unwrap();
    let role = Role::Active {
        whole_to: ends[2] as u64,
    };
    check(&path, role).unwrap();
    for length in [0, ends[0], ends[1], ends[2] - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        let result = check(&path, role);
        assert!(
            matches!(result, Err(StoreError::Corrupt { .. })),
            "{length}"
        );
    }
}

/// The bytes that this thread has read so far.
#[cfg(target_os = "linux")]
fn bytes_read() -> u64 {
    let counters = fs::read_to_string("/proc/thread-self/io").unwrap();
    let count = counters
        .lines()
        .find_map(|line| line.strip_prefix("rchar: "));
    count.unwrap().parse().unwrap()
}

/// The cost of opening follows what was written, not what was allocated in advance.
// B335
#[cfg(target_os = "linux")]
#[test]
fn unused_space_is_not_read() {
    let (_folder, path, ends) = journal(3);
    let whole = fs::read(&path).unwrap();
    let allocated = 64 << 20;
    for length in [ends[2], ends[2] - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(allocated).unwrap();
        let before = bytes_read();
        check(&path, ACTIVE).unwrap();
        let read = bytes_read() - before;
        assert!(read < 1 << 20, "{read} bytes were read");
    }
}

#[test]
fn a_batch_behind_unused_space_is_damage() {
    use std::io::Write;
    let (_folder, path, ends) = journal(3);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..ends[1]]).unwrap();
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(3 << 20)).unwrap();
    file.write_all(&whole[ends[1]..ends[2]]).unwrap();
    file.set_len(64 << 20).unwrap();
    let result = check(&path, ACTIVE);
    assert!(matches!(result, Err(StoreError::Corrupt { .. })));
}
