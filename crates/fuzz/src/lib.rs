//! Feeds random input to a decoder (dev only).
//!
//! ```text
//!   corpus/<target>/*  ──▶ unchanged
//!                      ──▶ mutated: truncated, flipped, repeated, spliced, with critical words and numbers
//!   each input         ──▶ the target must not panic or allocate much more memory than the input has bytes
//! ```
//!
//! A target is a test in the crate of its decoder, one file under `src/fuzz_tests`, with a corpus
//! beside the sources. It returns a summary of what it decoded. An input with a new summary is
//! mutated further. Cases are numbered and derived from a seed, so that each can be repeated. This
//! crate depends on no other crate of the project.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a target fails by panicking"
)]

mod corpus;
mod mutate;
mod quiet;
mod random;
mod session;
mod settings;
mod shrink;

use std::hash::Hash;
use std::path::Path;

/// Feeds the corpus and mutations of it to a target. If the target panics or allocates too much,
/// panics with the smallest failing input.
///
/// `package` is `env!("CARGO_MANIFEST_DIR")`. The corpus is its folder `corpus/<target>`, with one
/// input per file.
pub fn check<S: Hash>(package: &str, target: &str, seen: impl Fn(&[u8]) -> S) {
    let folder = Path::new(package).join("corpus").join(target);
    let settings = settings::Settings::from_environment(target);
    session::Session::new(&folder, settings, &seen).run();
}

/// Like [`check`], for targets that read text. Invalid UTF-8 is replaced.
pub fn check_text<S: Hash>(package: &str, target: &str, seen: impl Fn(&str) -> S) {
    check(package, target, |bytes| {
        seen(&String::from_utf8_lossy(bytes))
    });
}
