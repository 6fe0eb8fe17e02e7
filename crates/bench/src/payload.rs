//! Results of steps: incompressible JSON strings of a given length that are cheap to generate.

use std::sync::atomic::{AtomicU64, Ordering};

/// 64 characters that need no escaping in JSON.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The increment of the splitmix64 generator.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Generates distinct texts.
pub(crate) struct RandomTexts {
    /// The length of the JSON without its two quotes.
    chars: usize,
    next: AtomicU64,
}

impl RandomTexts {
    /// Generates texts whose JSON has `bytes` bytes, at least two.
    pub(crate) fn of_json_bytes(bytes: usize) -> Self {
        Self {
            chars: bytes.saturating_sub(2),
            next: AtomicU64::new(1),
        }
    }

    pub(crate) fn next(&self) -> String {
        let mut state = self.next.fetch_add(STEP, Ordering::Relaxed);
        let mut text = String::with_capacity(self.chars);
        while text.len() < self.chars {
            state = state.wrapping_add(STEP);
            let mut bits = mixed(state);
            for _ in 0..10.min(self.chars - text.len()) {
                let place = (bits & 63) as usize;
                text.push(ALPHABET.get(place).copied().map_or('-', char::from));
                bits >>= 6;
            }
        }
        text
    }
}

fn mixed(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests;
