//! Forks of streams: what a fork inherits from its source.

use bytes::Bytes;
use everstep_model::RecordNumber;
use everstep_store::{ForkPoint, StreamRow};

use super::config::Fork;
use super::content_type::ContentType;
use super::error::StreamError;
use super::found::Found;
use super::handle::Streams;

/// The origin of a new stream. By default it is not a fork.
#[derive(Default)]
pub(super) struct Origin {
    pub(super) content_type: ContentType,
    /// The row of the source as it was read.
    pub(super) source: Option<StreamRow>,
    pub(super) point: Option<ForkPoint>,
    /// The part of a message with which the fork begins.
    pub(super) prefix: Option<Bytes>,
}

impl Streams {
    pub(super) async fn origin(
        &self,
        fork: &Fork,
        content_type: Option<&ContentType>,
    ) -> Result<Origin, StreamError> {
        let found = self.find(&fork.source).await;
        let source = found.map_err(|error| match error {
            StreamError::Missing => StreamError::SourceMissing,
            StreamError::Gone => StreamError::SourceGone,
            error => error,
        })?;
        let of_source = source.content_type();
        if let Some(given) = content_type {
            of_source.check(given)?;
        }
        let requested = self.fork_number(fork, &source).await?;
        let (at, prefix) = self.after(&source, requested, fork.sub_offset).await?;
        let point = ForkPoint {
            source: source.head.number,
            path: fork.source.as_str().to_owned(),
            at,
            asked: requested,
            sub_offset: fork.sub_offset,
        };
        Ok(Origin {
            content_type: content_type.cloned().unwrap_or(of_source),
            source: Some(source.row),
            point: Some(point),
            prefix,
        })
    }

    async fn fork_number(&self, fork: &Fork, source: &Found) -> Result<RecordNumber, StreamError> {
        let Some(offset) = fork.offset else {
            return Ok(source.head.next);
        };
        let chain = self.chain(source).await?;
        let number = chain.number(offset, source.head.next);
        number.map_err(|_| StreamError::ForkPoint("the offset does not belong to that stream"))
    }

    /// Returns the fork point that is `sub_offset` after a record number, and the part of a message
    /// before it.
    async fn after(
        &self,
        source: &Found,
        requested: RecordNumber,
        sub_offset: u64,
    ) -> Result<(RecordNumber, Option<Bytes>), StreamError> {
        if sub_offset == 0 {
            return Ok((requested, None));
        }
        let too_far = StreamError::ForkPoint("the sub-offset goes beyond the append");
        let count = usize::try_from(sub_offset).unwrap_or(usize::MAX);
        let messages = self.rest_of_append(source, requested).await?;
        if source.content_type().is_json() {
            return match count <= messages.len() {
                true => Ok((requested.plus(count), None)),
                false => Err(too_far),
            };
        }
        let Some(message) = messages.first() else {
            return Err(too_far);
        };
        match count.cmp(&message.len()) {
            std::cmp::Ordering::Less => Ok((requested, Some(message.slice(..count)))),
            std::cmp::Ordering::Equal => Ok((requested.plus(1), None)),
            std::cmp::Ordering::Greater => Err(too_far),
        }
    }
}
