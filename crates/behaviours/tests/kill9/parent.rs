//! The process that kills its child, and then compares every journal and effect with the
//! acknowledgements.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use everstep::journal::{Body, Entry};
use everstep::{Engine, RunStatus, secs};

use crate::child::{PROCESSES, STEPS, expected};

const RUNS: u32 = 400;
/// The time after which the test counts as stuck.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The output of the killed processes.
#[derive(Default)]
struct Acknowledged {
    started: HashSet<String>,
    sent: HashSet<(String, String)>,
    done: HashMap<String, u64>,
}

impl Acknowledged {
    fn hear(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["started", id] => drop(self.started.insert((*id).to_owned())),
            ["sent", id, dedup] => drop(self.sent.insert(((*id).to_owned(), (*dedup).to_owned()))),
            ["done", id, total] => {
                let total = total.parse().unwrap();
                let before = self.done.insert((*id).to_owned(), total);
                assert!(
                    before.is_none_or(|before| before == total),
                    "{id} ended in two ways"
                );
            }
            _ => {}
        }
    }
}

/// A random generator for the times of the kills. It has a new seed each time, which is printed.
struct Moments(u64);

impl Moments {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

pub(crate) fn run() {
    let dir = tempfile::tempdir().unwrap();
    let seed = u64::from(std::process::id()) << 20 | 1;
    println!("kill -9 with seed {seed}");
    let mut moments = Moments(seed);
    let mut acknowledged = Acknowledged::default();
    for process in 0..PROCESSES {
        let grace = Duration::from_millis(5 + moments.next(150));
        let ended = run_process(dir.path(), &mut acknowledged, process, Some(grace));
        assert!(
            !ended,
            "orders of later processes ended in process {process}"
        );
    }
    let done = acknowledged.done.len();
    println!("{PROCESSES} kills, {done} orders were acknowledged as done before the last");
    let ended = run_process(dir.path(), &mut acknowledged, PROCESSES, None);
    assert!(ended, "the last process finishes all orders");
    check(dir.path(), &acknowledged);
}

/// Runs one process until it exits or is killed some time after its engine has opened.
fn run_process(
    dir: &Path,
    acknowledged: &mut Acknowledged,
    process: u32,
    grace: Option<Duration>,
) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .env("EVERSTEP_KILL9_DIR", dir)
        .env("EVERSTEP_KILL9_RUNS", RUNS.to_string())
        .env("EVERSTEP_KILL9_PROCESS", process.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let (send, lines) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    let mut die_at = None;
    let mut ended = false;
    loop {
        let left = die_at.map_or(TIMEOUT, |at: Instant| {
            at.saturating_duration_since(Instant::now())
        });
        match lines.recv_timeout(left) {
            Ok(line) => {
                if line == "open" {
                    die_at = grace.map(|grace| Instant::now() + grace);
                }
                ended |= line == "end";
                acknowledged.hear(&line);
            }
            Err(RecvTimeoutError::Timeout) => {
                child.kill().unwrap();
                die_at = None;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    reader.join().unwrap();
    let status = child.wait().unwrap();
    assert!(
        status.success() == ended,
        "the child failed by itself: {status}"
    );
    ended
}

fn check(dir: &Path, acknowledged: &Acknowledged) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let effects = effects(dir);
    runtime.block_on(async {
        let engine = Engine::open(dir.join("data")).start().await.unwrap();
        for number in 0..RUNS {
            let id = format!("order-{number}");
            let run = engine.run(&id).await.unwrap();
            assert_eq!(run.status().await.unwrap(), RunStatus::Completed, "{id}");
            let journal = run.journal().await.unwrap();
            check_journal(&id, number, &journal, acknowledged, &effects);
        }
        let all = engine.list().limit(1_000).await.unwrap();
        assert_eq!(all.runs.len(), RUNS as usize);
        tokio::time::timeout(secs(10), engine.shutdown())
            .await
            .unwrap();
    });
}

/// The attempts of each step whose effect was seen outside.
fn effects(dir: &Path) -> HashMap<(String, String), Vec<u32>> {
    let mut seen: HashMap<_, Vec<u32>> = HashMap::new();
    for line in std::fs::read_to_string(dir.join("effects"))
        .unwrap()
        .lines()
    {
        let words: Vec<&str> = line.split(' ').collect();
        let [id, step, attempt] = words.as_slice() else {
            panic!("a torn line: {line:?}");
        };
        let attempts = seen
            .entry(((*id).to_owned(), (*step).to_owned()))
            .or_default();
        attempts.push(attempt.parse().unwrap());
    }
    seen
}

fn check_journal(
    id: &str,
    number: u32,
    journal: &[Entry],
    acknowledged: &Acknowledged,
    effects: &HashMap<(String, String), Vec<u32>>,
) {
    for (index, entry) in journal.iter().enumerate() {
        assert_eq!(entry.number.0, index as u64, "{id} has a gap");
    }
    assert!(
        acknowledged.started.contains(id),
        "the last child acknowledged all orders"
    );
    let events = journal
        .iter()
        .filter(|entry| matches!(entry.record.body, Body::Event(_)));
    assert_eq!(events.count(), 1, "{id}: the event counts once");
    let Some(Body::Completed(end)) = journal.last().map(|entry| &entry.record.body) else {
        panic!("{id} does not end with `completed`");
    };
    let total: u64 = end.result.decode().unwrap();
    assert_eq!(total, expected(number), "{id}");
    assert_eq!(acknowledged.done.get(id), Some(&total), "{id}");
    for (run, dedup) in &acknowledged.sent {
        if run == id {
            assert!(
                has_event(journal, dedup),
                "{id}: an acknowledged event is gone"
            );
        }
    }
    for step in STEPS {
        let completed: Vec<u32> = completions(journal, step);
        assert_eq!(completed.len(), 1, "{id}: {step} has one result");
        let attempts = &effects[&(id.to_owned(), step.to_owned())];
        let last = attempts.iter().max();
        assert_eq!(
            last,
            completed.first(),
            "{id}: {step} ran again after its result was recorded"
        );
    }
}

fn has_event(journal: &[Entry], dedup: &str) -> bool {
    let is_it = |body: &Body| matches!(body, Body::Event(event) if event.dedup_id.as_deref() == Some(dedup));
    journal.iter().any(|entry| is_it(&entry.record.body))
}

fn completions(journal: &[Entry], step: &str) -> Vec<u32> {
    let completed = journal.iter().filter_map(|entry| match &entry.record.body {
        Body::StepCompleted(done) if done.location.name.as_str() == step => Some(done.attempt),
        _ => None,
    });
    completed.collect()
}
