//! A Durable Streams server: one file per method, and what they share.

mod cursor;
mod delete;
mod etag;
mod get;
mod head;
pub(crate) mod header_values;
mod long_poll;
mod post;
pub(crate) mod producer_headers;
mod put;
pub(crate) mod query;
pub(crate) mod reply;
mod request;
mod server;
mod sse;

pub(crate) use delete::delete;
pub(crate) use get::{get, respond as respond_to_read};
pub(crate) use head::{head, respond as respond_with_info};
pub(crate) use post::post;
pub(crate) use put::put;
pub(crate) use request::{Address, StreamRequest, decode};
pub(crate) use server::{Reading, StreamServer};

#[cfg(test)]
pub(crate) use put::lifetime;
