//! Finds the word that the user meant.

use strsim::normalized_damerau_levenshtein;

/// Less similar words are not suggested.
const SIMILARITY_MIN: f64 = 0.5;
/// Shorter words are part of too many others.
const PART_CHARS_MIN: usize = 3;

/// Returns the candidate that is most similar to the typed word.
pub(crate) fn similar<'a>(
    typed: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let scored = candidates.into_iter().map(|it| (score(typed, it), it));
    let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(score, _)| *score >= SIMILARITY_MIN)
        .map(|(_, it)| it)
}

/// A candidate with a word that begins as typed is better than any that only resembles it, and the
/// shortest one is the best. A candidate that begins the typed word is good enough.
fn score(typed: &str, candidate: &str) -> f64 {
    let mut places = candidate.match_indices(typed);
    let is_part = places.any(|(at, _)| is_word_start(candidate, at));
    if typed.chars().count() >= PART_CHARS_MIN && is_part {
        return 1.0 + 1.0 / candidate.len() as f64;
    }
    let rest = typed.strip_prefix(candidate);
    if rest.is_some_and(|rest| rest.starts_with('_')) {
        return SIMILARITY_MIN;
    }
    normalized_damerau_levenshtein(typed, candidate)
}

fn is_word_start(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    !before.ends_with(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    // B550
    #[test]
    fn the_most_similar_word_is_suggested() {
        let codes = ["store_unsafe", "store_locked", "store_full", "run_exists"];
        for (typed, expected) in [
            ("store_lock", Some("store_locked")),
            ("locked", Some("store_locked")),
            ("stroe_locked", Some("store_locked")),
            ("run_exist", Some("run_exists")),
            ("run_exits", Some("run_exists")),
            ("xyz", None),
            ("", None),
        ] {
            assert_eq!(similar(typed, codes), expected, "{typed}");
        }
        assert_eq!(
            similar("fail", ["rollback_failed", "failed"]),
            Some("failed")
        );
        assert_eq!(similar("port", ["import_bytes_max"]), None);
    }
}
