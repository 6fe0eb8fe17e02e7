//! The store for many machines: the PostgreSQL (15 or later) that a team already runs, and nothing else.
//!
//! ```text
//!   commit(batch) ─▶ columns ─▶ one round trip, one transaction, one sync ─▶ answers ─▶ outcomes
//!                                 plain_batch(...): steps, ends and births, a statement for each kind
//!                                 commit_batch(...): lock heads in order, judge, write
//! ```
//!
//! Every node opens the store and, to hear of the others' work at once, the bus:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use everstep::Engine;
//! use everstep_store_postgres::{Options, PostgresBus, PostgresStore};
//!
//! # async fn node() -> Result<(), Box<dyn std::error::Error>> {
//! let options = Options::new("postgres://everstep@db.example/app?sslmode=require")?.namespace("payments")?;
//! let store = PostgresStore::open(options.clone()).await?;
//! let bus = PostgresBus::open(options)?;
//! let engine = Engine::on_store(Arc::new(store)).bus(Arc::new(bus)).start().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Guards are judged in the database, by `sql/commit.sql`: `everstep_store::judge` once more, and compared with it by the
//! property tests. The tables are in `sql/tables.sql`, the choice of them and of the driver in `docs/adr/0011-postgres.md`,
//! the bytes in `docs/format.md`.

mod answer;
mod bus;
mod call;
mod columns;
mod commit;
mod commit_channels;
mod connector;
mod direct;
mod due;
mod failure;
mod framed;
mod frames;
#[cfg(doctest)]
mod guides;
mod head;
mod io;
mod judged;
mod list;
mod listener;
mod migrate;
mod number;
mod options;
mod pace;
mod plain;
mod plain_answer;
mod plain_batch;
mod pool;
mod ranges;
mod reading;
mod rest;
mod row_place;
mod row_slots;
mod safety;
mod session;
mod store;
mod tls;

pub use bus::PostgresBus;
pub use options::Options;
pub use store::PostgresStore;
