//! The query of a read: from which offset, and whether to wait for more.

use axum::http::StatusCode;
use everstep_engine::streams::ReadFrom;
use everstep_model::ErrorCode;

use crate::failure::Failure;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Live {
    No,
    LongPoll,
    Sse,
}

/// The parameters of a read. Unknown parameters are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) from: ReadFrom,
    pub(crate) live: Live,
    pub(crate) cursor: Option<u64>,
}

impl Query {
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let (mut offset, mut live, mut cursor) = (None, Live::No, None);
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            match name.as_ref() {
                "offset" if offset.is_some() => {
                    return Err(Failure::bad_request("the offset is given twice"));
                }
                "offset" => offset = Some(from(&value)?),
                "live" => live = self::live(&value)?,
                "cursor" => cursor = value.parse().ok(),
                _ => {}
            }
        }
        if live != Live::No && offset.is_none() {
            return Err(Failure::bad_request("a live read needs an offset"));
        }
        Ok(Self {
            from: offset.unwrap_or(ReadFrom::Start),
            live,
            cursor,
        })
    }
}

fn from(text: &str) -> Result<ReadFrom, Failure> {
    match text {
        "-1" => Ok(ReadFrom::Start),
        "now" => Ok(ReadFrom::Tail),
        text => text.parse().map(ReadFrom::Offset).map_err(|_| {
            let detail = "the offset was not issued by this server";
            Failure::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidOffset, detail)
        }),
    }
}

fn live(text: &str) -> Result<Live, Failure> {
    match text {
        "long-poll" => Ok(Live::LongPoll),
        "sse" => Ok(Live::Sse),
        _ => Err(Failure::bad_request("live is `long-poll` or `sse`")),
    }
}
