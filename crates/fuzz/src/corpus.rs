//! The corpus in the repository: sample inputs, and all inputs that ever failed.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

/// Reads all files of the folder, sorted by name.
pub(crate) fn load(folder: &Path) -> Vec<Input> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: cannot read the corpus: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let inputs: Vec<Input> = paths
        .into_iter()
        .map(|path| Input {
            bytes: fs::read(&path).unwrap(),
            path,
        })
        .collect();
    assert!(
        !inputs.is_empty(),
        "{}: the corpus is empty",
        folder.display()
    );
    inputs
}

/// Stores a failing input and returns its path.
pub(crate) fn keep(folder: &Path, bytes: &[u8]) -> PathBuf {
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let path = folder.join(format!("found-{sum:016x}"));
    fs::write(&path, bytes).unwrap();
    path
}
