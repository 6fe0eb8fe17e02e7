//! Fuzz tests of everything that clients send, one file each.

mod access;
mod api_body;
mod authorization;
mod headers;
mod journal_append;
mod query;
mod subscription;
mod token;
