//! The location of the repository. Every command runs there, whatever the current directory.

use std::env;
use std::path::PathBuf;

/// The root of the repository.
///
/// Read from the environment that `cargo run` sets, not baked in by `env!`: with a target directory
/// shared between clones, a baked-in path may be that of another clone.
pub(crate) fn root() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .and_then(|xtask| xtask.parent().map(PathBuf::from))
        .unwrap_or_else(|| PathBuf::from("."))
}

/// The folder in which cargo builds.
pub(crate) fn target() -> PathBuf {
    let named = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(named)
}
