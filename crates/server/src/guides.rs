//! The guide as documentation tests: every Rust example in it is compiled and run. Nothing of this is in the library.

#[doc = include_str!("../../../docs/guides/streams.md")]
mod streams {}

#[doc = include_str!("../../../docs/guides/observing.md")]
mod observing {}
