//! Converts settings to those of the engine, which have the same names.

use std::time::Duration;

use everstep::{RecordFeed, Retention, Settings};

use super::memory::journal_bytes_max;
use crate::config::{Config, parse_retention};
use crate::usage_error::UsageError;

/// A shorter lease could expire while its node is busy.
const LEASE_TTL_MIN: Duration = Duration::from_secs(1);

pub(crate) fn engine_settings(config: &Config) -> anyhow::Result<Settings> {
    let mut settings = Settings::default();
    copy_settings!(config to settings,
        duration: retention_interval, hot_idle_max, lease_ttl, sweep_interval, timer_horizon, shutdown_grace;
        parsed: hot_runs_max, timers_in_memory_max, journal_records_warn, feed_records_max;
    );
    if settings.lease_ttl < LEASE_TTL_MIN {
        return Err(UsageError::new(
            "`lease_ttl` is shorter than a second",
            "A node that is busy for longer than its lease loses its runs to other nodes.",
        )
        .into());
    }
    settings.journal_bytes_max = journal_bytes_max(config)?;
    settings.feeds = feeds(config);
    let retention = config.text("retention").and_then(parse_retention);
    settings.retention = retention.unwrap_or_else(Retention::forever);
    Ok(settings)
}

/// Returns the feeds that the engine writes.
pub(super) fn feeds(config: &Config) -> Vec<RecordFeed> {
    let words = config.list("feeds");
    words
        .iter()
        .filter_map(|word| RecordFeed::parse(word))
        .collect()
}

#[cfg(test)]
mod tests {
    use everstep::RunStatus;

    use super::super::memory::default_journal_bytes_max;
    use super::*;
    use crate::config::Environment;

    fn settings(variables: &[(&str, &str)]) -> anyhow::Result<Settings> {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).into()));
        let environment = Environment {
            variables: variables.collect(),
            file: None,
        };
        engine_settings(&Config::resolve(Vec::new(), &environment)?)
    }

    // B803
    #[test]
    fn the_defaults_are_those_of_the_engine_with_the_small_feeds() {
        let with_feeds = Settings {
            feeds: vec![RecordFeed::Failures, RecordFeed::Emits],
            journal_bytes_max: default_journal_bytes_max(),
            ..Settings::default()
        };
        let found = settings(&[]).unwrap();
        assert_eq!(format!("{found:?}"), format!("{with_feeds:?}"));
    }

    // B803
    #[test]
    fn settings_of_the_engine_have_the_names_of_its_fields() {
        let found = settings(&[
            ("EVERSTEP_RETENTION", "completed=30d"),
            ("EVERSTEP_HOT_RUNS_MAX", "7"),
            ("EVERSTEP_LEASE_TTL", "20s"),
            ("EVERSTEP_JOURNAL_RECORDS_WARN", "500"),
        ])
        .unwrap();
        let month = Duration::from_secs(30 * 86_400);
        assert_eq!(found.retention.period(RunStatus::Completed), Some(month));
        assert_eq!(found.retention.period(RunStatus::Failed), None);
        assert_eq!(found.hot_runs_max, 7);
        assert_eq!(found.lease_ttl, Duration::from_secs(20));
        assert_eq!(found.journal_records_warn, 500);
        assert!(settings(&[("EVERSTEP_LEASE_TTL", "900ms")]).is_err());
    }
}
