//! Texts as people read them: safe for a terminal, short, and times as one would say them.

use std::time::Duration;

use everstep_model::Timestamp;

/// Payloads are shown up to this many characters.
const CHARS_MAX: usize = 96;

/// A text without what a terminal would obey: control characters are shown, not sent.
pub(crate) fn clean(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    let clean = text.chars().map(|c| match c {
        '\n' | '\r' | '\t' => " ".to_owned(),
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    });
    clean.collect()
}

/// The start of a text, on one line.
pub(crate) fn short(text: &str) -> String {
    let text = clean(text);
    if text.chars().count() <= CHARS_MAX {
        return text;
    }
    let start: String = text.chars().take(CHARS_MAX).collect();
    format!("{start}…")
}

/// A duration as people say it.
pub(crate) fn lasting(duration: Duration) -> String {
    let millis = duration.as_millis();
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", duration.as_secs_f64()),
        60_000..3_600_000 => format!("{} min", millis / 60_000),
        3_600_000..86_400_000 => format!("{} h", millis / 3_600_000),
        _ => format!("{} days", millis / 86_400_000),
    }
}

/// How long ago something was.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    match now.until(then).is_zero() {
        true => format!("{} ago", lasting(then.until(now))),
        false => format!("in {}", lasting(now.until(then))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_instead() {
        assert_eq!(clean("a\x1b[31mb\nc"), "a\\u{1b}[31mb c");
        assert_eq!(clean("plain ü"), "plain ü");
        assert_eq!(short(&"x".repeat(200)).chars().count(), CHARS_MAX + 1);
    }

    #[test]
    fn times_are_said_as_people_do() {
        let at = Timestamp::from_millis;
        assert_eq!(ago(at(0), at(1_500)), "1.5 s ago");
        assert_eq!(ago(at(7_200_000), at(0)), "in 2 h");
        assert_eq!(lasting(Duration::from_secs(3 * 86_400)), "3 days");
    }
}
