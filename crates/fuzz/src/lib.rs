//! Feeds a decoder what nobody wrote (dev only).
//!
//! ```text
//!   corpus/<target>/*  ──▶ each as it is
//!                      ──▶ mutated: cut, flipped, repeated, spliced, with the words and numbers that hurt
//!   every input        ──▶ the target: must not panic, must not ask for much more memory than its input has bytes
//! ```
//!
//! A target is a test in the crate of its decoder, one file each under `src/fuzz_tests`, with its corpus beside the
//! sources. It returns what it saw; an input that shows something new is mutated further. Cases are numbered and follow
//! from a seed, so that each can be repeated. It knows no decoder and none of our types.

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

/// Feeds one target its corpus and mutations of it; panics with the smallest input found if it panics or hoards.
///
/// `package` is `env!("CARGO_MANIFEST_DIR")`; the corpus is `corpus/<target>` below it, one input per file.
pub fn check<S: Hash>(package: &str, target: &str, seen: impl Fn(&[u8]) -> S) {
    let folder = Path::new(package).join("corpus").join(target);
    let settings = settings::Settings::from_environment(target);
    session::Session::new(&folder, settings, &seen).run();
}

/// The same for targets that read text: what is not UTF-8 is read as if it were.
pub fn check_text<S: Hash>(package: &str, target: &str, seen: impl Fn(&str) -> S) {
    check(package, target, |bytes| {
        seen(&String::from_utf8_lossy(bytes))
    });
}
