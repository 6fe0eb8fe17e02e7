//! Lists of runs, filtered and page by page, and feeds of the records of all runs.

use std::future::IntoFuture;

use everstep_model::{InvalidName, Name, RecordFeed, RunStatus, Timestamp, limits};
use everstep_store::{BoxFuture, Cursor, ListQuery, RunRow};

use super::error::ReadError;
use super::feed::FeedReader;
use super::port::Client;

/// Runs per page by default.
const DEFAULT_LIMIT: usize = 50;

/// A page of a list of runs, newest first.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct RunPage {
    pub runs: Vec<RunRow>,
    /// The start of the next page. `None` on the last page. A page with a next one may be short or
    /// empty: filters by time compare a bounded number of runs for each page.
    pub next: Option<Cursor>,
}

/// A list of runs. Filter it, then await it.
#[must_use = "nothing is listed until it is awaited"]
#[derive(Debug)]
pub struct ListRuns {
    pub(crate) client: Client,
    pub(crate) query: Result<ListQuery, InvalidName>,
}

impl Client {
    /// Lists runs, newest first.
    pub fn list(&self) -> ListRuns {
        ListRuns {
            client: self.clone(),
            query: Ok(ListQuery {
                limit: DEFAULT_LIMIT,
                ..ListQuery::default()
            }),
        }
    }
}

impl Client {
    /// Reads a feed from its start, or from the position where another reader ended. An engine has
    /// the feeds that its builder names; `everstep dev` and `everstep serve` have the feeds of
    /// failures and emissions.
    ///
    /// # Errors
    /// If there is no such feed, or the position does not belong to it.
    pub async fn feed(
        &self,
        feed: RecordFeed,
        from: Option<&str>,
    ) -> Result<FeedReader, ReadError> {
        let reader = self.port.feed(feed, from.map(str::to_owned)).await?;
        Ok(reader.at(from))
    }
}

impl ListRuns {
    /// Only runs of this workflow, or of any of several.
    pub fn workflow(mut self, workflow: impl Into<String>) -> Self {
        match Name::new(workflow.into()) {
            Ok(workflow) => self.change(|query| query.workflows.push(workflow)),
            Err(error) => {
                self.query = self.query.and(Err(error));
                self
            }
        }
    }

    /// Only runs of this status, or of any of several.
    pub fn status(self, status: RunStatus) -> Self {
        self.change(|query| query.statuses.push(status))
    }

    /// Only runs with this tag.
    pub fn tag(self, tag: impl Into<String>) -> Self {
        self.change(|query| query.tag = Some(tag.into()))
    }

    /// Only runs created at or after this time.
    pub fn created_from(self, time: Timestamp) -> Self {
        self.change(|query| query.created_from = Some(time))
    }

    /// Only runs created before this time.
    pub fn created_before(self, time: Timestamp) -> Self {
        self.change(|query| query.created_before = Some(time))
    }

    /// Sets the maximum number of runs per page.
    pub fn limit(self, limit: usize) -> Self {
        self.change(|query| query.limit = limit.clamp(1, limits::LIST_PAGE_MAX))
    }

    /// Continues where another page ended.
    pub fn after(self, cursor: Cursor) -> Self {
        self.change(|query| query.cursor = Some(cursor))
    }

    fn change(mut self, change: impl FnOnce(&mut ListQuery)) -> Self {
        if let Ok(query) = &mut self.query {
            change(query);
        }
        self
    }
}

impl IntoFuture for ListRuns {
    type Output = Result<RunPage, ReadError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let page = self.client.port.list(self.query?).await?;
            Ok(RunPage {
                runs: page.rows,
                next: page.next,
            })
        })
    }
}
