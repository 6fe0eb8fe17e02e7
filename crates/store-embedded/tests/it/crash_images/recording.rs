//! A child process that drives a store under the recorder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use super::content::Content;
use super::disk::Disk;
use super::driver::Task;
use super::image::as_seen;
use super::operation::{Operation, parse};

/// Creates a temporary folder, in memory if possible: the tests do not depend on the disk.
pub(super) fn scratch() -> TempDir {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    folder.unwrap()
}

/// Builds the recorder once.
fn recorder() -> &'static Path {
    static BUILT: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, library) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/crash_images/recorder.c");
        let library = folder.path().join("recorder.so");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .args(["-ldl", "-lpthread"])
            .status();
        assert!(
            built.unwrap().success(),
            "the C compiler that links Rust programs builds the recorder"
        );
        (folder, library)
    });
    library
}

/// Runs a task on the store below `root` and returns its file operations. Applies them to `disk`,
/// which describes the files before.
pub(super) fn record(task: Task, root: &Path, disk: &mut Disk) -> Vec<Operation> {
    let folder = scratch();
    let (log, marks) = (folder.path().join("log"), folder.path().join("marks"));
    let output = task
        .command(root)
        .env("LD_PRELOAD", recorder())
        .env("EVERSTEP_RECORD_ROOT", root)
        .env("EVERSTEP_RECORD_LOG", &log)
        .env("EVERSTEP_RECORD_MARKS", &marks)
        .output()
        .unwrap();
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{task:?}: {problems}");
    let operations = parse(&fs::read(&log).unwrap(), root);
    for operation in &operations {
        disk.apply(operation);
    }
    assert_complete(disk, root);
    operations
}

/// Asserts that the recorded operations explain the files, so that none bypassed the recorder.
fn assert_complete(disk: &Disk, root: &Path) {
    let mut files = BTreeMap::new();
    collect(root, Path::new(""), &mut files);
    let seen = as_seen(disk);
    let paths = |files: &BTreeMap<PathBuf, Option<Content>>| -> Vec<PathBuf> {
        files.keys().cloned().collect()
    };
    assert_eq!(paths(&seen), paths(&files), "names were recorded");
    for (path, content) in files {
        assert!(
            seen[&path] == content,
            "{}: not all that was written was recorded",
            path.display()
        );
    }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Option<Content>>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = folder.join(entry.file_name());
        let is_folder = entry.path().is_dir();
        let content = (!is_folder).then(|| Content::read(&entry.path()).without_holes());
        files.insert(path.clone(), content);
        if is_folder {
            collect(root, &path, files);
        }
    }
}
