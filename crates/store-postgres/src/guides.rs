//! The guide to many machines as a documentation test: its Rust is compiled. Nothing of this is in
//! the library.

#[doc = include_str!("../../../docs/guides/scaling.md")]
mod scaling {}
