//! Checks and salvages of damaged stores.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use everstep_model::{Entry, ErrorCode, StreamNumber};
use everstep_store::{Store, StoreError, StreamRef};
use everstep_store_testkit::property::{Account, Workload};
use everstep_store_testkit::{Fixture, TestClock, block_on};

use super::{check, salvage};
use crate::EmbeddedStore;
use crate::damage_tests::{RECORDS, Random, STREAMS, copy, damage, files, filled, flush, read_all};

const ROUNDS: u64 = 120;

fn open(path: &Path) -> Fixture<EmbeddedStore> {
    let clock = Arc::new(TestClock::new());
    let store = EmbeddedStore::open(path, clock.clone()).unwrap();
    Fixture { store, clock }
}

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let read = |path: std::path::PathBuf| {
        let name = path.strip_prefix(folder).unwrap().display().to_string();
        (name, fs::read(path).unwrap())
    };
    files(folder).into_iter().map(read).collect()
}

fn streams(path: &Path) -> BTreeMap<u64, Vec<Entry>> {
    let f = open(path);
    let mut streams = BTreeMap::new();
    for number in 1..=STREAMS {
        let head = f.store.head(StreamRef::Number(StreamNumber(number)));
        if block_on(head).unwrap().is_some() {
            streams.insert(number, block_on(f.entries(StreamNumber(number))));
        }
    }
    streams
}

// B805
#[test]
fn salvaging_an_intact_store_copies_everything_and_changes_nothing() {
    for seed in 0..6 {
        let original = tempfile::tempdir().unwrap();
        let mut workload = Workload::new(seed);
        let f = open(original.path());
        for batch in 0..60 {
            block_on(async {
                let (commits, _) = workload.next().await;
                f.commit(commits).await;
            });
            if batch % 20 == 19 {
                flush(&f.store);
            }
        }
        drop(f);
        let before = contents(original.path());
        assert_eq!(check(original.path()).unwrap().damage, []);
        let folder = tempfile::tempdir().unwrap();
        let salvaged = folder.path().join("new");
        let report = salvage(original.path(), &salvaged).unwrap();
        assert_eq!((report.damage, report.lost), (Vec::new(), Vec::new()));
        assert!(contents(original.path()) == before, "seed {seed}");
        let expected = block_on(Account::of(&open(original.path())));
        let found = block_on(Account::of(&open(&salvaged)));
        assert_eq!(found.difference(&expected), None, "seed {seed}");
    }
}

// B805, B806
#[test]
fn after_random_damage_every_intact_stream_is_recovered_and_every_other_one_is_named() {
    let original = filled();
    let whole = streams(original.path());
    assert_eq!(whole.len() as u64, STREAMS);
    let names = files(original.path());
    let mut random = Random(0xfeed);
    for round in 0..ROUNDS {
        let folder = tempfile::tempdir().unwrap();
        let damaged = folder.path().join("damaged");
        copy(original.path(), &damaged);
        let (file, what) = damage(&mut random, &names, original.path(), &damaged);
        let what = format!("round {round}: {file} {what}");
        let before = contents(&damaged);
        let checked = check(&damaged);
        let salvaged = folder.path().join("new");
        let report = salvage(&damaged, &salvaged);
        assert!(contents(&damaged) == before, "{what}: it was changed");
        let (checked, report) = match (checked, report) {
            (Ok(checked), Ok(report)) => (checked, report),
            // The number of the format was changed.
            (Err(error), Err(_)) if error.code() == ErrorCode::StoreNewer => continue,
            other => panic!("{what}: {other:?}"),
        };
        let found = streams(&salvaged);
        let mut incomplete = Vec::new();
        for (number, entries) in &whole {
            let name = format!("workflows/r{}", number - 1);
            let is_lost = report
                .lost
                .iter()
                .any(|lost| lost.name == name || lost.name == format!("stream {number}"));
            let Some(kept) = found.get(number) else {
                // Nothing is left of a stream that was created in a part that was cut off.
                assert!(
                    is_lost || report.others_may_be_cut,
                    "{what}: {number} is not named"
                );
                incomplete.push(*number);
                continue;
            };
            assert!(!is_lost && entries.starts_with(kept), "{what}: {number}");
            if kept.len() < entries.len() {
                let is_named = report.cut.contains(&name) || report.others_may_be_cut;
                assert!(is_named, "{what}: {number} was cut and is not named");
                incomplete.push(*number);
            }
        }
        let is_small = what.contains("changed");
        let (first, last) = (incomplete.first(), incomplete.last());
        if let (true, Some(first), Some(last)) = (is_small, first, last) {
            // The streams of one block, or of one batch.
            assert_eq!(
                incomplete.len() as u64,
                last - first + 1,
                "{what}: {incomplete:?}"
            );
            let is_batch = file.ends_with(".jnl");
            assert!(!is_batch || incomplete.len() <= 1, "{what}: {incomplete:?}");
        }
        if !incomplete.is_empty() {
            assert!(!checked.damage.is_empty(), "{what}: not reported");
        }
        match read_all(&damaged) {
            Ok(records) => assert!(
                records == STREAMS * RECORDS || !checked.damage.is_empty(),
                "{what}"
            ),
            Err(StoreError::Corrupt { .. }) => {
                assert!(!checked.damage.is_empty(), "{what}: not reported");
            }
            Err(error) => panic!("{what}: {error}"),
        }
    }
}

// B805
#[test]
fn what_is_left_of_an_incomplete_run_is_exported() {
    let original = filled();
    let journal = original.path().join("data/0.jnl");
    let mut bytes = fs::read(&journal).unwrap();
    // The last batch but one of the last run.
    let text = bytes.windows(3).rposition(|window| window == b"\"x\"");
    let at = text.unwrap_or_else(|| bytes.iter().rposition(|byte| *byte != 0).unwrap() - 200);
    bytes[at - 120] ^= 1;
    fs::write(&journal, &bytes).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let salvaged = folder.path().join("new");
    let report = salvage(original.path(), &salvaged).unwrap();
    let [lost] = report.lost.as_slice() else {
        panic!("{report:?}");
    };
    assert_eq!(lost.name, format!("workflows/r{}", STREAMS - 1));
    assert!(lost.records > 0 && lost.records < RECORDS, "{lost:?}");
    let exported: Vec<_> = fs::read_dir(salvaged.join("damaged")).unwrap().collect();
    let [Ok(exported)] = exported.as_slice() else {
        panic!("{exported:?}");
    };
    let lines = fs::read_to_string(exported.path()).unwrap();
    assert_eq!(lines.lines().count() as u64, lost.records);
    // The number of a lost stream is not used again.
    let f = open(&salvaged);
    assert_eq!(block_on(f.create("a")), StreamNumber(STREAMS + 1));
}

#[test]
fn a_store_that_is_open_or_a_directory_in_use_is_refused() {
    let original = filled();
    let folder = tempfile::tempdir().unwrap();
    let refused = salvage(original.path(), original.path().join("data"));
    assert_eq!(refused.unwrap_err().code(), ErrorCode::StoreUnavailable);
    let refused = check(folder.path()).unwrap_err();
    assert!(refused.to_string().contains("is not a store"), "{refused}");
    let store = open(original.path());
    let refused = check(original.path()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::StoreLocked);
    let refused = salvage(original.path(), folder.path()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::StoreLocked);
    drop(store);
}
