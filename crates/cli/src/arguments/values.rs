//! Parsers of argument values. Their messages become usage errors that name the flag.

use std::time::SystemTime;

use everstep_model::{RunId, RunStatus, Timestamp, parse_duration};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::suggestion::similar;

/// Parses a duration. Returns its text, which the server parses in the same way.
pub(crate) fn duration(text: &str) -> Result<String, String> {
    match parse_duration(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err("use a duration such as 30s, 10m or 2h".to_owned()),
    }
}

/// Parses the ID of a run.
pub(crate) fn run_id(text: &str) -> Result<String, String> {
    match RunId::new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!("{}; an example is order-7", error.reason)),
    }
}

/// Parses the ID of a run, or of one of its generations, such as `order-7@1`.
pub(crate) fn run(text: &str) -> Result<String, String> {
    let id = match text.rsplit_once('@') {
        Some((id, generation)) if generation.parse::<u32>().is_ok_and(|it| it > 0) => id,
        _ => text,
    };
    run_id(id).map(|_| text.to_owned())
}

/// Parses a status or one of its aliases, in any case.
pub(crate) fn status(text: &str) -> Result<RunStatus, String> {
    text.parse().map_err(|_| {
        let words = RunStatus::ALL.iter().map(|status| status.as_str());
        let aliases = RunStatus::ALIASES.iter().map(|(alias, _)| *alias);
        let typed = text.to_lowercase();
        let meant = similar(&typed, words.clone().chain(aliases));
        let meant = meant.map(|word| format!("did you mean {word}? "));
        let words: Vec<&str> = words.collect();
        format!(
            "{}A status is {}",
            meant.unwrap_or_default(),
            words.join(", ")
        )
    })
}

/// Parses a time: how long ago, a local date or time, or an RFC 3339 time.
pub(crate) fn time(text: &str) -> Result<Timestamp, String> {
    if let Ok(ago) = parse_duration(text) {
        let time = SystemTime::now().checked_sub(ago);
        return Ok(time.unwrap_or(SystemTime::UNIX_EPOCH).into());
    }
    let local = || {
        text.parse::<DateTime>()
            .ok()?
            .to_zoned(TimeZone::system())
            .ok()
    };
    let time: Option<jiff::Timestamp> = text.parse().ok();
    let time = time.or_else(|| Some(local()?.timestamp()));
    let millis = time.and_then(|time| u64::try_from(time.as_millisecond()).ok());
    millis.map(Timestamp::from_millis).ok_or_else(|| {
        "use a time such as 2h (two hours ago), 2026-11-15 or 2026-11-15T08:00:00Z".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // B551
    #[test]
    fn a_status_is_accepted_in_any_case_and_by_its_aliases() {
        for (text, expected) in [
            ("failed", RunStatus::Failed),
            ("FAILED", RunStatus::Failed),
            ("Rolling_Back", RunStatus::RollingBack),
            ("rolling-back", RunStatus::RollingBack),
            ("Complete", RunStatus::Completed),
            ("errored", RunStatus::Failed),
        ] {
            assert_eq!(status(text), Ok(expected), "{text}");
        }
        let error = status("Fail").unwrap_err();
        assert!(error.starts_with("did you mean failed? "), "{error}");
        assert!(!status("bogus").unwrap_err().contains("did you mean"));
    }

    // B552
    #[test]
    fn a_time_is_relative_local_or_absolute() {
        let now: Timestamp = SystemTime::now().into();
        let hour_ago = time("1h").unwrap();
        let ago = hour_ago.until(now).as_secs();
        assert!((3_590..=3_600).contains(&ago), "{ago}");
        let noon = Ok("2026-11-15T12:00:00Z".parse().unwrap());
        for text in ["2026-11-15T12:00:00Z", "2026-11-15T14:00:00+02:00"] {
            assert_eq!(time(text), noon, "{text}");
        }
        let local = "2026-11-15T00:00:00".parse::<DateTime>().unwrap();
        let midnight = local.to_zoned(TimeZone::system()).unwrap();
        let midnight = u64::try_from(midnight.timestamp().as_millisecond()).unwrap();
        for text in ["2026-11-15", "2026-11-15T00:00", "2026-11-15 00:00:00"] {
            assert_eq!(time(text), Ok(Timestamp::from_millis(midnight)), "{text}");
        }
        for wrong in ["soon", "", "1969-01-01T00:00:00Z", "2026-13-01"] {
            assert!(time(wrong).unwrap_err().contains("such as 2h"), "{wrong}");
        }
    }

    // B552
    #[test]
    fn the_id_of_a_run_may_name_a_generation() {
        for text in ["order-7", "order-7@1", "order-7@12"] {
            assert_eq!(run(text).as_deref(), Ok(text));
        }
        for wrong in ["bad id", "order-7@0", "order-7@x", "@1", ".", ""] {
            assert!(run(wrong).unwrap_err().contains("an example is"), "{wrong}");
        }
        assert!(run_id("order-7@1").is_err());
    }
}
