//! Faults of the system: a child process runs with a shim that counts system calls and makes them
//! fail (`disk_shim.c`), or is killed.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use everstep_model::{Body, ErrorCode, Payload, StreamNumber};
use everstep_store::Store;
use everstep_store_embedded::EmbeddedStore;
use everstep_store_testkit::sample::{event, inbox};
use everstep_store_testkit::{Fixture, TestClock, block_on};
use tempfile::TempDir;

const ERROR_IO: u64 = 5;
const ERROR_NO_SPACE: u64 = 28;

fn fixture(path: &Path) -> Fixture<EmbeddedStore> {
    let clock = Arc::new(TestClock::new());
    let store = EmbeddedStore::open(path, clock.clone()).unwrap();
    Fixture { store, clock }
}

/// The shim, and the numbers that it shares with the child.
struct Shim {
    folder: TempDir,
}

impl Shim {
    fn build() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/disk_shim.c");
        let library = folder.path().join("shim.so");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .status();
        assert!(
            built.unwrap().success(),
            "the C compiler that links Rust programs builds the shim"
        );
        fs::write(folder.path().join("numbers"), [0; 40]).unwrap();
        Self { folder }
    }

    fn numbers(&self) -> PathBuf {
        self.folder.path().join("numbers")
    }

    /// Runs one task in a child and returns its output.
    fn run(&self, task: &str, store: &Path) -> Vec<String> {
        let mut child = child(task, store);
        child.env("EVERSTEP_SHIM", self.numbers());
        child.env("LD_PRELOAD", self.folder.path().join("shim.so"));
        let output = child.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let problems = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}{problems}");
        output_of(text.lines().map(str::to_owned))
    }
}

/// Returns a command that runs one task in this test program.
fn child(task: &str, store: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "under_faults::a_child_runs_its_task",
            "--nocapture",
        ])
        .env("EVERSTEP_TASK", task)
        .env("EVERSTEP_STORE", store)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Returns the output of a task, whose lines contain a prefix that the test harness does not print.
fn output_of(lines: impl Iterator<Item = String>) -> Vec<String> {
    let output = lines.filter_map(|line| Some(line.split_once("> ")?.1.to_owned()));
    output.collect()
}

/// Reads one of the shim's numbers in the child.
fn shared(index: usize) -> u64 {
    let bytes = fs::read(std::env::var("EVERSTEP_SHIM").unwrap()).unwrap();
    u64::from_ne_bytes(bytes[index * 8..index * 8 + 8].try_into().unwrap())
}

fn share(index: usize, value: u64) {
    use std::os::unix::fs::FileExt;
    let path = std::env::var("EVERSTEP_SHIM").unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.write_all_at(&value.to_ne_bytes(), index as u64 * 8)
        .unwrap();
}

/// Runs the task of a child process. Does nothing in the parent.
#[test]
fn a_child_runs_its_task() {
    let Ok(task) = std::env::var("EVERSTEP_TASK") else {
        return;
    };
    let store = PathBuf::from(std::env::var("EVERSTEP_STORE").unwrap());
    let f = fixture(&store);
    block_on(async {
        match task.as_str() {
            "count" => count(&f).await,
            "fail-sync" => fail(&f, 1, ERROR_IO).await,
            "fail-write" => fail(&f, 2, ERROR_IO).await,
            "no-space" => fail(&f, 2, ERROR_NO_SPACE).await,
            "fail-flush" => fail_flush(&f).await,
            "forever" => run_forever(&f).await,
            other => panic!("{other}"),
        }
    });
}

async fn count(f: &Fixture<EmbeddedStore>) {
    let stream = f.create("a").await;
    for _ in 0..50 {
        let before = shared(0);
        f.accept(inbox(stream, vec![event("x")])).await;
        println!("> {before} {}", shared(0));
    }
}

async fn fail(f: &Fixture<EmbeddedStore>, index: usize, error: u64) {
    let stream = f.create("a").await;
    f.accept(inbox(stream, vec![event("x")])).await;
    let head = f.head(stream).await;
    share(index, error);
    for _ in 0..3 {
        let failed = f
            .store
            .commit(&[inbox(stream, vec![event("y")]).into()])
            .await;
        let failed = failed.unwrap_err();
        println!("> {}", failed.code());
        let message = failed.to_string();
        assert_eq!(message.matches("reopen").count(), 1, "{message}");
        assert_eq!(f.head(stream).await, head, "a failed commit is not visible");
        assert_eq!(f.numbers(stream).await, [0, 1]);
    }
    share(index, 0);
    let failed = f
        .store
        .commit(&[inbox(stream, vec![event("y")]).into()])
        .await;
    println!("> {}", failed.unwrap_err().code());
}

/// Writes until the failure of the background writer ends all writing.
async fn fail_flush(f: &Fixture<EmbeddedStore>) {
    let stream = f.create("a").await;
    let mut large = event("x");
    if let Body::Event(event) = &mut large.body {
        event.payload = Payload::from_value(&"x".repeat(1 << 18)).unwrap();
    }
    share(4, ERROR_NO_SPACE);
    for _ in 0..4_000 {
        if let Err(error) = f
            .store
            .commit(&[inbox(stream, vec![large.clone()]).into()])
            .await
        {
            println!("> {}", error.code());
            return;
        }
    }
}

async fn run_forever(f: &Fixture<EmbeddedStore>) {
    let stream = match f.head_of("a").await {
        Some(head) => head.number,
        None => f.create("a").await,
    };
    loop {
        let batch = (0..3)
            .map(|_| inbox(stream, vec![event("x"), event("y")]))
            .collect();
        f.commit(batch).await;
        println!("> {}", f.head(stream).await.next);
    }
}

#[test]
fn a_journal_sync_completes_between_each_commit_and_its_acknowledgement() {
    let folder = tempfile::tempdir().unwrap();
    let lines = Shim::build().run("count", folder.path());
    assert_eq!(lines.len(), 50);
    for line in lines {
        let (before, after) = line.split_once(' ').unwrap();
        let (before, after): (u64, u64) = (before.parse().unwrap(), after.parse().unwrap());
        assert!(after > before, "{line}");
    }
}

fn failing(task: &str) -> (Vec<String>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let codes = Shim::build().run(task, folder.path());
    let f = fixture(folder.path());
    let stream = StreamNumber(1);
    let records = block_on(async {
        let records = f.numbers(stream).await.len() as u64;
        f.accept(inbox(stream, vec![event("z")])).await;
        assert_eq!(f.numbers(stream).await.len() as u64, records + 1);
        records
    });
    (codes, records)
}

#[test]
fn a_failed_sync_ends_writing_until_the_store_is_reopened() {
    let poisoned = ErrorCode::StorePoisoned.to_string();
    let (codes, records) = failing("fail-sync");
    assert_eq!(codes, vec![poisoned; 4]);
    assert!(
        (2..=3).contains(&records),
        "all acknowledged records, and at most the first failed one"
    );
}

#[test]
fn a_failed_write_ends_writing_until_the_store_is_reopened() {
    let poisoned = ErrorCode::StorePoisoned.to_string();
    let (codes, records) = failing("fail-write");
    assert_eq!(codes, vec![poisoned; 4]);
    assert!((2..=3).contains(&records), "{records}");
}

#[test]
fn a_full_disk_is_reported_once_and_ends_writing() {
    let (codes, records) = failing("no-space");
    let poisoned = ErrorCode::StorePoisoned.to_string();
    assert_eq!(codes[0], ErrorCode::StoreFull.to_string());
    assert_eq!(codes[1..], vec![poisoned; 3]);
    assert!((2..=3).contains(&records), "{records}");
}

#[test]
fn a_failed_background_write_ends_writing_and_does_not_block() {
    let folder = tempfile::tempdir().unwrap();
    let codes = Shim::build().run("fail-flush", folder.path());
    assert_eq!(codes, [ErrorCode::StorePoisoned.to_string()]);
    let f = fixture(folder.path());
    block_on(f.accept(inbox(StreamNumber(1), vec![event("z")])));
}

#[test]
fn a_second_process_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (mut first, mut lines) = start(folder.path());
    lines.next().unwrap();
    let clock = Arc::new(TestClock::new());
    let error = EmbeddedStore::open(folder.path(), clock).unwrap_err();
    assert_eq!(error.code(), ErrorCode::StoreLocked);
    first.kill().unwrap();
    first.wait().unwrap();
    fixture(folder.path());
}

fn start(store: &Path) -> (Child, impl Iterator<Item = u64>) {
    let mut child = child("forever", store).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let lines = lines.map_while(Result::ok);
    let numbers = lines.filter_map(|line| line.split_once("> ")?.1.parse().ok());
    (child, numbers)
}

#[test]
fn acknowledged_data_survives_a_killed_process() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..10 {
        let (mut process, mut lines) = start(folder.path());
        let mut acknowledged = lines.by_ref().nth(round * 3).unwrap();
        process.kill().unwrap();
        // Includes acknowledgements up to the end of the process.
        acknowledged = lines.last().unwrap_or(acknowledged);
        let mut problems = String::new();
        process
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut problems)
            .unwrap();
        process.wait().unwrap();
        let f = fixture(folder.path());
        block_on(async {
            let numbers = f.numbers(StreamNumber(1)).await;
            let found = numbers.len() as u64;
            assert!(
                found >= acknowledged,
                "round {round}: {found} of {acknowledged} {problems}"
            );
            assert_eq!(
                (found - 1) % 6,
                0,
                "an unacknowledged batch exists completely or not at all"
            );
            assert_eq!(numbers, (0..found).collect::<Vec<_>>());
            assert_eq!(f.head(StreamNumber(1)).await.frame.inbox_count, found);
        });
    }
}
