//! What a server says beside its answers: lines on stderr, for people or for machines. They hold neither payloads nor keys.

use tracing_subscriber::filter::LevelFilter;

use crate::config::Config;

/// How much can be said, the least first.
pub(crate) const LEVELS: &[&str] = &["error", "warn", "info", "debug", "trace"];
/// How it can be said.
pub(crate) const FORMATS: &[&str] = &["text", "json"];

/// Says from now on what is set to be said.
pub(crate) fn show(config: &Config) {
    let level = match config.text("log") {
        Some("error") => LevelFilter::ERROR,
        Some("info") => LevelFilter::INFO,
        Some("debug") => LevelFilter::DEBUG,
        Some("trace") => LevelFilter::TRACE,
        _ => LevelFilter::WARN,
    };
    let lines = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(false);
    // Only a second subscriber could fail here, and there is none.
    let _ = match config.text("log_format") {
        Some("json") => lines.json().flatten_event(true).try_init(),
        _ => lines.try_init(),
    };
}
