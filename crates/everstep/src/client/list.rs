//! Lists of runs, filtered and page by page.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use super::ReadError;
use everstep_model::{InvalidName, Name, RunStatus, Timestamp, limits};
use everstep_store::{Cursor, ListQuery, RunRow};

use super::Client;

/// Runs on a page unless said otherwise.
const DEFAULT_LIMIT: usize = 50;

/// A page of a list of runs, newest first.
#[derive(Clone, Debug)]
pub struct RunPage {
    /// The runs.
    pub runs: Vec<RunRow>,
    /// Where the next page begins; none on the last.
    pub next: Option<Cursor>,
}

/// A list of runs. Filter it, then await it.
#[must_use = "nothing is listed until it is awaited"]
#[derive(Debug)]
pub struct ListRuns {
    pub(crate) client: Client,
    workflows: Vec<String>,
    query: ListQuery,
}

impl Client {
    /// Lists runs, newest first.
    pub fn list(&self) -> ListRuns {
        ListRuns {
            client: self.clone(),
            workflows: Vec::new(),
            query: ListQuery {
                limit: DEFAULT_LIMIT,
                ..ListQuery::default()
            },
        }
    }
}

impl ListRuns {
    /// Only runs of this workflow, or of any of several.
    pub fn workflow(mut self, workflow: impl Into<String>) -> Self {
        self.workflows.push(workflow.into());
        self
    }

    /// Only runs of this status, or of any of several.
    pub fn status(mut self, status: RunStatus) -> Self {
        self.query.statuses.push(status);
        self
    }

    /// Only runs with this tag.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.query.tag = Some(tag.into());
        self
    }

    /// Only runs created at or after this time.
    pub fn created_from(mut self, time: Timestamp) -> Self {
        self.query.created_from = Some(time);
        self
    }

    /// Only runs created before this time.
    pub fn created_before(mut self, time: Timestamp) -> Self {
        self.query.created_before = Some(time);
        self
    }

    /// At most this many on a page.
    pub fn limit(mut self, limit: usize) -> Self {
        self.query.limit = limit.clamp(1, limits::LIST_PAGE_MAX);
        self
    }

    /// The page that begins where another ended.
    pub fn after(mut self, cursor: Cursor) -> Self {
        self.query.cursor = Some(cursor);
        self
    }

    /// The list as the engine is asked for it.
    pub(crate) fn into_query(mut self) -> Result<ListQuery, InvalidName> {
        for workflow in &self.workflows {
            self.query.workflows.push(Name::new(workflow)?);
        }
        Ok(self.query)
    }

    async fn fetch(self) -> Result<RunPage, ReadError> {
        let client = self.client.clone();
        let page = client.port.list(self.into_query()?).await?;
        Ok(RunPage {
            runs: page.rows,
            next: page.next,
        })
    }
}

impl IntoFuture for ListRuns {
    type Output = Result<RunPage, ReadError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.fetch())
    }
}
