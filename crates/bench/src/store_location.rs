//! The store to measure: a directory, or a schema of a PostgreSQL database.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use everstep::{Engine, EngineBuilder};
use everstep_store::{Store, SystemClock};
use everstep_store_embedded::EmbeddedStore;
use everstep_store_postgres::{Options, PostgresBus, PostgresStore};

pub(crate) enum StoreLocation {
    Directory(PathBuf),
    Schema { url: String, name: String },
}

impl StoreLocation {
    pub(crate) async fn open(&self) -> anyhow::Result<Arc<dyn Store>> {
        Ok(match self {
            Self::Directory(path) => Arc::new(EmbeddedStore::open(path, Arc::new(SystemClock))?),
            Self::Schema { url, name } => {
                let store = PostgresStore::open(options(url, name)?).await;
                Arc::new(store.context("cannot open the database")?)
            }
        })
    }

    pub(crate) async fn engine(&self) -> anyhow::Result<EngineBuilder> {
        let engine = Engine::on_store(self.open().await?);
        Ok(match self {
            Self::Directory(_) => engine,
            Self::Schema { url, name } => {
                engine.bus(Arc::new(PostgresBus::open(options(url, name)?)?))
            }
        })
    }
}

fn options(url: &str, schema: &str) -> anyhow::Result<Options> {
    Ok(Options::new(url)?.namespace(schema)?)
}
