//! The requested properties of a stream, compared with those of an existing one. Pure.

use std::time::Duration;

use bytes::Bytes;
use everstep_model::{Offset, Timestamp};

use super::content_type::ContentType;
use super::found::{Found, StreamInfo};
use super::path::StreamPath;

/// The lifetime of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// Until the stream is deleted. A fork inherits the lifetime of its source.
    #[default]
    Unspecified,
    /// This long after its last use.
    Ttl(Duration),
    /// Until this time.
    Until(Timestamp),
}

/// The origin of a forked stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Fork {
    pub source: StreamPath,
    /// The fork point. `None` means the end of the source.
    pub offset: Option<Offset>,
    /// The number of messages (JSON) or bytes after that offset, within the append that follows it.
    pub sub_offset: u64,
}

/// A request to create a stream.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct Create {
    pub path: StreamPath,
    /// `None` means the content type of the source, or else bytes.
    pub content_type: Option<ContentType>,
    pub lifetime: Lifetime,
    /// Whether the stream is closed after its first messages.
    pub closed: bool,
    /// The source, if it is a fork.
    pub fork: Option<Fork>,
    /// The first messages.
    pub body: Bytes,
}

/// The outcome of a creation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Created {
    /// False if the stream existed with the requested properties.
    pub created: bool,
    pub info: StreamInfo,
}

/// Returns in which way an existing stream differs from the request.
pub(super) fn differs(found: &Found, request: &Create) -> Option<&'static str> {
    let row = &found.row;
    let default = ContentType::default();
    let wanted = match (&request.content_type, &request.fork) {
        (None, Some(_)) => None,
        (None, None) => Some(&default),
        (Some(given), _) => Some(given),
    };
    if wanted.is_some_and(|wanted| *wanted != found.content_type()) {
        return Some("its content type differs");
    }
    let same_lifetime = match request.lifetime {
        Lifetime::Unspecified if request.fork.is_some() => true,
        Lifetime::Unspecified => row.ttl.is_none() && row.expires_at.is_none(),
        Lifetime::Ttl(ttl) => row.ttl == Some(ttl),
        Lifetime::Until(time) => row.expires_at == Some(time),
    };
    if !same_lifetime {
        return Some("its lifetime differs");
    }
    if request.closed != found.head.closed {
        return Some("only one of them is closed");
    }
    let same_origin = match (&request.fork, &row.forked_from) {
        (None, None) => true,
        (Some(fork), Some(existing)) => {
            fork.source.as_str() == existing.path
                && fork
                    .offset
                    .is_none_or(|offset| offset.next == existing.asked)
                && fork.sub_offset == existing.sub_offset
        }
        (Some(_), None) | (None, Some(_)) => false,
    };
    (!same_origin).then_some("it has another fork point")
}
