//! Minimises a failing input.

/// Removes parts, then simplifies bytes, as long as `fails` returns true.
pub(crate) fn smallest(mut bytes: Vec<u8>, fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut length = bytes.len().next_power_of_two();
    let mut tries = 20_000;
    while length > 0 && tries > 0 {
        let mut at = 0;
        while at < bytes.len() && tries > 0 {
            tries -= 1;
            let mut shorter = bytes.clone();
            shorter.drain(at..(at + length).min(bytes.len()));
            if fails(&shorter) {
                bytes = shorter;
            } else {
                at += length;
            }
        }
        length /= 2;
    }
    for at in 0..bytes.len().min(tries) {
        let before = bytes[at];
        for simple in [0, b'0', b'a'] {
            bytes[at] = simple;
            if fails(&bytes) {
                break;
            }
            bytes[at] = before;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_input_is_minimised() {
        let large: Vec<u8> = (0..=255).cycle().take(1_000).collect();
        let small = smallest(large, |bytes| bytes.contains(&7) && bytes.len() > 2);
        assert_eq!(small.len(), 3);
        assert!(small.contains(&7));
    }
}
