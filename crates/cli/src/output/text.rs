//! Formats text and times for a terminal.

use std::time::Duration;

use everstep_model::Timestamp;

/// Payloads are truncated to this many characters.
const CHARS_MAX: usize = 96;

/// Escapes control characters and bidirectional controls, so that user input can neither control
/// the terminal nor change the order of the characters around it.
pub(crate) fn escape_controls(text: &str) -> String {
    if !text.chars().any(is_unsafe) {
        return text.to_owned();
    }
    let escaped = text.chars().map(|c| match c {
        '\n' | '\r' | '\t' => " ".to_owned(),
        c if is_unsafe(c) => c.escape_default().to_string(),
        c => c.to_string(),
    });
    escaped.collect()
}

fn is_unsafe(c: char) -> bool {
    let is_bidirectional = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    is_bidirectional || c.is_control()
}

/// Returns the beginning of a text, on one line.
pub(crate) fn truncate(text: &str) -> String {
    let text = escape_controls(text);
    if text.chars().count() <= CHARS_MAX {
        return text;
    }
    let start: String = text.chars().take(CHARS_MAX).collect();
    format!("{start}…")
}

/// Quotes a word for a POSIX shell if necessary.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@,=+%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

pub(crate) fn format_duration(duration: Duration) -> String {
    let millis = duration.as_millis();
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", duration.as_secs_f64()),
        60_000..3_600_000 => format!("{} min", millis / 60_000),
        3_600_000..86_400_000 => format!("{} h", millis / 3_600_000),
        _ => format!("{} days", millis / 86_400_000),
    }
}

/// Formats a time relative to now, such as `2 h ago` or `in 5 min`.
pub(crate) fn relative_time(then: Timestamp, now: Timestamp) -> String {
    match now.until(then).is_zero() {
        true => format!("{} ago", format_duration(then.until(now))),
        false => format!("in {}", format_duration(now.until(then))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escape_controls("a\x1b[31mb\nc"), "a\\u{1b}[31mb c");
        assert_eq!(escape_controls("plain ü"), "plain ü");
        assert_eq!(truncate(&"x".repeat(200)).chars().count(), CHARS_MAX + 1);
    }

    // B300
    #[test]
    fn bidirectional_controls_are_escaped() {
        let single = ['\u{61c}', '\u{200e}', '\u{200f}'].into_iter();
        let controls = single.chain('\u{202a}'..='\u{202e}');
        for control in controls.chain('\u{2066}'..='\u{2069}') {
            let code = u32::from(control);
            let expected = format!("pay \\u{{{code:x}}}x");
            assert_eq!(escape_controls(&format!("pay {control}x")), expected);
        }
        assert_eq!(escape_controls("שלום عليكم"), "שלום عليكم");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(shell_word("http://localhost:4438"), "http://localhost:4438");
        assert_eq!(shell_word("it's a file"), r"'it'\''s a file'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn times_are_relative_to_now() {
        let at = Timestamp::from_millis;
        assert_eq!(relative_time(at(0), at(1_500)), "1.5 s ago");
        assert_eq!(relative_time(at(7_200_000), at(0)), "in 2 h");
        assert_eq!(format_duration(Duration::from_secs(3 * 86_400)), "3 days");
    }
}
