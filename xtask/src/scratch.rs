//! A temporary folder outside the repository.

use std::fs;
use std::path::PathBuf;

use crate::failure::Failure;

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Result<Self, Failure> {
        let folder = format!("everstep-{name}-{}", std::process::id());
        let scratch = Self(std::env::temp_dir().join(folder));
        fs::create_dir_all(&scratch.0).map_err(|error| {
            Failure::new(format!("cannot create {}: {error}", scratch.0.display()))
        })?;
        Ok(scratch)
    }

    /// A path inside it; the folder itself for the empty path.
    pub(crate) fn path(&self, inside: &str) -> String {
        let path = if inside.is_empty() {
            self.0.clone()
        } else {
            self.0.join(inside)
        };
        path.display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The system cleans up what remains.
        let _ = fs::remove_dir_all(&self.0);
    }
}
