//! Reads all journals from the database after the nodes have shut down.

use everstep_model::{Body, RecordNumber, RunStatus, StreamName};
use everstep_sim::Violation;
use everstep_sim::observed::Stream;
use everstep_store::{Head, ListQuery, ReadRequest, RunRow, Store, StreamRef};
use everstep_store_postgres::{Options, PostgresStore};

use crate::program::Program;

/// Page size for rows and records.
const PAGE: usize = 500;

/// A journal with its row and head.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    pub(crate) run: String,
    pub(crate) stream: Stream,
    pub(crate) status: RunStatus,
    /// The number of claims.
    pub(crate) epoch: u64,
}

impl Journal {
    /// Returns the input of the run.
    pub(crate) fn program(&self) -> Option<Program> {
        match &self.stream.entries.first()?.record.body {
            Body::Created(created) => created.input.decode().ok(),
            _ => None,
        }
    }
}

pub(crate) struct Database(PostgresStore);

impl Database {
    pub(crate) async fn open(url: &str) -> anyhow::Result<Self> {
        Ok(Self(PostgresStore::open(Options::new(url)?).await?))
    }

    pub(crate) async fn journals(&self) -> anyhow::Result<Vec<Journal>> {
        let mut query = ListQuery {
            limit: PAGE,
            ..ListQuery::default()
        };
        let mut journals = Vec::new();
        loop {
            let page = self.0.list(query.clone()).await?;
            for row in page.rows {
                journals.push(self.journal(row).await?);
            }
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(journals),
            }
        }
    }

    async fn journal(&self, row: RunRow) -> anyhow::Result<Journal> {
        let name = StreamName::of_run(&row.id, row.generation);
        let head = self.0.head(StreamRef::Name(name)).await?;
        let head =
            head.ok_or_else(|| anyhow::anyhow!("{} is listed but does not exist", row.id))?;
        let mut entries = Vec::new();
        let mut from = RecordNumber(0);
        while from < head.next {
            let request = ReadRequest {
                stream: head.number,
                from,
                limit: PAGE,
                bytes: usize::MAX,
            };
            let page = self.0.read(request).await?;
            let page = page.map(|page| page.entries).unwrap_or_default();
            let Some(last) = page.last() else { break };
            from = last.number.plus(1);
            entries.extend(page);
        }
        let closed_at = head.closed.then_some(row.updated_at);
        let stream = Stream::read_back(
            head.number,
            (row.id.clone(), row.generation),
            entries,
            closed_at,
        );
        Ok(Journal {
            run: row.id.to_string(),
            stream,
            status: row.status,
            epoch: head.epoch.0,
        })
    }

    /// Returns violations for work that is left although all runs have ended (invariants 17, 21,
    /// 29).
    pub(crate) async fn left(&self) -> anyhow::Result<Vec<Violation>> {
        let mut found = Vec::new();
        let outbox = self.0.outbox(None, 10).await?;
        if let Some(first) = outbox.first() {
            let what = format!(
                "{} of stream {} was never delivered",
                first.key, first.stream
            );
            found.push(Violation::of(17, what));
        }
        for ready in self.0.ready(None, PAGE).await? {
            let head: Option<Head> = self.0.head(StreamRef::Number(ready.stream)).await?;
            if head.is_some_and(|head| !head.closed) {
                let what = format!("stream {} still has a ready mark", ready.stream);
                found.push(Violation::of(29, what));
            }
        }
        Ok(found)
    }
}
