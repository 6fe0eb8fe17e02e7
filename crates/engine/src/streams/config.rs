//! What a stream is to be, and whether one that exists is that. Pure.

use std::time::Duration;

use bytes::Bytes;
use everstep_model::{Offset, Timestamp};

use super::content_type::ContentType;
use super::found::{Found, StreamInfo};
use super::path::StreamPath;

/// How long a stream lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// Until it is deleted; a fork lives like its source.
    #[default]
    Unsaid,
    /// So long after it was last touched.
    Ttl(Duration),
    /// Until then.
    Until(Timestamp),
}

/// Where a stream is forked from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The stream.
    pub source: StreamPath,
    /// The place; its end if none is given.
    pub offset: Option<Offset>,
    /// So many messages (JSON) or bytes behind that place, within the append that follows it.
    pub sub_offset: u64,
}

/// A stream to be created.
#[derive(Clone, Debug)]
pub struct Create {
    /// Its path.
    pub path: StreamPath,
    /// What its messages are; bytes, or what its source's are, if nothing is said.
    pub content_type: Option<ContentType>,
    /// How long it lives.
    pub lifetime: Lifetime,
    /// Whether it is closed at once.
    pub closed: bool,
    /// The stream it begins as.
    pub fork: Option<Fork>,
    /// Its first messages.
    pub body: Bytes,
}

/// What became of a creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// False if the stream existed, and is what was asked for.
    pub created: bool,
    /// The stream.
    pub info: StreamInfo,
}

/// Why an existing stream is not what is asked for; none if it is.
pub(super) fn differs(found: &Found, asked: &Create) -> Option<&'static str> {
    let row = &found.row;
    let default = ContentType::default();
    let wanted = match (&asked.content_type, &asked.fork) {
        (None, Some(_)) => None,
        (None, None) => Some(&default),
        (Some(given), _) => Some(given),
    };
    if wanted.is_some_and(|wanted| *wanted != found.content_type()) {
        return Some("its content type differs");
    }
    let same_life = match asked.lifetime {
        Lifetime::Unsaid if asked.fork.is_some() => true,
        Lifetime::Unsaid => row.ttl.is_none() && row.expires_at.is_none(),
        Lifetime::Ttl(ttl) => row.ttl == Some(ttl),
        Lifetime::Until(time) => row.expires_at == Some(time),
    };
    if !same_life {
        return Some("its lifetime differs");
    }
    if asked.closed != found.head.closed {
        return Some("one of both is closed");
    }
    let same_origin = match (&asked.fork, &row.forked_from) {
        (None, None) => true,
        (Some(asked), Some(is)) => {
            asked.source.as_str() == is.path
                && asked.offset.is_none_or(|offset| offset.next == is.asked)
                && asked.sub_offset == is.sub_offset
        }
        (Some(_), None) | (None, Some(_)) => false,
    };
    (!same_origin).then_some("it was forked from elsewhere")
}
