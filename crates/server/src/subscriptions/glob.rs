//! Path patterns: `*` matches one segment, `**` any number of segments.

pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    // `fits[n]` is whether the first n parts of the pattern match the path so far. The cost is the
    // product of both lengths for any pattern.
    let mut fits = vec![false; pattern.len() + 1];
    if let Some(first) = fits.first_mut() {
        *first = true;
    }
    skip_many(&pattern, &mut fits);
    for segment in path {
        let mut next = vec![false; fits.len()];
        for (n, part) in pattern.iter().enumerate() {
            if !fits.get(n).copied().unwrap_or(false) {
                continue;
            }
            let to = match *part {
                "**" => n,
                "*" => n + 1,
                part if part == segment => n + 1,
                _ => continue,
            };
            if let Some(to) = next.get_mut(to) {
                *to = true;
            }
        }
        skip_many(&pattern, &mut next);
        fits = next;
    }
    fits.last().copied().unwrap_or(false)
}

/// Lets `**` match nothing.
fn skip_many(pattern: &[&str], fits: &mut [bool]) {
    for (n, part) in pattern.iter().enumerate() {
        let here = fits.get(n).copied().unwrap_or(false);
        if let (true, "**", Some(next)) = (here, *part, fits.get_mut(n + 1)) {
            *next = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_segments() {
        for (pattern, path) in [
            ("a/b", "a/b"),
            ("a/*", "a/b"),
            ("*/b", "a/b"),
            ("**", "a/b/c"),
            ("a/**", "a/b/c"),
            ("a/**/c", "a/c"),
            ("a/**/c", "a/b/b/c"),
            ("**/c/**", "c"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("a", "a/b"),
            ("a/*", "a/b/c"),
            ("a/*", "a"),
            ("*", "a/b"),
            ("a/**/c", "a/b"),
            ("", "a"),
        ] {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }
}
