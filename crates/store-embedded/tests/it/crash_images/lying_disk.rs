//! The images can tell: disks that lie about one kind of sync, and stores that acknowledge too
//! early, are found out.

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
/// Images in which the lie must be found.
const IMAGES: usize = 60;

/// Loses the power here and there on a disk that does what `told` makes of the truth; gives the
/// first that is found.
fn first_found(told: impl Fn(&Operation) -> Option<Operation>) -> Option<String> {
    let root = scratch();
    let (seed, from, to) = (202, 0, BATCHES);
    let operations = record(Task { seed, from, to }, root.path(), &mut Disk::default());
    let scene = Scene::new(seed, BATCHES);
    let mut random = Random(seed);
    let (mut disk, mut promised) = (Disk::default(), Promised::default());
    let every = operations.len() / IMAGES;
    for (place, operation) in operations.iter().enumerate() {
        let operation = told(operation);
        if let Some(operation) = &operation {
            disk.apply(operation);
            promised.hear(operation);
        }
        if place % every == every - 1 {
            let survives = Survives::ALL[random.up_to(2)];
            if let Err(broken) = scene.try_image(&disk, promised, (place, survives)) {
                return Some(broken.0);
            }
        }
    }
    None
}

fn without(is_lie: impl Fn(&Operation) -> bool) -> impl Fn(&Operation) -> Option<Operation> {
    move |operation| (!is_lie(operation)).then(|| operation.clone())
}

fn is_sync_of(operation: &Operation, is_meant: impl Fn(&Path) -> bool) -> bool {
    matches!(operation, Operation::SyncFile { path, .. } if is_meant(path))
}

#[test]
fn the_truth_is_not_found_out() {
    assert_eq!(first_found(without(|_| false)), None);
}

#[test]
fn a_disk_that_does_not_sync_journals_is_found_out() {
    let is_journal = |path: &Path| path.extension().is_some_and(|end| end == "jnl");
    let found = first_found(without(|operation| is_sync_of(operation, is_journal)));
    assert!(found.is_some());
}

#[test]
fn a_disk_that_does_not_sync_tables_is_found_out() {
    let is_table = |path: &Path| path.components().any(|part| part.as_os_str() == "tables");
    let found = first_found(without(|operation| is_sync_of(operation, is_table)));
    assert!(found.is_some());
}

#[test]
fn a_disk_that_does_not_sync_names_is_found_out() {
    let is_folder = |operation: &Operation| matches!(operation, Operation::SyncFolder { .. });
    assert!(first_found(without(is_folder)).is_some());
}

#[test]
fn a_store_that_acknowledges_before_it_syncs_is_found_out() {
    let early = |operation: &Operation| match operation {
        Operation::Mark(Mark::Begun(number)) => Some(Operation::Mark(Mark::Acknowledged(*number))),
        other => Some(other.clone()),
    };
    assert!(first_found(early).is_some());
}
