//! Everything that can be set. A setting `long_poll_timeout` is the flag `--long-poll-timeout`, the variable
//! `EVERSTEP_LONG_POLL_TIMEOUT` and the key `long_poll_timeout` of the file, wherever it makes sense.

use super::database_url::is_database;
use crate::serving::{FORMATS, LEVELS};

/// One thing that can be set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// What holds if nobody says anything; nothing if there is none.
    pub(crate) default: Option<&'static str>,
    pub(crate) about: &'static str,
}

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// A text that is shown to nobody.
    Secret,
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Count,
    /// Such as `30s`.
    Duration,
    /// Such as `127.0.0.1:4437`.
    Address,
    /// Texts with commas between them.
    List,
    /// Some of these words, with commas between them.
    Words(&'static [&'static str]),
    /// The address of a database, which may hold a password.
    Database,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A part of a whole, from 0 to 1.
    Share,
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
    // For whoever speaks to a server.
    setting(
        "server",
        Kind::Text,
        Some("http://localhost:4437"),
        "the server that commands speak to",
    ),
    setting(
        "key",
        Kind::Secret,
        None,
        "the key or run token that commands show it",
    ),
    setting(
        "root_certificate",
        Kind::Text,
        None,
        "a file with root certificates (PEM) that are believed besides the public ones",
    ),
    // For whoever serves.
    setting(
        "listen",
        Kind::Address,
        Some("127.0.0.1:4437"),
        "where `serve` listens",
    ),
    setting(
        "data",
        Kind::Text,
        Some("./.everstep"),
        "the directory that keeps everything, for one node",
    ),
    setting(
        "store",
        Kind::Database,
        None,
        "the PostgreSQL database that keeps everything, for any number of nodes",
    ),
    setting(
        "namespace",
        Kind::Text,
        Some("everstep"),
        "keeps several installations in one database apart",
    ),
    setting(
        "roles",
        Kind::Words(&["api", "worker", "timers"]),
        Some("api,worker,timers"),
        "what this node does, if others that share its database do the rest",
    ),
    setting(
        "allow_lossy",
        Kind::Flag,
        Some("false"),
        "whether a database may be used that can lose what it acknowledged",
    ),
    setting(
        "store_hints",
        Kind::Database,
        None,
        "the same database for LISTEN, where `store` leads through a pooler",
    ),
    setting(
        "store_connections",
        Kind::Count,
        Some("4"),
        "connections that reading may use, besides four",
    ),
    setting(
        "store_authority",
        Kind::Text,
        None,
        "certificates (PEM) to judge the database's by, instead of the public ones",
    ),
    setting(
        "public_url",
        Kind::Text,
        None,
        "how clients call the server, where that is not what they say in `Host`",
    ),
    setting(
        "behind_proxy",
        Kind::Flag,
        Some("false"),
        "whether a proxy in front of the server speaks TLS for it",
    ),
    setting(
        "tls_certificate",
        Kind::Text,
        None,
        "the server's certificate chain (PEM)",
    ),
    setting(
        "tls_key",
        Kind::Text,
        None,
        "the private key of the certificate (PEM)",
    ),
    setting(
        "origins",
        Kind::List,
        None,
        "web pages that may read answers, such as https://app.example",
    ),
    // What operators see.
    setting(
        "log",
        Kind::OneOf(LEVELS),
        Some("warn"),
        "how much a server says beside its answers",
    ),
    setting(
        "log_format",
        Kind::OneOf(FORMATS),
        Some("text"),
        "how it says that",
    ),
    setting(
        "otlp_endpoint",
        Kind::Text,
        None,
        "the OpenTelemetry collector that is told of runs, such as http://localhost:4318",
    ),
    setting(
        "otlp_service",
        Kind::Text,
        Some("everstep"),
        "what the service is called there",
    ),
    setting(
        "otlp_ratio",
        Kind::Share,
        Some("1"),
        "the share of runs that is told of",
    ),
    // Limits.
    setting(
        "long_poll_timeout",
        Kind::Duration,
        Some("30s"),
        "how long a long-poll waits",
    ),
    setting(
        "wait_max",
        Kind::Duration,
        Some("1m"),
        "how long a request with `wait` or `reply` may be held",
    ),
    setting(
        "sse_lifetime",
        Kind::Duration,
        Some("1m"),
        "how long an event stream stays open",
    ),
    setting(
        "body_bytes_max",
        Kind::Count,
        Some("10485760"),
        "bytes of a request's body",
    ),
    setting(
        "worker_body_bytes_max",
        Kind::Count,
        Some("268435456"),
        "bytes of the body of a worker's request",
    ),
    setting(
        "body_timeout",
        Kind::Duration,
        Some("1m"),
        "how long a body may take to arrive",
    ),
    setting(
        "chunk_bytes",
        Kind::Count,
        Some("1048576"),
        "about how many bytes an answer holds",
    ),
    setting(
        "waiting_max",
        Kind::Count,
        Some("10000"),
        "requests that may wait at once",
    ),
    setting(
        "worker_time_to_live",
        Kind::Duration,
        Some("15s"),
        "how long a worker may be silent before its runs go to others",
    ),
    setting(
        "worker_queue_max",
        Kind::Count,
        Some("10000"),
        "runs that may wait here for a slot of a worker; more are left to other nodes",
    ),
    setting(
        "token_lifetime_max",
        Kind::Duration,
        Some("15m"),
        "how long a run token may live",
    ),
    setting(
        "connections_max",
        Kind::Count,
        Some("10000"),
        "connections at once",
    ),
    setting(
        "head_timeout",
        Kind::Duration,
        Some("10s"),
        "how long a request's head may take",
    ),
    setting(
        "head_bytes_max",
        Kind::Count,
        Some("16384"),
        "bytes of a request's head, 8192 at the least",
    ),
    setting(
        "handshake_timeout",
        Kind::Duration,
        Some("10s"),
        "how long TLS may take to begin",
    ),
    setting(
        "stall_timeout",
        Kind::Duration,
        Some("30s"),
        "how long a client may read nothing of its answer",
    ),
    setting(
        "shutdown_grace",
        Kind::Duration,
        Some("10s"),
        "how long answers under way may take when the server ends",
    ),
];

/// The setting of that name.
pub(crate) fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

impl Setting {
    /// The variable that sets it.
    pub(crate) fn variable(&self) -> String {
        format!("EVERSTEP_{}", self.name.to_uppercase())
    }
}

impl Kind {
    /// What is wrong with a text that should be of this kind.
    pub(crate) fn check(self, text: &str) -> Result<(), String> {
        let fits = match self {
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
            Self::Database => is_database(text),
            Self::Share => text.parse().is_ok_and(|it| (0.0..=1.0).contains(&it)),
        };
        if fits { Ok(()) } else { Err(self.rule()) }
    }

    /// What a text of this kind is, for who wrote another.
    fn rule(self) -> String {
        let rule = match self {
            Self::Text | Self::Secret | Self::List => "it is empty",
            Self::Flag => "it is `true` or `false`",
            Self::Count => "it is a whole number from 1",
            Self::Duration => "it is a duration such as `30s`",
            Self::Address => "it is an address such as `127.0.0.1:4437`",
            Self::Share => "it is a number from 0 to 1",
            Self::Database => "it is an address such as `postgres://user@host:5432/database`",
            Self::Words(words) => return format!("it is made of {}", words.join(", ")),
            Self::OneOf(words) => return format!("it is one of {}", words.join(", ")),
        };
        rule.to_owned()
    }
}

/// The name that somebody meant, if one is close to what they wrote.
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

/// How many characters are to be added, removed or replaced.
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
    fn every_default_is_what_its_setting_takes() {
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
    fn a_name_that_is_almost_right_leads_to_the_right_one() {
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
