//! The store of a server: a directory for a single node, or a database for any number of nodes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use everstep::{Engine, EngineBuilder, ErrorCode, Role, Roles};
use everstep_store::{Bus, Store, StoreError, SystemClock};
use everstep_store_embedded::EmbeddedStore;
use everstep_store_postgres::{Options, PostgresBus, PostgresStore};

use crate::arguments::GlobalOptions;
use crate::config::{Config, without_password};
use crate::output::shell_word;
use crate::usage_error::UsageError;

/// A store cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open {place}")]
pub(crate) struct StoreNotOpened {
    place: String,
    source: StoreError,
    remedy: &'static str,
}

impl StoreNotOpened {
    /// What to do about a store that is unavailable at the start: unlike a running server, the
    /// command does not try again.
    pub(crate) fn remedy(&self) -> Option<&'static str> {
        (self.source.code() == ErrorCode::StoreUnavailable).then_some(self.remedy)
    }
}

const DIRECTORY_REMEDY: &str = "Name another directory with --data, which may be new, or give this user permission to \
                                read and write this one and all files in it.";
const DATABASE_REMEDY: &str =
    "Start the database or correct its URL, and then start this command again.";

/// Makes the process create all files for its user alone from now on.
pub(crate) fn own_files() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Returns the directory of the embedded store that a command names, or that is configured.
pub(crate) fn data_directory(
    flag: Option<OsString>,
    global: &GlobalOptions,
) -> anyhow::Result<PathBuf> {
    let config = global.config(vec![("data", flag)])?;
    config.path("data").context("`data` is not set")
}

/// Opens the embedded store in a directory.
pub(crate) fn open_directory(path: &Path) -> anyhow::Result<Arc<dyn Store>> {
    own_files();
    let store =
        EmbeddedStore::open(path, Arc::new(SystemClock)).map_err(|source| StoreNotOpened {
            place: path.display().to_string(),
            source,
            remedy: DIRECTORY_REMEDY,
        })?;
    Ok(Arc::new(store))
}

/// Validated settings of a store that is not open yet.
pub(crate) enum StorageConfig {
    Directory(PathBuf),
    Database(Box<DatabaseConfig>),
}

pub(crate) struct DatabaseConfig {
    store: Options,
    bus: Options,
    /// The URL without its password.
    url: String,
    namespace: String,
}

impl StorageConfig {
    /// Chooses between the settings `store` and `data`, whichever takes precedence.
    pub(crate) fn new(config: &Config) -> anyhow::Result<Self> {
        match config.preferred("store", "data")? {
            Some("store") => Self::database(config, config.text("store").unwrap_or_default()),
            _ => Ok(Self::Directory(config.path("data").unwrap_or_default())),
        }
    }

    fn database(config: &Config, url: &str) -> anyhow::Result<Self> {
        let bus_url = config.text("store_hints").unwrap_or(url);
        Ok(Self::Database(Box::new(DatabaseConfig {
            store: database_options(config, url)?,
            bus: database_options(config, bus_url)?,
            url: without_password(url),
            namespace: config.text("namespace").unwrap_or_default().to_owned(),
        })))
    }

    /// Returns the configured roles. The only node of a directory must have all of them.
    pub(crate) fn roles(&self, config: &Config) -> anyhow::Result<Roles> {
        let names = config.list("roles");
        let roles: Result<Vec<Role>, _> = names.iter().map(|name| name.parse()).collect();
        let roles = Roles::from_iter(roles?);
        match self {
            Self::Directory(_) if roles != Roles::ALL => Err(UsageError::new(
                format!("a node on a directory needs all roles, not only {roles}"),
                "Remove `roles`, or use a database that several nodes share (--store).",
            )
            .into()),
            Self::Directory(_) | Self::Database(_) => Ok(roles),
        }
    }

    pub(crate) async fn open(self) -> anyhow::Result<Storage> {
        match self {
            Self::Directory(path) => Ok(Storage {
                store: open_directory(&path)?,
                bus: None,
                description: path.display().to_string(),
                flags: format!("--data {}", shell_word(&path.to_string_lossy())),
            }),
            Self::Database(database) => {
                let DatabaseConfig {
                    store,
                    bus,
                    url,
                    namespace,
                } = *database;
                let description = format!("{url}, namespace {namespace}");
                let store = PostgresStore::open(store)
                    .await
                    .map_err(|source| StoreNotOpened {
                        place: description.clone(),
                        source,
                        remedy: DATABASE_REMEDY,
                    })?;
                Ok(Storage {
                    store: Arc::new(store),
                    bus: Some(Arc::new(PostgresBus::open(bus)?)),
                    flags: format!(
                        "--store {} --namespace {}",
                        shell_word(&url),
                        shell_word(&namespace)
                    ),
                    description,
                })
            }
        }
    }
}

fn database_options(config: &Config, url: &str) -> anyhow::Result<Options> {
    let invalid = || format!("invalid database URL {}", without_password(url));
    let options = Options::new(url)
        .with_context(invalid)?
        .namespace(config.text("namespace").unwrap_or_default())?
        .allow_lossy(config.is_on("allow_lossy"))
        .connections(config.parsed("store_connections")?);
    Ok(match config.path("store_authority") {
        Some(file) => options.certificate_authority(file),
        None => options,
    })
}

/// An open store.
pub(crate) struct Storage {
    store: Arc<dyn Store>,
    /// Carries hints between the nodes of a shared store.
    bus: Option<Arc<dyn Bus>>,
    /// The store in a message.
    pub(crate) description: String,
    /// The flags that make another command use the same store.
    pub(crate) flags: String,
}

impl Storage {
    pub(crate) fn engine(&self, roles: Roles) -> EngineBuilder {
        let builder = Engine::on_store(self.store.clone()).roles(roles);
        match &self.bus {
            Some(bus) => builder.bus(bus.clone()),
            None => builder,
        }
    }
}
