//! The lock of a directory.

use std::fs::{File, TryLockError};
use std::path::Path;

use everstep_store::StoreError;

use crate::directory::permissions;
use crate::failure;

/// Excludes other processes, and other handles of this process, from a directory.
pub(crate) struct DirectoryLock(File);

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // Closing the file is not enough, because a forked child process shares it until `exec`.
        let _ = self.0.unlock();
    }
}

pub(crate) fn acquire(path: &Path, place: &str) -> Result<DirectoryLock, StoreError> {
    let file = permissions::open_file(&path.join("LOCK"), false).map_err(failure::of_io(place))?;
    match file.try_lock() {
        Ok(()) => Ok(DirectoryLock(file)),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked {
            place: place.to_owned(),
        }),
        Err(TryLockError::Error(error)) => Err(failure::of_io(place)(error)),
    }
}
