//! Where a server keeps everything: a directory of its own, or a database that any number of nodes share.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use everstep::{Engine, EngineBuilder, Role, Roles};
use everstep_store::{Bus, Store};
use everstep_store_embedded::EmbeddedStore;
use everstep_store_postgres::{Options, PostgresBus, PostgresStore};

use crate::config::{Config, without_password};
use crate::ending::UsageError;
use crate::system_clock::SystemClock;

/// A store that is open.
pub(crate) struct Place {
    store: Arc<dyn Store>,
    /// How nodes that share it hear of each other.
    bus: Option<Arc<dyn Bus>>,
    /// What people are told of it.
    pub(crate) told: String,
    /// How a command is told to work on it.
    pub(crate) flags: String,
}

/// The store in a directory.
pub(crate) fn open_directory(path: &Path) -> anyhow::Result<Arc<dyn Store>> {
    let store = EmbeddedStore::open(path, Arc::new(SystemClock))
        .with_context(|| format!("cannot open {}", path.display()))?;
    Ok(Arc::new(store))
}

impl Place {
    /// Opens what is set: `store` or `data`, whichever was said with more right.
    pub(crate) async fn open(config: &Config) -> anyhow::Result<Self> {
        match config.stronger("store", "data")? {
            Some(("store", url)) => Self::database(config, url).await,
            Some((_, path)) => Self::directory(Path::new(path)),
            None => Self::directory(Path::new("")),
        }
    }

    fn directory(path: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            store: open_directory(path)?,
            bus: None,
            told: path.display().to_string(),
            flags: format!("--data {}", path.display()),
        })
    }

    async fn database(config: &Config, url: &str) -> anyhow::Result<Self> {
        let namespace = config.text("namespace").unwrap_or_default();
        let shown = without_password(url);
        let told = format!("{shown}, namespace {namespace}");
        let cannot = || format!("cannot open {told}");
        let options = database_options(config, url).with_context(cannot)?;
        let store = PostgresStore::open(options).await.with_context(cannot)?;
        let hints = config.text("store_hints").unwrap_or(url);
        let bus = PostgresBus::open(database_options(config, hints)?)?;
        Ok(Self {
            store: Arc::new(store),
            bus: Some(Arc::new(bus)),
            flags: format!("--store '{shown}' --namespace {namespace}"),
            told,
        })
    }

    /// An engine on it, with these roles.
    pub(crate) fn engine(&self, roles: Roles) -> EngineBuilder {
        let builder = Engine::on_store(self.store.clone()).roles(roles);
        match &self.bus {
            Some(bus) => builder.bus(bus.clone()),
            None => builder,
        }
    }

    /// The roles that are set. A directory has one node, which does everything.
    pub(crate) fn roles(&self, config: &Config) -> anyhow::Result<Roles> {
        let named = config.list("roles");
        let roles: Result<Vec<Role>, _> = named.iter().map(|name| name.parse()).collect();
        let roles = Roles::from_iter(roles?);
        if roles != Roles::ALL && self.store.describe().exclusive {
            return Err(UsageError {
                what: format!("a node on a directory does everything, not only {roles}"),
                remedy: "Leave `roles` alone, or keep everything in a database that nodes share (--store)."
                    .to_owned(),
            }
            .into());
        }
        Ok(roles)
    }
}

fn database_options(config: &Config, url: &str) -> anyhow::Result<Options> {
    let options = Options::new(url)?
        .namespace(config.text("namespace").unwrap_or_default())?
        .allow_lossy(config.is_on("allow_lossy"))
        .connections(config.count("store_connections")?);
    Ok(match config.path("store_authority") {
        Some(file) => options.certificate_authority(file),
        None => options,
    })
}
