//! Syncs folders. After a power loss, a synced file exists only if all folders on its path were
//! synced too.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Makes the entries of a folder durable. Windows has no such call, and does not need it.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(windows) {
        return Ok(());
    }
    File::open(folder)?.sync_all()
}

/// Makes the path of a folder durable by syncing its ancestors. Stops at the first one that cannot
/// be synced, because it belongs to another user or its file system does not support it.
pub(crate) fn sync_above(folder: &Path) -> io::Result<()> {
    let folder = folder.canonicalize()?;
    for above in folder.ancestors().skip(1) {
        match sync(above).map_err(|error| error.kind()) {
            Err(
                io::ErrorKind::PermissionDenied
                | io::ErrorKind::ReadOnlyFilesystem
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::Unsupported,
            ) => break,
            Err(kind) => return Err(kind.into()),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// Makes the entries of a folder and of all folders in it durable.
pub(crate) fn sync_below(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_below(&entry.path())?;
        }
    }
    sync(folder)
}
