//! Measures the store alone: 1,024 streams and consecutive batches of steps with one record each.
//!
//! ```sh
//! cargo run --release -p everstep-store-embedded --example rows -- steps 60 512
//! ```
//!
//! `steps` appends to the same streams; `runs` creates runs, commits ten steps and closes them. The
//! other arguments are seconds, commits per batch and the directory (default: the system's
//! temporary one).

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark fails by panicking"
)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use everstep_model::record::{Created, StepCompleted};
use everstep_model::{
    Body, ExecutorSeq, Generation, Location, Name, NodeId, Nonce, Payload, Record, RunId,
    RunStatus, Seed, StreamName, StreamNumber, Timestamp,
};
use everstep_store::{
    AppendCommit, Claim, Clock, Commit, CreateCommit, Executor, ExecutorLease, Fence, Outcome,
    RunRow, Store, SystemClock,
};
use everstep_store_embedded::EmbeddedStore;
use everstep_store_testkit::block_on;

const STREAMS: usize = 1_024;
const STEPS_PER_RUN: u64 = 10;

struct Run {
    stream: StreamNumber,
    fence: Fence,
    seq: u64,
    next: u64,
}

struct Bench {
    store: EmbeddedStore,
    runs: Vec<Run>,
    created: u64,
    names: Vec<Name>,
    noise: u64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default: &str| {
        let given = arguments.get(index).map(String::as_str);
        given.unwrap_or(default).to_owned()
    };
    let endless = argument(0, "steps") == "steps";
    let seconds: u64 = argument(1, "20").parse().unwrap();
    let group: usize = argument(2, "512").parse().unwrap();
    let temporary = std::env::temp_dir().display().to_string();
    let path = PathBuf::from(argument(3, &temporary)).join("everstep-rows");
    let _ = std::fs::remove_dir_all(&path);
    let store = EmbeddedStore::open(&path, Arc::new(SystemClock)).unwrap();
    let mut bench = Bench {
        store,
        runs: Vec::new(),
        created: 0,
        names: (0..STEPS_PER_RUN)
            .map(|n| Name::new(format!("step-{n}")).unwrap())
            .collect(),
        noise: 88_172_645_463_325_252,
    };
    bench.drive(endless, Duration::from_secs(seconds), group);
    let closing = Instant::now();
    drop(bench);
    println!("closed in {:.0} ms", closing.elapsed().as_secs_f64() * 1e3);
    let opening = Instant::now();
    let reopened = EmbeddedStore::open(&path, Arc::new(SystemClock)).unwrap();
    println!(
        "reopened in {:.0} ms",
        opening.elapsed().as_secs_f64() * 1e3
    );
    drop(reopened);
    let _ = std::fs::remove_dir_all(&path);
}

impl Bench {
    fn drive(&mut self, endless: bool, length: Duration, group: usize) {
        self.start_runs(STREAMS);
        let begin = Instant::now();
        let mut shown = (begin, usage(), 0u64);
        let (mut steps, mut index) = (0u64, 0usize);
        let (first, mut slowest) = (usage(), Duration::ZERO);
        while begin.elapsed() < length {
            let batch: Vec<Commit> = (0..group)
                .map(|n| self.step((index + n) % STREAMS).into())
                .collect();
            let committing = Instant::now();
            let outcomes = block_on(self.store.commit(&batch)).unwrap();
            slowest = slowest.max(committing.elapsed());
            assert!(
                outcomes
                    .iter()
                    .all(|o| matches!(o, Outcome::Committed { .. }))
            );
            steps += group as u64;
            index = (index + group) % STREAMS;
            if !endless && index == 0 && self.runs[0].seq >= STEPS_PER_RUN {
                self.end_runs();
                self.start_runs(STREAMS);
            }
            if shown.0.elapsed() > Duration::from_secs(5) {
                let now = usage();
                report(
                    "last 5 s",
                    steps - shown.2,
                    shown.0.elapsed(),
                    now.since(shown.1),
                );
                shown = (Instant::now(), now, steps);
            }
        }
        report("total", steps, begin.elapsed(), usage().since(first));
        println!("slowest batch {:.0} ms", slowest.as_secs_f64() * 1e3);
    }

    fn start_runs(&mut self, count: usize) {
        self.runs.clear();
        let batch: Vec<Commit> = (0..count).map(|_| self.creation()).collect();
        for outcome in block_on(self.store.commit(&batch)).unwrap() {
            let Outcome::Committed { stream, taken, .. } = outcome else {
                panic!("{outcome:?}");
            };
            let fence = taken.unwrap();
            self.runs.push(Run {
                stream,
                fence,
                seq: 0,
                next: 1,
            });
        }
    }

    fn end_runs(&mut self) {
        let mut batch = Vec::new();
        for index in 0..self.runs.len() {
            let mut commit = self.step(index);
            commit.close = true;
            commit.lease = ExecutorLease::Release;
            commit.status = Some(RunStatus::Completed);
            batch.push(commit.into());
        }
        block_on(self.store.commit(&batch)).unwrap();
    }

    fn creation(&mut self) -> Commit {
        self.created += 1;
        let run = row(self.created, RunStatus::Running);
        let name = StreamName::of_run(&run.id, Generation::FIRST);
        let mut commit = CreateCommit::new(name, now());
        commit.records.push(record(Created {
            workflow: run.workflow.clone(),
            version: 1,
            input: Payload::null(),
            seed: Seed(1),
            tags: Vec::new(),
            deadline: None,
            execution_retries: None,
            idempotency_key: None,
            parent: None,
            by: None,
            forked_from: None,
            mark: None,
            parent_identity: None,
            trace: None,
            no_return: false,
        }));
        commit.run = Some(run.into());
        let nonce = Nonce(self.random());
        commit.claim = Some(Claim {
            node: NodeId(1),
            nonce,
        });
        commit.into()
    }

    fn step(&mut self, index: usize) -> AppendCommit {
        let result = format!("\"{:016x}{:016x}\"", self.random(), self.random());
        let run = &mut self.runs[index];
        run.seq += 1;
        let executor = Executor {
            fence: run.fence,
            seq: ExecutorSeq(run.seq),
            seen: everstep_model::RecordNumber(run.next),
            progress: true,
        };
        run.next += 1;
        let mut commit = AppendCommit::new(run.stream, executor, now());
        let number = run.seq / STEPS_PER_RUN;
        commit.records.push(record(StepCompleted {
            location: Location::root(
                self.names[(run.seq % STEPS_PER_RUN) as usize].clone(),
                number as u32,
            ),
            attempt: 1,
            started_at: commit.now,
            result: Payload::from_json(result).unwrap(),
            undo: None,
            sensitive: false,
            early: None,
            no_return: false,
        }));
        commit
    }

    fn random(&mut self) -> u64 {
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 7;
        self.noise ^= self.noise << 17;
        self.noise
    }
}

fn now() -> Timestamp {
    SystemClock.now()
}

fn record(body: impl Into<Body>) -> Record {
    Record {
        time: now(),
        body: body.into(),
    }
}

fn row(number: u64, status: RunStatus) -> RunRow {
    RunRow {
        id: RunId::new(format!("run-{number}")).unwrap(),
        generation: Generation::FIRST,
        workflow: Name::new("bench").unwrap(),
        version: 1,
        status,
        tags: Vec::new(),
        created_at: now(),
        updated_at: now(),
    }
}

/// The CPU time of all threads, and the bytes written to disk.
#[derive(Clone, Copy)]
struct Usage {
    cpu: f64,
    written: u64,
}

impl Usage {
    fn since(self, earlier: Self) -> Self {
        Self {
            cpu: self.cpu - earlier.cpu,
            written: self.written - earlier.written,
        }
    }
}

fn usage() -> Usage {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks = |index: usize| {
        fields
            .get(index)
            .and_then(|f| f.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let written = io
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes: "));
    Usage {
        cpu: (ticks(11) + ticks(12)) / 100.0,
        written: written.and_then(|n| n.parse().ok()).unwrap_or(0),
    }
}

fn report(what: &str, steps: u64, elapsed: Duration, used: Usage) {
    let count = steps as f64;
    println!(
        "{what:<9} {:>8.0} commits/s  {:>5.2} µs of CPU each  {:>4.0} bytes to disk each",
        count / elapsed.as_secs_f64(),
        used.cpu * 1e6 / count,
        used.written as f64 / count,
    );
}
