//! The runs on stage: those that were left behind by the last process, or fresh ones.

use everstep::{Body, Engine, Entry, Payload, RecordNumber, RunHandle, RunId, RunStatus, Workflow};
use everstep_demo::{Expense, Hello, Payment};
use everstep_model::{Name, StreamName};
use everstep_store::{ListQuery, RunRow, Store, StoreError, StreamRef};
use tokio::sync::mpsc;

use super::person::Person;
use super::screen::Line;

/// Where lines for the screen are sent; an error ends the show.
pub(super) type Lines = mpsc::Sender<anyhow::Result<Line>>;

/// The word that all demo runs can be found by.
const TAG: &str = "demo";
const PAGE: usize = 500;

/// What the last process left behind.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// Runs of the demo workflows that are not over, oldest first, and how many records each has.
    pub(super) runs: Vec<(RunRow, RecordNumber)>,
    /// Runs of other workflows that are not over; nobody here can execute them.
    pub(super) foreign: usize,
}

/// Looks for runs that are not over, before an engine moves them on.
pub(super) async fn left_behind(store: &dyn Store) -> Result<Left, StoreError> {
    let mut left = Left::default();
    let is_open = |status: &&RunStatus| !status.is_terminal();
    let mut query = ListQuery {
        statuses: RunStatus::ALL.iter().filter(is_open).copied().collect(),
        limit: PAGE,
        ..ListQuery::default()
    };
    loop {
        let page = store.list(query.clone()).await?;
        for row in page.rows {
            if !is_ours(&row.workflow) {
                left.foreign += 1;
                continue;
            }
            let name = StreamName::of_run(&row.id, row.generation);
            let head = store.head(StreamRef::Name(name)).await?;
            let records = head.map_or(RecordNumber(0), |head| head.next);
            left.runs.push((row, records));
        }
        match page.next {
            Some(next) => query.cursor = Some(next),
            None => break,
        }
    }
    left.runs.reverse();
    Ok(left)
}

fn is_ours(workflow: &Name) -> bool {
    [Hello::NAME, Payment::NAME, Expense::NAME].contains(&workflow.as_str())
}

/// The runs that are shown.
pub(super) struct Company {
    /// Each with the first record that is news.
    runs: Vec<(RunHandle, RecordNumber)>,
}

impl Company {
    /// The runs left behind; fresh ones if there are none.
    pub(super) async fn gather(engine: &Engine, left: Left) -> anyhow::Result<Self> {
        let mut runs = Vec::new();
        for (row, records) in left.runs {
            runs.push((engine.run(row.id.as_str()).await?, records));
        }
        if runs.is_empty() {
            let number = next_number(engine).await?;
            for (workflow, input) in fresh_inputs()? {
                let run = start(engine, workflow, number, input).await?;
                runs.push((run, RecordNumber(0)));
            }
        }
        Ok(Self { runs })
    }

    pub(super) fn ids(&self) -> Vec<RunId> {
        self.runs.iter().map(|(run, _)| run.id().clone()).collect()
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = &RunHandle> {
        self.runs.iter().map(|(run, _)| run)
    }

    /// Sends every new record of every run to the screen, and lets the person see them all.
    pub(super) fn tail(&self, person: &Person, lines: &Lines) {
        for (run, from) in &self.runs {
            let (run, from, person, lines) = (run.clone(), *from, person.clone(), lines.clone());
            tokio::spawn(async move {
                if let Err(error) = tail(&run, from, &person, &lines).await {
                    let _ = lines.send(Err(error)).await;
                }
            });
        }
    }
}

async fn tail(
    run: &RunHandle,
    from: RecordNumber,
    person: &Person,
    lines: &Lines,
) -> anyhow::Result<()> {
    let mut records = run.records().await?;
    while let Some(entry) = records.next().await? {
        person.sees(run, &entry.record.body);
        let parked = is_parked(&entry);
        if entry.number >= from {
            let (run, entry) = (run.id().clone(), Box::new(entry));
            if lines.send(Ok(Line::Record { run, entry })).await.is_err() {
                return Ok(());
            }
            if parked {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Whether the run stops here until somebody acts.
fn is_parked(entry: &Entry) -> bool {
    match &entry.record.body {
        Body::Diverged(_) => true,
        Body::Paused(paused) => paused.reason.is_some(),
        _ => false,
    }
}

/// Fresh runs are numbered on from the newest.
async fn next_number(engine: &Engine) -> anyhow::Result<u64> {
    let page = engine.list().tag(TAG).limit(1).await?;
    let newest = page.runs.first().map(|row| row.id.clone());
    let number = newest.and_then(|id| id.as_str().rsplit('-').next()?.parse::<u64>().ok());
    Ok(number.map_or(1, |number| number.saturating_add(1)))
}

async fn start(
    engine: &Engine,
    workflow: &str,
    number: u64,
    input: Payload,
) -> anyhow::Result<RunHandle> {
    let mut number = number;
    loop {
        let start = engine.start_by_name(workflow, input.clone());
        let run = start.id(format!("{workflow}-{number}")).tag(TAG).await?;
        if run.created() {
            return Ok(run);
        }
        // Somebody else's run has that id.
        number += 1;
    }
}

fn fresh_inputs() -> anyhow::Result<[(&'static str, Payload); 3]> {
    let json = |text: &'static str| Payload::from_json(text);
    Ok([
        (Hello::NAME, json(r#"{"name":"Ada"}"#)?),
        (Payment::NAME, json(r#"{"customer":"ada","amount":4200}"#)?),
        (
            Expense::NAME,
            json(
                r#"{"amount":1500,"description":"Team dinner","submittedBy":"alice@example.com"}"#,
            )?,
        ),
    ])
}
