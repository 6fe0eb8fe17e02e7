//! Tests of the images themselves: they detect disks that ignore one kind of sync, and stores that
//! acknowledge too early.

use std::path::Path;

use super::disk::Disk;
use super::driver::Task;
use super::image::Survives;
use super::operation::{Mark, Operation};
use super::random::Random;
use super::recording::{record, scratch};
use super::scene::Scene;
use super::verdict::Promised;

const BATCHES: usize = 40;
/// The number of images in which the fault must be detected.
const IMAGES: usize = 60;

/// Tests images of a disk that executes the operations as changed by `fault`. Returns the first
/// failure.
fn first_failure(fault: impl Fn(&Operation) -> Option<Operation>) -> Option<String> {
    let root = scratch();
    let (seed, from, to) = (202, 0, BATCHES);
    let operations = record(Task { seed, from, to }, root.path(), &mut Disk::default());
    let scene = Scene::new(seed, BATCHES);
    let mut random = Random(seed);
    let (mut disk, mut promised) = (Disk::default(), Promised::default());
    let every = operations.len() / IMAGES;
    for (index, operation) in operations.iter().enumerate() {
        let operation = fault(operation);
        if let Some(operation) = &operation {
            disk.apply(operation);
            promised.observe(operation);
        }
        if index % every == every - 1 {
            let survives = Survives::ALL[random.up_to(2)];
            if let Err(broken) = scene.try_image(&disk, promised, (index, survives)) {
                return Some(broken.0);
            }
        }
    }
    None
}

fn without(is_ignored: impl Fn(&Operation) -> bool) -> impl Fn(&Operation) -> Option<Operation> {
    move |operation| (!is_ignored(operation)).then(|| operation.clone())
}

fn is_sync_of(operation: &Operation, is_meant: impl Fn(&Path) -> bool) -> bool {
    matches!(operation, Operation::SyncFile { path, .. } if is_meant(path))
}

#[test]
fn a_disk_without_faults_passes() {
    assert_eq!(first_failure(without(|_| false)), None);
}

#[test]
fn a_disk_that_does_not_sync_journals_is_detected() {
    let is_journal = |path: &Path| path.extension().is_some_and(|end| end == "jnl");
    let found = first_failure(without(|operation| is_sync_of(operation, is_journal)));
    assert!(found.is_some());
}

#[test]
fn a_disk_that_does_not_sync_tables_is_detected() {
    let is_table = |path: &Path| path.components().any(|part| part.as_os_str() == "tables");
    let found = first_failure(without(|operation| is_sync_of(operation, is_table)));
    assert!(found.is_some());
}

#[test]
fn a_disk_that_does_not_sync_names_is_detected() {
    let is_folder = |operation: &Operation| matches!(operation, Operation::SyncFolder { .. });
    assert!(first_failure(without(is_folder)).is_some());
}

#[test]
fn a_store_that_acknowledges_before_it_syncs_is_detected() {
    let early = |operation: &Operation| match operation {
        Operation::Mark(Mark::Begun(number)) => Some(Operation::Mark(Mark::Acknowledged(*number))),
        other => Some(other.clone()),
    };
    assert!(first_failure(early).is_some());
}
