//! Documentation tests of the guides: their Rust examples are compiled and run. Not part of the
//! library.

#[doc = include_str!("../../../docs/guides/serving.md")]
mod serving {}
#[doc = include_str!("../../../docs/guides/streams.md")]
mod streams {}

#[doc = include_str!("../../../docs/guides/workers.md")]
mod workers {}

#[doc = include_str!("../../../docs/guides/observing.md")]
mod observing {}
