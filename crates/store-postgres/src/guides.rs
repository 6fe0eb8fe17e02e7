//! Compiles the Rust examples of the guide to many machines as documentation tests.

#[doc = include_str!("../../../docs/guides/scaling.md")]
mod scaling {}
