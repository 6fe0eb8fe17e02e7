//! Logs on stderr. They contain neither payloads nor keys.

use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::Config;

/// Whether each line of a server's output is an object.
pub(crate) fn logs_json(config: &Config) -> bool {
    config.text("log_format") == Some("json")
}

/// Enables the configured log level and format.
pub(crate) fn log_to_stderr(config: &Config) {
    let level = config.parsed("log").unwrap_or(LevelFilter::WARN);
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(false);
    // Hostile clients of HTTP/2 could fill the log.
    let own = || filter_fn(|metadata| !metadata.target().starts_with("h2::"));
    // Fails only if a subscriber is already installed.
    let _ = match logs_json(config) {
        true => {
            let subscriber = subscriber.json().flatten_event(true).finish();
            subscriber.with(own()).try_init()
        }
        false => subscriber.finish().with(own()).try_init(),
    };
}

/// Logs warnings and errors without timestamps, for commands that are not servers.
pub(crate) fn log_warnings() {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::WARN)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .without_time()
        .with_target(false);
    let _ = subscriber.try_init();
}
