//! Finds new runs and follows each of them to its end.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use everstep::errors::ReadError;
use everstep::inspect::RunRow;
use everstep::journal::{Entry, RecordNumber};
use everstep::{Engine, ErrorCode, RunHandle, RunId, RunStatus};
use everstep_model::{Generation, Name, StreamName};
use everstep_store::{ListQuery, Store, StoreError, StreamRef};
use tokio::sync::mpsc;

/// How often to look for new runs.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// How many of the newest runs to look at.
const PAGE: usize = 100;
/// The maximum number of runs to follow at the same time.
const FOLLOWED_MAX: usize = 200;

/// A durable record of a run.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) run: RunId,
    pub(super) entry: Entry,
}

type Lines = mpsc::Sender<Line>;

/// The numbers of unfinished runs of the last process.
pub(super) struct UnfinishedRuns {
    /// Runs whose workflow this server executes.
    pub(super) continuing: usize,
    /// Runs that need another worker, by workflow.
    pub(super) unoffered: BTreeMap<Name, usize>,
}

pub(super) struct Watch {
    /// Runs that existed at the start or are followed.
    known: HashSet<(RunId, Generation)>,
    /// Unfinished runs of the last process, and their first new record.
    unfinished: Vec<(RunId, RecordNumber)>,
    /// The number of unfinished runs of each workflow that this server does not execute.
    unoffered: BTreeMap<Name, usize>,
    followed: Arc<AtomicUsize>,
}

impl Watch {
    /// Finds the unfinished runs of the last process. Call it before the engine starts.
    pub(super) async fn on_store(store: &dyn Store) -> Result<Self, StoreError> {
        let mut watch = Self {
            known: HashSet::new(),
            unfinished: Vec::new(),
            unoffered: BTreeMap::new(),
            followed: Arc::default(),
        };
        // Ended runs are not followed.
        let newest = ListQuery {
            limit: PAGE,
            ..ListQuery::default()
        };
        let newest = store.list(newest).await?.rows;
        watch.known.extend(newest.iter().map(key));
        let open = RunStatus::ALL.iter().filter(|status| !status.is_terminal());
        let mut query = ListQuery {
            statuses: open.copied().collect(),
            limit: PAGE,
            ..ListQuery::default()
        };
        loop {
            let page = store.list(query.clone()).await?;
            for row in page.rows {
                let name = StreamName::of_run(&row.id, row.generation);
                let head = store.head(StreamRef::Name(name)).await?;
                let next = head.map_or(RecordNumber(0), |head| head.next);
                watch.known.insert(key(&row));
                if !everstep_demo::NAMES.contains(&row.workflow.as_str()) {
                    *watch.unoffered.entry(row.workflow).or_default() += 1;
                }
                watch.unfinished.push((row.id, next));
            }
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(watch),
            }
        }
    }

    /// The unfinished runs of the last process.
    pub(super) fn unfinished(&self) -> UnfinishedRuns {
        let unoffered: usize = self.unoffered.values().sum();
        UnfinishedRuns {
            continuing: self.unfinished.len().saturating_sub(unoffered),
            unoffered: self.unoffered.clone(),
        }
    }

    /// Follows all unfinished and all new runs.
    pub(super) async fn follow_all(&mut self, engine: &Engine, lines: Lines) -> anyhow::Result<()> {
        for (run, from) in std::mem::take(&mut self.unfinished) {
            self.follow(engine.run(run.as_str()).await?, from, &lines);
        }
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            let mut runs = engine.list().limit(PAGE).await?.runs;
            runs.reverse();
            for row in runs {
                let key = key(&row);
                if self.known.contains(&key) || self.is_full() {
                    continue;
                }
                // The run may have been deleted in the meantime.
                if let Ok(run) = engine.run(row.id.as_str()).await {
                    self.known.insert(key);
                    self.follow(run, RecordNumber(0), &lines);
                }
            }
        }
    }

    fn is_full(&self) -> bool {
        self.followed.load(Ordering::Relaxed) >= FOLLOWED_MAX
    }

    fn follow(&self, run: RunHandle, from: RecordNumber, lines: &Lines) {
        let (lines, followed) = (lines.clone(), self.followed.clone());
        followed.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            match follow(&run, from, &lines).await {
                Ok(()) => {}
                // All runs end with this error at shutdown.
                Err(error) if error.code() == ErrorCode::ShuttingDown => {}
                Err(error) => {
                    tracing::warn!(run = %run.id(), %error, "cannot follow the run");
                }
            }
            followed.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

fn key(row: &RunRow) -> (RunId, Generation) {
    (row.id.clone(), row.generation)
}

async fn follow(run: &RunHandle, from: RecordNumber, lines: &Lines) -> Result<(), ReadError> {
    let mut records = run.records().await?;
    while let Some(entry) = records.next().await? {
        if entry.number < from {
            continue;
        }
        let run = run.id().clone();
        if lines.send(Line { run, entry }).await.is_err() {
            break;
        }
    }
    Ok(())
}
