//! Creates streams: row, first messages and expiry timer in one commit.

use everstep_model::{Offset, RecordNumber, StreamNumber, Timestamp};
use everstep_store::{CreateCommit, Row, StreamRow};

use super::ContentType;
use super::config::{Create, Created, Lifetime, differs};
use super::error::StreamError;
use super::expiry::{deadline, timer, unchanged};
use super::fork::Origin;
use super::found::{Found, State, StreamInfo};
use super::handle::Streams;
use super::messages;
use crate::commit::PostCommit;

impl Streams {
    /// Creates a stream, or returns the existing one if it has the same properties. The stream is
    /// durable when this returns.
    pub async fn create(&self, request: Create) -> Result<Created, StreamError> {
        self.parts.committer.check_open()?;
        loop {
            match self.state(&request.path).await? {
                State::Alive(found) => return existing(&found, &request),
                State::Deleted => return Err(StreamError::Exists("it was deleted and has forks")),
                State::Expired(found) => {
                    self.delete_found(&found).await?;
                    continue;
                }
                State::Missing => {}
            }
            let origin = match &request.fork {
                Some(fork) => self.origin(fork, request.content_type.as_ref()).await?,
                None => Origin {
                    content_type: request.content_type.clone().unwrap_or_default(),
                    ..Origin::default()
                },
            };
            let row = new_row(&request, &origin, self.now());
            let commit = creation(&request, &origin, &row, self.now())?;
            if let Some(created) = self.commit_creation(&request, row, commit).await? {
                return Ok(created);
            }
        }
    }

    /// Returns `None` if the request must be decided again.
    async fn commit_creation(
        &self,
        request: &Create,
        row: StreamRow,
        commit: CreateCommit,
    ) -> Result<Option<Created>, StreamError> {
        let count = commit.records.len();
        let Some((stream, first)) = self.commit(commit).await? else {
            return Ok(None);
        };
        let timers = row.looked_at.map(|due| timer(stream, due));
        let effects = PostCommit::of_stream(timers.into_iter().collect(), request.closed);
        self.parts.post_commit.apply(stream, effects);
        if row.ttl.is_some() {
            let touched = row.touched_at;
            self.memory.touch(stream, touched, touched, u64::MAX);
        }
        self.memory.changed(&request.path);
        // Only the store knows the term. The stream may have changed or been deleted meanwhile.
        let head = self.parts.node.head(stream).await?;
        let term = head.map(|head| head.term).unwrap_or_default();
        let next = first.plus(count);
        let info = StreamInfo {
            number: stream,
            content_type: ContentType::new(&row.content_type),
            next: Offset { term, next },
            closed: request.closed,
            ttl: row.ttl,
            expires_at: row.expires_at,
        };
        Ok(Some(Created {
            created: true,
            info,
        }))
    }
}

fn existing(found: &Found, request: &Create) -> Result<Created, StreamError> {
    match differs(found, request) {
        Some(reason) => Err(StreamError::Exists(reason)),
        None => Ok(Created {
            created: false,
            info: found.info(),
        }),
    }
}

fn new_row(request: &Create, origin: &Origin, now: Timestamp) -> StreamRow {
    let (ttl, expires_at) = match (request.lifetime, &origin.source) {
        (Lifetime::Ttl(ttl), _) => (Some(ttl), None),
        (Lifetime::Until(time), _) => (None, Some(time)),
        (Lifetime::Unspecified, Some(source)) => (source.ttl, source.expires_at),
        (Lifetime::Unspecified, None) => (None, None),
    };
    let mut row = StreamRow {
        stream: StreamNumber(0),
        content_type: origin.content_type.to_string(),
        ttl,
        expires_at,
        created_at: now,
        touched_at: now,
        looked_at: None,
        closed_by: None,
        last_seq: None,
        forked_from: origin.point.clone(),
        forks: 0,
        deleted: false,
    };
    row.looked_at = deadline(&row, None, false);
    row
}

fn creation(
    request: &Create,
    origin: &Origin,
    row: &StreamRow,
    now: Timestamp,
) -> Result<CreateCommit, StreamError> {
    let mut commit = CreateCommit::new(request.path.name(), now);
    commit.begins_at = origin.point.as_ref().map_or(RecordNumber(0), |at| at.at);
    commit.records = messages::records(origin.prefix.clone().into_iter().collect(), now);
    if !request.body.is_empty() {
        let given = messages::messages(&request.body, &origin.content_type)?;
        commit.records.extend(messages::records(given, now));
    }
    commit.close = request.closed;
    if let Some(source) = &origin.source {
        commit.guards.push(unchanged(source));
        let counted = StreamRow {
            forks: source.forks.saturating_add(1),
            ..source.clone()
        };
        commit.rows.put.push(Row::Stream(Box::new(counted)));
    }
    let timer = row.looked_at.map(|due| timer(StreamNumber(0), due));
    commit.rows.put.extend(timer.map(Row::Timer));
    commit.rows.put.push(Row::Stream(Box::new(row.clone())));
    Ok(commit)
}
