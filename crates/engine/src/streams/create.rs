//! Creating: a stream with its row, its first messages and its end in sight, in one commit.

use everstep_model::{Offset, RecordNumber, StreamNumber, Timestamp};
use everstep_store::{CreateCommit, Guard, Outcome, Row, StreamRef, StreamRow, TimerRow};

use super::Streams;
use super::config::{Create, Created, Lifetime, differs};
use super::error::{StreamError, decide_again};
use super::expiry::{deadline, timer};
use super::fork::Origin;
use super::found::{Found, State, StreamInfo};
use super::messages;
use crate::effects::Effects;

impl Streams {
    /// Creates a stream, or finds the one there is if it is the same. It is durable when this returns.
    pub async fn create(&self, asked: Create) -> Result<Created, StreamError> {
        self.core.check_open()?;
        loop {
            match self.state(&asked.path).await? {
                State::Alive(found) => return existing(&found, &asked),
                State::Deleted => return Err(StreamError::Exists("it was deleted and has forks")),
                State::Expired(found) => {
                    self.take_away(&found).await?;
                    continue;
                }
                State::Missing => {}
            }
            let origin = match &asked.fork {
                Some(fork) => self.origin(fork, asked.content_type.as_ref()).await?,
                None => Origin::none(asked.content_type.clone().unwrap_or_default()),
            };
            let row = new_row(&asked, &origin, self.core.runtime.now());
            let commit = creation(&asked, &origin, &row, self.core.runtime.now())?;
            if let Some(created) = self.commit_creation(&asked, row, commit).await? {
                return Ok(created);
            }
        }
    }

    /// None if it is to be decided again.
    async fn commit_creation(
        &self,
        asked: &Create,
        row: StreamRow,
        commit: CreateCommit,
    ) -> Result<Option<Created>, StreamError> {
        let count = commit.records.len();
        let outcome = self.core.committer.commit(commit).await?;
        let (Outcome::Committed { stream, first, .. } | Outcome::Duplicate { stream, first, .. }) =
            outcome
        else {
            return match outcome {
                Outcome::Refused(refusal) => decide_again(refusal).map(|()| None),
                Outcome::Committed { .. } | Outcome::Duplicate { .. } => Ok(None),
            };
        };
        let timers = row.looked_at.map(|due| timer(stream, due));
        let effects = Effects::of_stream(timers.into_iter().collect(), asked.closed);
        self.core.committed(stream, effects);
        if row.ttl.is_some() {
            let touched = row.touched_at;
            self.core.streams.touch(stream, touched, touched, u64::MAX);
        }
        self.core.streams.changed(&asked.path);
        // Only the store knows the term; the stream may have grown or be gone by now.
        let head = self.core.store.head(StreamRef::Number(stream)).await?;
        let term = head.map(|head| head.term).unwrap_or_default();
        Ok(Some(Created {
            created: true,
            info: StreamInfo {
                number: stream,
                content_type: super::ContentType::new(&row.content_type),
                next: Offset {
                    term,
                    next: first.plus(count),
                },
                closed: asked.closed,
                ttl: row.ttl,
                expires_at: row.expires_at,
            },
        }))
    }
}

fn existing(found: &Found, asked: &Create) -> Result<Created, StreamError> {
    match differs(found, asked) {
        Some(reason) => Err(StreamError::Exists(reason)),
        None => Ok(Created {
            created: false,
            info: found.info(),
        }),
    }
}

fn new_row(asked: &Create, origin: &Origin, now: Timestamp) -> StreamRow {
    let (ttl, expires_at) = match (asked.lifetime, &origin.source) {
        (Lifetime::Ttl(ttl), _) => (Some(ttl), None),
        (Lifetime::Until(time), _) => (None, Some(time)),
        (Lifetime::Unsaid, Some(source)) => (source.ttl, source.expires_at),
        (Lifetime::Unsaid, None) => (None, None),
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
    asked: &Create,
    origin: &Origin,
    row: &StreamRow,
    now: Timestamp,
) -> Result<CreateCommit, StreamError> {
    let mut commit = CreateCommit::new(asked.path.name(), now);
    commit.begins_at = origin.point.as_ref().map_or(RecordNumber(0), |at| at.at);
    commit.records = messages::records(origin.prefix.clone().into_iter().collect(), now);
    if !asked.body.is_empty() {
        let given = messages::messages(&asked.body, &origin.content_type)?;
        commit.records.extend(messages::records(given, now));
    }
    commit.close = asked.closed;
    if let Some(source) = &origin.source {
        let guard = Row::Stream(Box::new(source.clone()));
        commit.guards.push(Guard::RowIs(guard));
        let counted = StreamRow {
            forks: source.forks.saturating_add(1),
            ..source.clone()
        };
        commit.rows.put.push(Row::Stream(Box::new(counted)));
    }
    let timers = row.looked_at.map(|due| timer(StreamNumber(0), due));
    commit
        .rows
        .put
        .extend(timers.map(|timer: TimerRow| Row::Timer(timer)));
    commit.rows.put.push(Row::Stream(Box::new(row.clone())));
    Ok(commit)
}
