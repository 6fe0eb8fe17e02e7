//! Path patterns: `*` matches one segment, `**` any number of segments.

pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    // The pattern behind the last `**`, and the path from which it must match. The last `**` alone
    // needs to take more segments, so the cost is at most the product of both lengths.
    let mut retry = None;
    loop {
        let rest = path.clone();
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some("**"), _) => {
                path = rest;
                retry = Some((pattern.clone(), path.clone()));
            }
            (Some(part), Some(segment)) if part == "*" || part == segment => {}
            _ => {
                let Some((after, from)) = &mut retry else {
                    return false;
                };
                if from.next().is_none() {
                    return false;
                }
                (pattern, path) = (after.clone(), from.clone());
            }
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
            ("**/b/**/b/c", "a/b/b/b/c"),
            ("a/**/*/c", "a/b/c/c"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("a", "a/b"),
            ("a/*", "a/b/c"),
            ("a/*", "a"),
            ("*", "a/b"),
            ("a/**/c", "a/b"),
            ("a/**/*/c", "a/c"),
            ("**/b/**/b/c", "a/b/c"),
            ("", "a"),
        ] {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }
}
