//! The address of the database, and how it is used.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use everstep_store::{Clock, StoreError};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::failure::unsafe_setting;

/// The schema of an installation that has no name of its own.
const NAMESPACE: &str = "everstep";
/// Letters of a namespace; the database cuts longer names.
const NAMESPACE_MAX: usize = 48;
/// Connections for reading.
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
    /// The database at this URL (`postgres://user:password@host:port/database?sslmode=require`), or
    /// at these `key=value` pairs. Where TLS is used, the server's certificate and name are always
    /// checked, so `require` is as strict as `verify-full`, which means the same here.
    ///
    /// # Errors
    /// If it is neither.
    pub fn new(url: &str) -> Result<Self, StoreError> {
        let mut config =
            Config::from_str(&known_modes(url)).map_err(|error| StoreError::Unavailable {
                // Its source names the part that is wrong, never its value.
                detail: format!("the address of the database cannot be understood: {error}"),
            })?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(5));
        }
        if config.get_application_name().is_none() {
            config.application_name("everstep");
        }
        // Without them a connection whose other end has vanished looks alive for hours.
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

    /// Keeps this installation apart from others in the same database: the name of its schema.
    ///
    /// # Errors
    /// If it is not 1 to 48 small letters, digits and underscores, beginning with a letter, or if it
    /// is `public`, which holds objects of others.
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
        // An upgrade replaces functions by their names, and this schema holds those of applications.
        if namespace == "public" {
            return Err(unsafe_setting(
                "namespace `public`",
                "use a schema that only Everstep uses, for example `everstep`",
            ));
        }
        namespace.clone_into(&mut self.namespace);
        Ok(self)
    }

    /// Takes settings of the server under which acknowledged commits can be lost. For tests, and
    /// for what may be lost.
    #[must_use]
    pub fn allow_lossy(mut self, allow: bool) -> Self {
        self.allow_lossy = allow;
        self
    }

    /// How many connections queries may use. Commits use one or two others, and two more while
    /// they wait for locks.
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// A file of certificates (PEM) by which the server's is judged, instead of those that browsers
    /// trust.
    #[must_use]
    pub fn certificate_authority(mut self, file: impl Into<PathBuf>) -> Self {
        self.authority = Some(file.into());
        self
    }

    /// Judges leases by this clock instead of the database's. For tests, whose time is not the
    /// database's.
    #[must_use]
    pub fn lease_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Whether what is sent can be read on its way by others.
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

/// The same address in the words of the driver, which knows no stricter mode than `require`.
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
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_a_plain_name() {
        let options = Options::new("postgres://a:secret@db.example/x").unwrap();
        for good in ["a", "team_2", "everstep"] {
            assert!(options.clone().namespace(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "A",
            "a b",
            "a\"; drop",
            "pg_x",
            "2a",
            "ä",
            &"a".repeat(49),
        ] {
            let refused = options.clone().namespace(bad).unwrap_err();
            assert_eq!(refused.code(), everstep_model::ErrorCode::StoreUnsafe);
        }
        assert!(!format!("{options:?}").contains("secret"));
    }

    #[test]
    fn only_a_server_elsewhere_may_be_overheard() {
        let plain = |url: &str| Options::new(url).unwrap().may_be_plain();
        assert!(!plain("postgres://localhost/x"));
        for mode in ["require", "verify-ca", "verify-full"] {
            assert!(!plain(&format!("postgres://db.example/x?sslmode={mode}")));
            assert!(!plain(&format!("host=db.example sslmode={mode}")));
        }
        assert!(plain("postgres://db.example/x"));
    }

    #[test]
    fn an_address_that_is_none_is_refused_without_showing_it() {
        let refused = Options::new("postgres://user:secret@:nonsense").unwrap_err();
        assert!(!refused.to_string().contains("secret"), "{refused}");
    }
}
