//! The address of the database, and the options of the store.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use everstep_store::{Clock, StoreError};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::failure::unsafe_setting;

/// The default schema.
const NAMESPACE: &str = "everstep";
/// The maximal length of a namespace; the database truncates longer names.
const NAMESPACE_MAX: usize = 48;
/// The default number of connections for queries.
const CONNECTIONS: usize = 4;

/// Describes a PostgreSQL store before it is opened.
#[derive(Clone)]
pub struct Options {
    pub(crate) config: Config,
    pub(crate) namespace: String,
    pub(crate) allow_lossy: bool,
    pub(crate) connections: usize,
    pub(crate) authority: Option<PathBuf>,
    pub(crate) clock: Option<Arc<dyn Clock>>,
}

impl Options {
    /// Parses the address of a database: a URL
    /// (`postgres://user:password@host:port/database?sslmode=require`) or `key=value` pairs. Where
    /// TLS is used, the server's certificate and name are always checked, so `require` means the
    /// same as `verify-full`.
    ///
    /// # Errors
    /// If the address is invalid.
    pub fn new(url: &str) -> Result<Self, StoreError> {
        let mut config =
            Config::from_str(&known_modes(url)).map_err(|error| StoreError::Unavailable {
                // The error names the invalid part, never its value.
                detail: format!("the address of the database is invalid: {error}"),
            })?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(5));
        }
        if config.get_application_name().is_none() {
            config.application_name("everstep");
        }
        // Without these, a connection whose peer has vanished looks alive for hours.
        config.keepalives_idle(Duration::from_secs(10));
        config.keepalives_interval(Duration::from_secs(5));
        config.keepalives_retries(3);
        config.tcp_user_timeout(Duration::from_secs(25));
        if is_on_this_machine(&config) && config.get_ssl_mode() == SslMode::Prefer {
            config.ssl_mode(SslMode::Disable);
        }
        Ok(Self {
            config,
            namespace: NAMESPACE.to_owned(),
            allow_lossy: false,
            connections: CONNECTIONS,
            authority: None,
            clock: None,
        })
    }

    /// Sets the name of the schema. It separates this installation from others in the same
    /// database.
    ///
    /// # Errors
    /// If it is not 1 to 48 lowercase letters, digits and underscores, beginning with a letter, or
    /// if it is `public`, which contains objects of applications.
    pub fn namespace(mut self, namespace: &str) -> Result<Self, StoreError> {
        let is_letter = |c: char| c.is_ascii_lowercase();
        let is_legal = |c: char| is_letter(c) || c.is_ascii_digit() || c == '_';
        let begins = namespace.starts_with(is_letter) && !namespace.starts_with("pg_");
        if !begins || !namespace.chars().all(is_legal) || namespace.len() > NAMESPACE_MAX {
            return Err(unsafe_setting(
                &format!("namespace `{}`", namespace.escape_debug()),
                "use 1 to 48 small letters, digits and underscores, beginning with a letter and not with `pg_`",
            ));
        }
        // An upgrade replaces functions by name, and this schema may contain those of applications.
        if namespace == "public" {
            return Err(unsafe_setting(
                "namespace `public`",
                "use a schema that only Everstep uses, for example `everstep`",
            ));
        }
        namespace.clone_into(&mut self.namespace);
        Ok(self)
    }

    /// Accepts settings of the server under which acknowledged commits can be lost. For tests, and
    /// for data that may be lost.
    #[must_use]
    pub fn allow_lossy(mut self, allow: bool) -> Self {
        self.allow_lossy = allow;
        self
    }

    /// Sets how many connections queries may use. Commits use one or two others, and two more while
    /// they wait for locks.
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// Trusts the certificates in this file (PEM) instead of those that browsers trust.
    #[must_use]
    pub fn certificate_authority(mut self, file: impl Into<PathBuf>) -> Self {
        self.authority = Some(file.into());
        self
    }

    /// Judges leases by this clock instead of the database's. For tests.
    #[must_use]
    pub fn lease_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Whether the connection may be unencrypted and leave this machine.
    pub(crate) fn may_be_plain(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Require && !is_on_this_machine(&self.config)
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The configuration redacts the password, but the address is confidential as well.
        write!(f, "Options(namespace {})", self.namespace)
    }
}

/// Replaces the modes that the driver does not support by `require`, which is as strict here.
fn known_modes(url: &str) -> String {
    url.replace("sslmode=verify-full", "sslmode=require")
        .replace("sslmode=verify-ca", "sslmode=require")
}

fn is_on_this_machine(config: &Config) -> bool {
    let local = |host: &Host| match host {
        Host::Tcp(name) => name == "localhost" || name == "127.0.0.1" || name == "::1",
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(local)
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
