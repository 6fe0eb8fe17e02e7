//! A process is killed between the write and the sync of a batch. The next process finds the batch
//! in the cache, and must sync it before it is visible.

use std::path::Path;

use super::disk::Disk;
use super::driver::Task;
use super::image::Survives;
use super::operation::{Mark, Operation};
use super::recording::{record, scratch};
use super::scene::{Broken, Scene};
use super::verdict::Promised;

const SEED: u64 = 301;
const BATCHES: usize = 20;
/// The number of killed processes.
const KILLED: usize = 6;

fn is_sync_of_journal(operation: &Operation) -> bool {
    let is_journal = |path: &Path| path.extension().is_some_and(|end| end == "jnl");
    matches!(operation, Operation::SyncFile { path, .. } if is_journal(path))
}

/// Tests power losses directly after the second process has read the store. Returns how often it
/// read an unacknowledged batch. Ignored syncs have no effect.
fn power_lost_after_reading(is_ignored: impl Fn(&Operation) -> bool) -> Result<usize, Broken> {
    let root = scratch();
    let (seed, from, to) = (SEED, 0, BATCHES);
    let operations = record(Task { seed, from, to }, root.path(), &mut Disk::default());
    let scene = Scene::new(seed, BATCHES + 1);
    let (mut disk, mut promised) = (Disk::default(), Promised::default());
    let (mut killed, mut visible) = (0, 0);
    for operation in &operations {
        let is_unsynced = promised.at_most > promised.at_least && is_sync_of_journal(operation);
        if is_unsynced && killed < KILLED {
            killed += 1;
            visible += usize::from(next_process(&scene, disk.clone(), promised, &is_ignored)?);
        }
        disk.apply(operation);
        promised.observe(operation);
    }
    assert_eq!(killed, KILLED, "enough batches were unsynced");
    Ok(visible)
}

/// Returns whether the next process reads the unacknowledged batch. The power is lost directly
/// after that.
fn next_process(
    scene: &Scene,
    mut disk: Disk,
    mut promised: Promised,
    is_ignored: impl Fn(&Operation) -> bool,
) -> Result<bool, Broken> {
    let root = scratch();
    scene.write(&disk, (0, Survives::Everything), root.path());
    let acknowledged = promised.at_least;
    let task = Task {
        seed: scene.seed,
        from: acknowledged,
        to: 0,
    };
    for operation in record(task, root.path(), &mut disk.clone()) {
        if !is_ignored(&operation) {
            disk.apply(&operation);
        }
        promised.observe(&operation);
        if matches!(operation, Operation::Mark(Mark::Visible(_))) {
            break;
        }
    }
    scene.try_image(&disk, promised, (0, Survives::Nothing))?;
    Ok(promised.at_least > acknowledged)
}

#[test]
fn batches_of_a_killed_process_are_durable_before_they_are_visible() {
    let visible = power_lost_after_reading(|_| false).unwrap();
    // Not all of them: a background sync may precede the write, and some batches are refused.
    assert!(visible > 0, "written batches are found");
}

#[test]
fn a_recovery_without_syncs_is_detected() {
    assert!(power_lost_after_reading(is_sync_of_journal).is_err());
}
