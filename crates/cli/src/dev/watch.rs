//! Everything that happens: runs are found as they come, and each is followed to its end.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use everstep::{
    Engine, EngineError, Entry, ErrorCode, RecordNumber, RunHandle, RunId, RunRow, RunStatus,
};
use everstep_model::{Generation, StreamName};
use everstep_store::{ListQuery, Store, StoreError, StreamRef};
use tokio::sync::mpsc;

/// How often new runs are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Runs that are looked at each time; the rest are older.
const PAGE: usize = 100;
/// Runs that are followed at once. More would be a blur.
const FOLLOWED_MAX: usize = 200;

/// A record became durable.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) run: RunId,
    pub(super) entry: Entry,
}

/// Where lines go; an end of it ends the watching.
type Lines = mpsc::Sender<Line>;

/// What is known of the runs there are.
pub(super) struct Watch {
    /// The runs that were there or are followed.
    known: HashSet<(RunId, Generation)>,
    /// The runs that were left behind, and from which record on they are news.
    left: Vec<(RunId, RecordNumber)>,
    followed: Arc<AtomicUsize>,
}

impl Watch {
    /// Looks at what the last process left behind, before an engine moves it on.
    pub(super) async fn before(store: &dyn Store) -> Result<Self, StoreError> {
        let mut watch = Self {
            known: HashSet::new(),
            left: Vec::new(),
            followed: Arc::default(),
        };
        // What is over already is no news.
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
                watch.left.push((row.id, next));
            }
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(watch),
            }
        }
    }

    /// How many runs the last process left behind.
    pub(super) fn left_behind(&self) -> usize {
        self.left.len()
    }

    /// Follows every run there is and every one that comes, for as long as somebody reads.
    pub(super) async fn all(&mut self, engine: &Engine, lines: Lines) -> anyhow::Result<()> {
        for (run, from) in std::mem::take(&mut self.left) {
            self.follow(engine.run(run.as_str()).await?, from, &lines);
        }
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let mut runs = engine.list().limit(PAGE).await?.runs;
            runs.reverse();
            for row in runs {
                let key = key(&row);
                if self.known.contains(&key) || self.is_full() {
                    continue;
                }
                // It may have been deleted since it was listed.
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
                // All of them end then, and it was said.
                Err(error) if error.code() == ErrorCode::ShuttingDown => {}
                Err(error) => {
                    tracing::warn!(run = %run.id(), %error, "the run cannot be followed");
                }
            }
            followed.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

fn key(row: &RunRow) -> (RunId, Generation) {
    (row.id.clone(), row.generation)
}

async fn follow(run: &RunHandle, from: RecordNumber, lines: &Lines) -> Result<(), EngineError> {
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
