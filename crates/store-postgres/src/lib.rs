//! A store in a PostgreSQL database (15 or later) that any number of nodes share.
//!
//! ```text
//!   commit(batch) ─▶ columns ─▶ one round trip, one transaction, one sync ─▶ answers ─▶ outcomes
//!                                 plain_batch(...): steps, ends and creations, a statement for each kind
//!                                 commit_batch(...): lock heads in order, judge, write
//! ```
//!
//! Every node opens the store and the bus, which carries hints between nodes:
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
//! The database judges commits by the rules of `everstep_store::judge` (`sql/commit.sql`); property
//! tests compare both. The tables are in `sql/tables.sql`. `docs/postgres.md` explains the design,
//! `docs/format.md` the encoding.

mod connection;
mod failure;
#[cfg(doctest)]
mod guides;
mod notify;
mod number;
mod read;
mod schema;
mod session;
mod store;
mod write;

pub use connection::options::Options;
pub use notify::bus::PostgresBus;
pub use store::PostgresStore;
