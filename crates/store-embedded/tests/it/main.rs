//! The embedded store fulfils the contract, survives crashes and power losses, and refuses data
//! that it cannot read.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]

mod conformance;
#[cfg(target_os = "linux")]
mod crash_images;
mod directory;
mod opening;
#[cfg(target_os = "linux")]
mod under_faults;
