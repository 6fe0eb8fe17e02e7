//! Detects that the files of an open store were removed. Writes to them still succeed, but are
//! lost.

use std::fs::File;
use std::io;
use std::path::Path;

use everstep_store::StoreError;

use crate::failure;

/// A file of the key-value store that exists as long as the store.
pub(crate) struct Presence(File);

impl Presence {
    pub(crate) fn of(data: &Path) -> io::Result<Self> {
        File::open(data.join("version")).map(Self)
    }

    /// Fails if the file has no name any more. Must be called after a sync and before its batch is
    /// acknowledged.
    pub(crate) fn check(&self, place: &str) -> Result<(), StoreError> {
        match has_name(&self.0).map_err(failure::of_io(place))? {
            true => Ok(()),
            false => Err(StoreError::Poisoned {
                detail: format!("{place} was removed"),
            }),
        }
    }
}

#[cfg(unix)]
fn has_name(file: &File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    Ok(std::os::unix::fs::MetadataExt::nlink(&metadata) > 0)
}

/// Open files cannot be removed.
#[cfg(not(unix))]
fn has_name(_file: &File) -> io::Result<bool> {
    Ok(true)
}
