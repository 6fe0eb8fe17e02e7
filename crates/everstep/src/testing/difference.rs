//! The difference between two lists of lines, for the messages of failed assertions.

/// Both lists as one text: `-` marks a missing line, `+` an unexpected one.
pub(super) fn difference<T: AsRef<str>>(expected: &[T], found: &[T]) -> String {
    let common = common_lengths(expected, found);
    let length = |i: usize, j: usize| {
        common
            .get(i)
            .and_then(|row| row.get(j))
            .copied()
            .unwrap_or_default()
    };
    let mut text = String::new();
    let (mut i, mut j) = (0, 0);
    loop {
        let (mark, line) = match (expected.get(i), found.get(j)) {
            (Some(a), Some(b)) if a.as_ref() == b.as_ref() => {
                (i, j) = (i + 1, j + 1);
                (' ', a)
            }
            (Some(a), other) if other.is_none() || length(i + 1, j) >= length(i, j + 1) => {
                i += 1;
                ('-', a)
            }
            (_, Some(b)) => {
                j += 1;
                ('+', b)
            }
            (_, None) => return text,
        };
        text.push_str(&format!("{mark} {}\n", line.as_ref()));
    }
}

/// For each pair of positions, the number of lines that both lists have in common from there on.
fn common_lengths<T: AsRef<str>>(expected: &[T], found: &[T]) -> Vec<Vec<usize>> {
    let mut below = vec![0; found.len() + 1];
    let mut rows = vec![below.clone()];
    for a in expected.iter().rev() {
        let mut row = vec![0; found.len() + 1];
        for (j, b) in found.iter().enumerate().rev() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or_default();
            let longest = if a.as_ref() == b.as_ref() {
                at(&below, j + 1) + 1
            } else {
                at(&below, j).max(at(&row, j + 1))
            };
            if let Some(slot) = row.get_mut(j) {
                *slot = longest;
            }
        }
        rows.push(row.clone());
        below = row;
    }
    rows.reverse();
    rows
}

#[cfg(test)]
mod tests;
