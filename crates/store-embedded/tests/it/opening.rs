//! Opening directories, and the errors if that is impossible.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use everstep_model::ErrorCode;
use everstep_store::{Store, StoreError};
use everstep_store_embedded::{EmbeddedStore, Options};
use everstep_store_testkit::sample::{creation, event, inbox};
use everstep_store_testkit::{Fixture, TestClock, block_on};

fn open(path: &Path) -> Result<EmbeddedStore, StoreError> {
    EmbeddedStore::open(path, Arc::new(TestClock::new()))
}

fn fixture(path: &Path) -> Fixture<EmbeddedStore> {
    let clock = Arc::new(TestClock::new());
    let store = EmbeddedStore::open(path, clock.clone()).unwrap();
    Fixture { store, clock }
}

#[test]
fn a_second_opening_is_refused_while_the_store_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path()).unwrap();
    let error = open(folder.path()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::StoreLocked);
    assert!(
        error.to_string().contains("open in this process"),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains(&folder.path().display().to_string()),
        "{error}"
    );
    drop(first);
    open(folder.path()).unwrap();
}

#[test]
fn missing_folders_are_created() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a/b/c");
    drop(open(&deep).unwrap());
    open(&deep).unwrap();
}

#[test]
fn a_file_is_not_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = open(&file).unwrap_err();
    assert_eq!(error.code(), ErrorCode::StoreUnavailable);
    assert!(error.to_string().contains("is a file"), "{error}");
    let error = open(&file.join("below")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::StoreUnavailable);
}

#[test]
fn a_folder_with_other_files_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("other.txt"), "x").unwrap();
    let error = open(folder.path()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::StoreUnavailable);
    assert!(!folder.path().join("FORMAT").exists());
}

#[cfg(unix)]
#[test]
fn a_folder_without_write_permission_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    // The superuser can write everywhere, so the store opens.
    if fs::write(closed.join("probe"), "x").is_err() {
        let error = open(&closed).unwrap_err();
        assert_eq!(error.code(), ErrorCode::StoreUnavailable);
        assert!(error.to_string().contains("closed"), "{error}");
    }
}

#[test]
fn a_newer_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    fs::write(folder.path().join("FORMAT"), "everstep store, format 6\n").unwrap();
    let error = open(folder.path()).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Newer {
                found: 6,
                known: 5,
                ..
            }
        ),
        "{error:?}"
    );
    assert!(error.to_string().contains("upgrade"), "{error}");
}

#[test]
fn an_interrupted_creation_starts_again() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    let unfinished = "everstep store, format 2, being created\n";
    fs::write(folder.path().join("FORMAT"), unfinished).unwrap();
    fs::remove_file(folder.path().join("data/version")).unwrap();
    let f = fixture(folder.path());
    block_on(f.create("a"));
    let mark = fs::read_to_string(folder.path().join("FORMAT")).unwrap();
    assert_eq!(mark, "everstep store, format 5\n");
}

#[test]
fn a_missing_mark_is_damage_not_an_empty_store() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    fs::remove_file(folder.path().join("FORMAT")).unwrap();
    assert_eq!(
        open(folder.path()).unwrap_err().code(),
        ErrorCode::StoreCorrupt
    );
    fs::write(folder.path().join("FORMAT"), "something else").unwrap();
    assert_eq!(
        open(folder.path()).unwrap_err().code(),
        ErrorCode::StoreCorrupt
    );
}

#[test]
fn a_small_cache_of_heads_does_not_change_results() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(TestClock::new());
    let options = Options {
        heads_cached: 2,
        cache_bytes: 1 << 20,
        ..Options::default()
    };
    let store = EmbeddedStore::open_with(folder.path(), clock.clone(), options).unwrap();
    let f = Fixture { store, clock };
    block_on(async {
        let mut streams = Vec::new();
        for n in 0..20 {
            streams.push(f.create_with(creation(&format!("s{n}"))).await);
        }
        for round in 1..5 {
            for stream in &streams {
                let first = f.accept(inbox(*stream, vec![event("x")])).await;
                assert_eq!(first.0, round);
            }
        }
        for stream in streams {
            assert_eq!(f.numbers(stream).await, [0, 1, 2, 3, 4]);
        }
    });
}

#[test]
fn the_description_names_exclusiveness_and_durability() {
    let folder = tempfile::tempdir().unwrap();
    let description = open(folder.path()).unwrap().describe();
    assert!(description.exclusive);
    assert!(description.durability.contains("fdatasync"));
}

/// Whatever the file mode creation mask is.
// B336
#[cfg(unix)]
#[test]
fn a_new_store_is_closed_to_other_users() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("above/store");
    block_on(fixture(&path).create("a"));
    for (name, expected) in [
        ("", 0o700),
        ("data", 0o700),
        ("LOCK", 0o600),
        ("FORMAT", 0o600),
        ("EXTENT", 0o600),
    ] {
        let mode = fs::metadata(path.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, expected, "{name}");
    }
}

/// Also if only the files of the key-value store are removed. Later errors do not nest the first.
// B338
#[cfg(unix)]
#[test]
fn a_removed_directory_is_noticed_by_the_next_write() {
    for removed in ["", "data"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let f = fixture(&path);
        block_on(async {
            let stream = f.create("a").await;
            fs::remove_dir_all(path.join(removed)).unwrap();
            let write = async || {
                let commit = inbox(stream, vec![event("x")]);
                f.store.commit(&[commit.into()]).await.unwrap_err()
            };
            let first = write().await;
            assert_eq!(first.code(), ErrorCode::StorePoisoned, "{first}");
            assert!(first.to_string().contains("was removed"), "{first}");
            assert_eq!(write().await, first, "the state is the same for all writes");
        });
    }
}
