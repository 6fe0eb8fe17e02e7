//! All settings. The setting `long_poll_timeout` is the flag `--long-poll-timeout` (of the commands
//! that use it), the variable `EVERSTEP_LONG_POLL_TIMEOUT` and the key `long_poll_timeout` of the
//! file.

use super::database_url::is_database_url;

/// Log levels, the least verbose first.
pub(crate) const LOG_LEVELS: &[&str] = &["error", "warn", "info", "debug", "trace"];
pub(crate) const LOG_FORMATS: &[&str] = &["text", "json"];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) default: Option<&'static str>,
    pub(crate) about: &'static str,
}

/// The type of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// A text that is never displayed.
    Secret,
    Flag,
    /// A positive integer.
    Count,
    /// Such as `30s`.
    Duration,
    /// Such as `127.0.0.1:4437`.
    Address,
    /// Texts separated by commas.
    List,
    /// Some of these words, separated by commas.
    Words(&'static [&'static str]),
    /// A database URL, which may contain a password.
    Database,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A number from 0 to 1.
    Ratio,
}

const fn setting(
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    about: &'static str,
) -> Setting {
    Setting {
        name,
        kind,
        default,
        about,
    }
}

pub(crate) const SETTINGS: &[Setting] = &[
    // Clients.
    setting(
        "server",
        Kind::Text,
        Some("http://localhost:4437"),
        "URL of the server",
    ),
    setting("key", Kind::Secret, None, "API key or run token"),
    setting(
        "root_certificate",
        Kind::Text,
        None,
        "file with root certificates (PEM) to trust in addition to the public ones",
    ),
    // Servers.
    setting(
        "listen",
        Kind::Address,
        Some("127.0.0.1:4437"),
        "address that `serve` listens on",
    ),
    setting(
        "data",
        Kind::Text,
        Some("./.everstep"),
        "directory of the embedded store, for a single node",
    ),
    setting(
        "store",
        Kind::Database,
        None,
        "PostgreSQL database, for any number of nodes",
    ),
    setting(
        "namespace",
        Kind::Text,
        Some("everstep"),
        "separates several installations in one database",
    ),
    setting(
        "roles",
        Kind::Words(&["api", "worker", "timers"]),
        Some("api,worker,timers"),
        "tasks of this node, if other nodes on the same database do the rest",
    ),
    setting(
        "allow_lossy",
        Kind::Flag,
        Some("false"),
        "whether to accept a database that can lose acknowledged commits",
    ),
    setting(
        "store_hints",
        Kind::Database,
        None,
        "direct URL of the database for LISTEN, if `store` is a connection pooler",
    ),
    setting(
        "store_connections",
        Kind::Count,
        Some("4"),
        "database connections for reads, in addition to four others",
    ),
    setting(
        "store_authority",
        Kind::Text,
        None,
        "root certificates (PEM) for the database, instead of the public ones",
    ),
    setting(
        "public_url",
        Kind::Text,
        None,
        "URL under which clients reach the server, if it differs from `Host`",
    ),
    setting(
        "behind_proxy",
        Kind::Flag,
        Some("false"),
        "whether a proxy terminates TLS for the server",
    ),
    setting(
        "tls_certificate",
        Kind::Text,
        None,
        "certificate chain of the server (PEM)",
    ),
    setting(
        "tls_key",
        Kind::Text,
        None,
        "private key of the certificate (PEM)",
    ),
    setting(
        "origins",
        Kind::List,
        None,
        "web origins that may read responses (CORS), such as https://app.example",
    ),
    // Observability.
    setting("log", Kind::OneOf(LOG_LEVELS), Some("warn"), "log level"),
    setting(
        "log_format",
        Kind::OneOf(LOG_FORMATS),
        Some("text"),
        "log format",
    ),
    setting(
        "otlp_endpoint",
        Kind::Text,
        None,
        "OpenTelemetry collector for traces of runs, such as http://localhost:4318",
    ),
    setting(
        "otlp_service",
        Kind::Text,
        Some("everstep"),
        "service name in traces",
    ),
    setting(
        "otlp_ratio",
        Kind::Ratio,
        Some("1"),
        "fraction of runs to trace",
    ),
    // Limits.
    setting(
        "long_poll_timeout",
        Kind::Duration,
        Some("30s"),
        "maximum duration of a long-poll",
    ),
    setting(
        "wait_max",
        Kind::Duration,
        Some("1m"),
        "maximum duration of a request with `wait` or `reply`",
    ),
    setting(
        "sse_lifetime",
        Kind::Duration,
        Some("1m"),
        "maximum duration of a server-sent event stream",
    ),
    setting(
        "body_bytes_max",
        Kind::Count,
        Some("10485760"),
        "maximum size of a request body",
    ),
    setting(
        "worker_body_bytes_max",
        Kind::Count,
        Some("268435456"),
        "maximum size of the body of a worker's request",
    ),
    setting(
        "body_timeout",
        Kind::Duration,
        Some("1m"),
        "maximum duration of receiving a request body",
    ),
    setting(
        "chunk_bytes",
        Kind::Count,
        Some("1048576"),
        "approximate maximum size of a response when reading streams",
    ),
    setting(
        "waiting_max",
        Kind::Count,
        Some("10000"),
        "maximum number of waiting requests",
    ),
    setting(
        "worker_time_to_live",
        Kind::Duration,
        Some("15s"),
        "time without a heartbeat after which a worker's runs go to other workers",
    ),
    setting(
        "worker_queue_max",
        Kind::Count,
        Some("10000"),
        "maximum number of runs that wait for a worker slot on this node",
    ),
    setting(
        "token_lifetime_max",
        Kind::Duration,
        Some("15m"),
        "maximum lifetime of a run token",
    ),
    setting(
        "connections_max",
        Kind::Count,
        Some("10000"),
        "maximum number of connections",
    ),
    setting(
        "head_timeout",
        Kind::Duration,
        Some("10s"),
        "maximum duration of receiving a request head",
    ),
    setting(
        "head_bytes_max",
        Kind::Count,
        Some("16384"),
        "maximum size of a request head, at least 8192",
    ),
    setting(
        "handshake_timeout",
        Kind::Duration,
        Some("10s"),
        "maximum duration of a TLS handshake",
    ),
    setting(
        "stall_timeout",
        Kind::Duration,
        Some("30s"),
        "time without progress after which a response is aborted",
    ),
    setting(
        "shutdown_grace",
        Kind::Duration,
        Some("10s"),
        "time for responses in flight when the server shuts down",
    ),
];

pub(crate) fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

impl Setting {
    /// The name of its environment variable.
    pub(crate) fn variable(&self) -> String {
        format!("EVERSTEP_{}", self.name.to_uppercase())
    }
}

impl Kind {
    /// Returns the rule that an invalid text violates.
    pub(crate) fn check(self, text: &str) -> Result<(), String> {
        let is_valid = match self {
            Self::Text | Self::Secret | Self::List => !text.is_empty(),
            Self::Flag => matches!(text, "true" | "false"),
            Self::Count => text.parse::<usize>().is_ok_and(|count| count > 0),
            Self::Duration => everstep_model::parse_duration(text).is_ok_and(|it| !it.is_zero()),
            Self::Address => text.parse::<std::net::SocketAddr>().is_ok(),
            Self::OneOf(words) => words.contains(&text),
            Self::Words(words) => {
                let mut given = text.split(',').map(str::trim);
                given.all(|word| words.contains(&word))
            }
            Self::Database => is_database_url(text),
            Self::Ratio => text.parse().is_ok_and(|it| (0.0..=1.0).contains(&it)),
        };
        if is_valid { Ok(()) } else { Err(self.rule()) }
    }

    fn rule(self) -> String {
        let rule = match self {
            Self::Text | Self::Secret | Self::List => "it must not be empty",
            Self::Flag => "it must be `true` or `false`",
            Self::Count => "it must be a positive integer",
            Self::Duration => "it must be a duration such as `30s`",
            Self::Address => "it must be an address such as `127.0.0.1:4437`",
            Self::Ratio => "it must be a number from 0 to 1",
            Self::Database => "it must be a URL such as `postgres://user@host:5432/database`",
            Self::Words(words) => return format!("it must be a list of {}", words.join(", ")),
            Self::OneOf(words) => return format!("it must be one of {}", words.join(", ")),
        };
        rule.to_owned()
    }
}

/// Returns the setting whose name is most similar, if one is close enough to be a typing mistake.
pub(crate) fn similar(name: &str) -> Option<&'static str> {
    const DISTANCE_MAX: usize = 3;
    let plain = name.to_lowercase().replace('-', "_");
    let distances = SETTINGS
        .iter()
        .map(|setting| (distance(&plain, setting.name), setting.name));
    let (least, name) = distances.min()?;
    let is_close = least <= DISTANCE_MAX && least < name.len().min(plain.len());
    is_close.then_some(name)
}

/// The Levenshtein distance: the number of characters to add, remove or replace.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for ((right, replaced), removed) in b.chars().zip(&row).zip(row.iter().skip(1)) {
            let added = next.last().copied().unwrap_or(0) + 1;
            let replaced = replaced + usize::from(left != right);
            next.push(added.min(replaced).min(removed + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_valid() {
        for setting in SETTINGS {
            let default = setting.default.map(|text| setting.kind.check(text));
            assert_ne!(
                default.map(|it| it.is_err()),
                Some(true),
                "{}",
                setting.name
            );
        }
    }

    #[test]
    fn a_mistyped_name_leads_to_the_intended_one() {
        for (written, meant) in [
            ("lisen", Some("listen")),
            ("long-poll-timeout", Some("long_poll_timeout")),
            ("bodytimeout", Some("body_timeout")),
            ("colour_of_the_bikeshed", None),
            ("x", None),
        ] {
            assert_eq!(similar(written), meant, "{written}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}
