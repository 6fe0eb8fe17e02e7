//! Durable Streams over HTTP: one file per verb, and one per thing they share.

pub(crate) mod cors;
mod cursor;
mod delete;
mod etag;
pub(crate) mod get;
pub(crate) mod head;
pub(crate) mod headers;
mod long_poll;
mod post;
pub(crate) mod producer_headers;
pub(crate) mod put;
pub(crate) mod query;
pub(crate) mod reply;
pub(crate) mod route;
mod sse;
pub(crate) mod time_header;

pub(crate) use route::routes;
