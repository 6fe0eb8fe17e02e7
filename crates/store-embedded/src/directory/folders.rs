//! Makes names durable. A synced file is only found again if the folder that names it was synced
//! too, and the folder above that.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Makes the names in a folder durable. Windows has no such call, and does not need it.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(windows) {
        return Ok(());
    }
    File::open(folder)?.sync_all()
}

/// Makes durable that there is this folder: its name in the one above, and so on. Folders that were
/// there already may belong to others; those that cannot be synced are left alone.
pub(crate) fn sync_above(folder: &Path) -> io::Result<()> {
    let folder = folder.canonicalize()?;
    for above in folder.ancestors().skip(1) {
        match sync(above).map_err(|error| error.kind()) {
            Err(io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => break,
            // Some file systems have folders that cannot be synced.
            Err(io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => break,
            Err(kind) => return Err(kind.into()),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// Makes the names in a folder durable, and those in all folders in it.
pub(crate) fn sync_below(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_below(&entry.path())?;
        }
    }
    sync(folder)
}
