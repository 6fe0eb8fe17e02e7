//! The directory for temporary data, removed at the end.

use std::fs::DirBuilder;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::arguments::UsageError;

const PREFIX: &str = "everstep-bench-";

pub(crate) struct ScratchDirectory {
    root: tempfile::TempDir,
}

impl ScratchDirectory {
    /// Creates it inside `data`, which is created if it does not exist, or inside the system's
    /// temporary directory.
    pub(crate) fn new(data: Option<&Path>) -> anyhow::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        let root = match data {
            Some(data) => {
                if data.is_file() {
                    return Err(UsageError {
                        what: format!("{} is a file", data.display()),
                        remedy: "Pass a directory to --data.".to_owned(),
                    }
                    .into());
                }
                std::fs::create_dir_all(data)
                    .with_context(|| format!("cannot create {}", data.display()))?;
                builder.tempdir_in(data)
            }
            None => builder.tempdir(),
        };
        let root = root.context("cannot create a temporary directory")?;
        Ok(Self { root })
    }

    /// Returns an empty subdirectory that only this user can enter, as a store should be. Deletes
    /// what an earlier measurement left there.
    pub(crate) fn fresh(&self, name: &str) -> std::io::Result<PathBuf> {
        let path = self.root.path().join(name);
        match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path)?;
        Ok(path)
    }
}
