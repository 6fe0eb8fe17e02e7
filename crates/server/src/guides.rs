//! The guides as documentation tests: every Rust example in them is compiled and run. Nothing of this is in the library.

#[doc = include_str!("../../../docs/guides/serving.md")]
mod serving {}
#[doc = include_str!("../../../docs/guides/streams.md")]
mod streams {}

#[doc = include_str!("../../../docs/guides/workers.md")]
mod workers {}

#[doc = include_str!("../../../docs/guides/observing.md")]
mod observing {}
