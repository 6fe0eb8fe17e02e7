//! All settings. The setting `long_poll_timeout` is the flag `--long-poll-timeout` (of the commands
//! that use it), the variable `EVERSTEP_LONG_POLL_TIMEOUT` and the key `long_poll_timeout` of the
//! file.

use std::net::SocketAddr;

use everstep::{Retention, RunStatus};
use everstep_model::parse_duration;
use http::uri::Authority;

use super::database_url::is_database_url;
use crate::suggestion;

/// Log levels, the least verbose first.
pub(crate) const LOG_LEVELS: &[&str] = &["error", "warn", "info", "debug", "trace"];
pub(crate) const LOG_FORMATS: &[&str] = &["text", "json"];
const ROLES: &[&str] = &["api", "worker", "timers"];
const FEEDS: &[&str] = &["records", "failures", "emits"];

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
    /// A path, which may not be UTF-8.
    Path,
    /// A text that is never displayed.
    Secret,
    Flag,
    /// A positive integer.
    Count,
    /// Such as `30s`.
    Duration,
    /// Such as `127.0.0.1:4437`.
    Address,
    /// Web origins such as `https://app.example`, separated by commas.
    Origins,
    /// Web addresses such as `https://ops.example/hook`, separated by commas.
    Urls,
    /// Some of these words, separated by commas.
    Words(&'static [&'static str]),
    /// A database URL, which may contain a password.
    Database,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A number from 0 to 1.
    Ratio,
    /// Final statuses and how long runs with them are kept, such as `completed=30d`, separated by
    /// commas.
    Retention,
}

/// One row per setting: `name: kind = default, description`.
macro_rules! settings {
    ($($name:ident: $kind:ident $(($words:expr))? $(= $default:literal)?, $about:literal;)*) => {
        pub(crate) const SETTINGS: &[Setting] = &[$(Setting {
            name: stringify!($name),
            kind: Kind::$kind $(($words))?,
            default: settings!(@default $($default)?),
            about: $about,
        }),*];
    };
    (@default) => { None };
    (@default $text:literal) => { Some($text) };
}

settings! {
    // Clients.
    server: Text = "http://localhost:4437", "URL of the server";
    key: Secret, "API key or run token";
    allow_http: Flag = "false", "whether to send the key to other machines over plain http";
    root_certificate: Path, "file with root certificates (PEM) to trust in addition to the public ones";
    // Servers.
    listen: Address = "127.0.0.1:4437", "address that `serve` listens on";
    data: Path = "./.everstep", "directory of the embedded store, for a single node";
    store: Database, "PostgreSQL database, for any number of nodes";
    namespace: Text = "everstep", "separates several installations in one database";
    roles: Words(ROLES) = "api,worker,timers", "roles of this node; the other nodes on the same database need the rest";
    allow_lossy: Flag = "false", "whether to accept a database that can lose acknowledged commits";
    store_hints: Database, "direct URL of the database for LISTEN, if `store` is a connection pooler";
    store_connections: Count = "4", "database connections for reads, in addition to four others";
    store_authority: Path, "root certificates (PEM) for the database, instead of the public ones";
    public_url: Text, "URL under which clients reach the server, if it differs from `Host`";
    behind_proxy: Flag = "false", "whether a proxy terminates TLS for the server";
    tls_certificate: Path, "certificate chain of the server (PEM)";
    tls_key: Path, "private key of the certificate (PEM)";
    origins: Origins, "web origins that may read responses (CORS), such as https://app.example";
    // Observability.
    log: OneOf(LOG_LEVELS) = "warn", "log level";
    log_format: OneOf(LOG_FORMATS) = "text", "log format";
    otlp_endpoint: Text, "OpenTelemetry collector for traces of runs, such as http://localhost:4318";
    otlp_service: Text = "everstep", "service name in traces";
    otlp_ratio: Ratio = "1", "fraction of runs to trace";
    feeds: Words(FEEDS) = "failures,emits", "feeds of the records of all runs: records, failures, emits; the same on all nodes";
    failure_webhooks: Urls, "webhooks that are called for failures, such as https://ops.example/hook";
    // Runs.
    retention: Retention, "how long finished runs are kept, by status, such as completed=30d,failed=1y; the others forever";
    retention_interval: Duration = "1h", "interval at which runs whose retention has expired are deleted";
    hot_runs_max: Count = "10000", "maximum number of suspended runs in memory";
    hot_idle_max: Duration = "1m", "how long a suspended run stays in memory";
    lease_ttl: Duration = "10s", "time without a sign of life after which other nodes take over the runs of a node, at least 1s";
    sweep_interval: Duration = "30s", "interval of the search for runs that are ready and are not executed";
    timer_horizon: Duration = "1m", "timers due within this time are kept in memory";
    timers_in_memory_max: Count = "100000", "maximum number of timers in memory";
    journal_records_warn: Count = "50000", "number of records above which a journal causes a warning";
    feed_records_max: Count = "1000000", "approximate number of records that a feed keeps";
    // Limits.
    long_poll_timeout: Duration = "30s", "maximum duration of a long-poll";
    wait_max: Duration = "1m", "maximum duration of a request with `wait` or `reply`";
    sse_lifetime: Duration = "1m", "maximum duration of a server-sent event stream";
    body_bytes_max: Count = "10485760", "maximum size of a request body";
    worker_body_bytes_max: Count = "268435456", "maximum size of the body of a worker's request";
    import_bytes_max: Count = "268435456", "maximum size of an imported journal as JSON lines";
    requests_bytes_max: Count = "67108864", "maximum size of all request bodies in memory";
    responses_bytes_max: Count = "268435456", "maximum size of all large responses that are not sent yet";
    body_timeout: Duration = "1m", "maximum duration of receiving a request body";
    chunk_bytes: Count = "1048576", "approximate maximum size of a response when reading streams";
    journal_bytes_max: Count, "approximate size of a journal above which a run is paused; by default a quarter of the memory, at most 1 GiB";
    waiting_max: Count = "10000", "maximum number of waiting requests";
    worker_time_to_live: Duration = "15s", "time without a heartbeat after which a worker's runs go to other workers";
    worker_queue_max: Count = "10000", "maximum number of runs that wait for a worker slot on this node";
    token_lifetime_max: Duration = "15m", "maximum lifetime of a run token";
    connections_max: Count = "10000", "maximum number of connections";
    head_timeout: Duration = "10s", "maximum duration of receiving a request head";
    head_bytes_max: Count = "16384", "maximum size of a request head, at least 8192";
    handshake_timeout: Duration = "10s", "maximum duration of a TLS handshake";
    stall_timeout: Duration = "30s", "time without progress after which a response is aborted";
    shutdown_grace: Duration = "10s", "time for responses in flight, and then for running steps, when the server shuts down";
}

pub(crate) fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

impl Kind {
    /// Returns the rule that an invalid text violates.
    pub(crate) fn check(self, text: &str) -> Result<(), String> {
        let (is_valid, rule) = match self {
            Self::Text | Self::Path | Self::Secret => (!text.is_empty(), "it must not be empty"),
            Self::Origins => {
                let rule = "it must be a list of origins such as `https://app.example`";
                (text.split(',').all(|it| is_origin(it.trim())), rule)
            }
            Self::Urls => {
                // The server checks each URL when it starts.
                let rule = "it must be a list of URLs such as `https://ops.example/hook`";
                (text.split(',').all(|it| !it.trim().is_empty()), rule)
            }
            Self::Flag => (
                matches!(text, "true" | "false"),
                "it must be `true` or `false`",
            ),
            Self::Count => {
                let is_positive = text.parse::<usize>().is_ok_and(|count| count > 0);
                (is_positive, "it must be a positive integer")
            }
            Self::Duration => {
                let is_positive = parse_duration(text).is_ok_and(|it| !it.is_zero());
                (is_positive, "it must be a duration such as `30s`")
            }
            Self::Address => {
                let is_address = text.parse::<SocketAddr>().is_ok();
                (is_address, "it must be an address such as `127.0.0.1:4437`")
            }
            Self::Ratio => {
                let is_ratio = text.parse().is_ok_and(|it| (0.0..=1.0).contains(&it));
                (is_ratio, "it must be a number from 0 to 1")
            }
            Self::Retention => {
                let rule = "it must be a list of final statuses and durations such as \
                            `completed=30d,failed=1y`";
                (parse_retention(text).is_some(), rule)
            }
            Self::Database => {
                let rule = "it must be a URL such as `postgres://user@host:5432/database`";
                (is_database_url(text), rule)
            }
            Self::OneOf(words) if words.contains(&text) => return Ok(()),
            Self::OneOf(words) => return Err(format!("it must be one of {}", words.join(", "))),
            Self::Words(words) if text.split(',').all(|it| words.contains(&it.trim())) => {
                return Ok(());
            }
            Self::Words(words) => return Err(format!("it must be a list of {}", words.join(", "))),
        };
        if is_valid {
            Ok(())
        } else {
            Err(rule.to_owned())
        }
    }
}

/// Parses final statuses and durations such as `completed=30d,failed=1y`.
pub(crate) fn parse_retention(text: &str) -> Option<Retention> {
    let mut retention = Retention::forever();
    for item in text.split(',') {
        let (status, age) = item.split_once('=')?;
        let status: RunStatus = status.trim().parse().ok()?;
        let age = parse_duration(age.trim()).ok()?;
        if !status.is_terminal() || retention.period(status).is_some() {
            return None;
        }
        retention = retention.keep(status, age);
    }
    Some(retention)
}

/// Whether a browser could send this text in the header `Origin`: a scheme, a host and perhaps a
/// port.
fn is_origin(text: &str) -> bool {
    let rest = text.strip_prefix("https://");
    let Some(host) = rest.or_else(|| text.strip_prefix("http://")) else {
        return false;
    };
    let authority: Result<Authority, _> = host.parse();
    let is_authority = authority.is_ok_and(|it| it.as_str() == host && !it.host().is_empty());
    // Browsers write hosts in lower case, and the comparison is exact.
    is_authority && !host.contains('@') && host == host.to_lowercase()
}

/// Returns the setting that a mistyped name means.
pub(crate) fn similar(name: &str) -> Option<&'static str> {
    let plain = name.to_lowercase().replace('-', "_");
    suggestion::similar(&plain, SETTINGS.iter().map(|setting| setting.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_valid() {
        for setting in SETTINGS {
            let rule = setting
                .default
                .map_or(Ok(()), |text| setting.kind.check(text));
            assert_eq!(rule, Ok(()), "{}", setting.name);
        }
    }

    #[test]
    fn a_retention_names_final_statuses_once() {
        for valid in [
            "completed=30d",
            "completed=1h, Failed = 1y,rollback-failed=2 days",
            "cancelled=0s",
        ] {
            assert_eq!(Kind::Retention.check(valid), Ok(()), "{valid}");
        }
        for invalid in [
            "",
            "30d",
            "completed",
            "completed=",
            "completed=soon",
            "finished=1d",
            "running=1d",
            "completed=1d,completed=2d",
            "completed=1d,",
        ] {
            assert!(Kind::Retention.check(invalid).is_err(), "{invalid}");
        }
    }

    // B560
    #[test]
    fn an_origin_is_a_scheme_and_a_host() {
        for valid in [
            "https://app.example",
            "http://localhost:3000",
            "https://a.example,http://[::1]:8080, https://b.example",
        ] {
            assert_eq!(Kind::Origins.check(valid), Ok(()), "{valid}");
        }
        for invalid in [
            "notanorigin",
            "app.example",
            "https://",
            "https://app.example/",
            "https://app.example/path",
            "https://App.example",
            "https://user@app.example",
            "https://a.example,",
            "ftp://a.example",
            "*",
        ] {
            assert!(Kind::Origins.check(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn a_mistyped_name_leads_to_the_intended_one() {
        for (written, meant) in [
            ("lisen", Some("listen")),
            ("long-poll-timeout", Some("long_poll_timeout")),
            ("bodytimeout", Some("body_timeout")),
            ("log_level", Some("log")),
            ("colour_of_the_bikeshed", None),
            ("x", None),
        ] {
            assert_eq!(similar(written), meant, "{written}");
        }
    }
}
