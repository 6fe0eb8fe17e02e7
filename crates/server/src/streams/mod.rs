//! A Durable Streams server.

mod caching;
mod get;
pub(crate) mod headers;
mod lifecycle;
mod post;
pub(crate) mod query;
pub(crate) mod reply;
mod request;
mod sse;

pub(crate) use get::{get, respond as respond_to_read};
#[cfg(test)]
pub(crate) use lifecycle::lifetime;
pub(crate) use lifecycle::{delete, head, put, respond_with_info};
pub(crate) use post::post;
pub(crate) use request::{Address, Reading, StreamRequest, StreamServer, decode};
