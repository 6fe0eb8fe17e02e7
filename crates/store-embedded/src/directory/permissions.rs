//! Permissions of a store: only its owner has access.
//!
//! The key-value store creates its files with the permissions that the process chooses by its
//! file mode creation mask. They are in a folder that only the owner can enter.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a folder for the owner alone, unless it exists. Folders above it are ordinary ones.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(_) if path.is_dir() => Ok(()),
        created => created,
    }
}

/// Opens a file for writing, and creates it for the owner alone if it does not exist.
pub(crate) fn open_file(path: &Path, truncate: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(truncate);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Logs a warning if other users have access to the store, which contains payloads and secrets.
pub(crate) fn warn_if_open(store: &Path) {
    #[cfg(unix)]
    if [store, &store.join("data")].into_iter().any(is_open) {
        let place = store.display();
        tracing::warn!("other users have access to {place}; run `chmod -R go= {place}`");
    }
    #[cfg(not(unix))]
    let _ = store;
}

#[cfg(unix)]
fn is_open(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let metadata = std::fs::metadata(folder);
    metadata.is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}
