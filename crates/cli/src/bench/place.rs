//! Where the benchmark writes. Removed at the end.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::ending::UsageError;

const PREFIX: &str = "everstep-bench-";

/// A directory of the benchmark's own.
pub(super) struct Place {
    root: tempfile::TempDir,
}

impl Place {
    /// Inside a directory, which is created if it does not exist, or where temporary files are.
    pub(super) fn new(data: Option<&Path>) -> anyhow::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        let root = match data {
            Some(data) => {
                if data.is_file() {
                    return Err(UsageError {
                        what: format!("{} is a file", data.display()),
                        remedy: "Name a directory with --data.".to_owned(),
                    }
                    .into());
                }
                std::fs::create_dir_all(data)
                    .with_context(|| format!("cannot create {}", data.display()))?;
                builder.tempdir_in(data)
            }
            None => builder.tempdir(),
        };
        let root = root.context("cannot create a directory to write to")?;
        Ok(Self { root })
    }

    /// An empty directory of that name; what an earlier measurement left there is gone.
    pub(super) fn fresh(&self, name: &str) -> std::io::Result<PathBuf> {
        let path = self.root.path().join(name);
        match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        std::fs::create_dir_all(&path)?;
        Ok(path)
    }
}
