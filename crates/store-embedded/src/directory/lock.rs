//! The lock of a directory.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use everstep_store::StoreError;

use crate::directory::permissions;
use crate::failure;

/// The lock files that this process holds, for the message to those that cannot have them.
static HELD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Excludes other processes, and other handles of this process, from a directory.
pub(crate) struct DirectoryLock {
    file: File,
    path: PathBuf,
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        let mut held = held();
        // Closing the file is not enough, because a forked child process shares it until `exec`.
        let _ = self.file.unlock();
        held.remove(&self.path);
    }
}

pub(crate) fn acquire(path: &Path, place: &str) -> Result<DirectoryLock, StoreError> {
    let path = path.join("LOCK");
    let file = permissions::open_file(&path, false).map_err(failure::of_io(place))?;
    let path = path.canonicalize().map_err(failure::of_io(place))?;
    let mut held = held();
    match file.try_lock() {
        Ok(()) => {
            held.insert(path.clone());
            Ok(DirectoryLock { file, path })
        }
        Err(TryLockError::WouldBlock) => {
            let place = place.to_owned();
            Err(match held.contains(&path) {
                true => StoreError::LockedHere { place },
                false => StoreError::Locked { place },
            })
        }
        Err(TryLockError::Error(error)) => Err(failure::of_io(place)(error)),
    }
}

fn held() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}
