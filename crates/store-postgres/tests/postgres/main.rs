//! Tests of the store on a real server, which the first test starts.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, its helpers too"
)]

mod bus;
mod conformance;
mod contention;
mod counting;
mod encrypted;
mod encrypted_server;
mod history;
mod idle;
mod listing;
mod lost_connections;
mod opening;
mod plain;
mod pooled;
mod removal;
mod run;
mod shared_rows;
mod support;
mod tails;
mod upgrading;
