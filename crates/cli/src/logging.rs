//! What the engine and the server have to say beside their answers goes to stderr: as text, or as JSON for collectors. Lines
//! name runs, streams and codes, and hold neither payloads nor keys.

use tracing_subscriber::filter::LevelFilter;

use crate::config::Config;

/// For commands that are over soon: only what went wrong.
pub(crate) fn warnings() {
    plain(LevelFilter::WARN);
}

/// For servers: what the settings say.
pub(crate) fn of(config: &Config) {
    let level = match config.text("log_level") {
        Some("error") => LevelFilter::ERROR,
        Some("info") => LevelFilter::INFO,
        Some("debug") => LevelFilter::DEBUG,
        _ => LevelFilter::WARN,
    };
    match config.text("log_format") {
        Some("json") => {
            let subscriber = tracing_subscriber::fmt()
                .json()
                .with_max_level(level)
                .with_writer(std::io::stderr);
            // Only a second subscriber could fail here, and there is none.
            let _ = subscriber.try_init();
        }
        _ => plain(level),
    }
}

fn plain(level: LevelFilter) {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .without_time()
        .with_target(false);
    // Only a second subscriber could fail here, and there is none.
    let _ = subscriber.try_init();
}
