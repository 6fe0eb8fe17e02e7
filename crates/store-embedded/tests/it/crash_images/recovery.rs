//! Power losses while a store recovers from a power loss or a killed process, and continues.
//!
//! Batches that are visible after a recovery count as acknowledged: a batch that a killed process
//! has written but not synced must be durable before it is visible.

use super::disk::Disk;
use super::driver::Task;
use super::image::Survives;
use super::power_loss::{points, seeds};
use super::random::Random;
use super::recording::{record, scratch};
use super::scene::Scene;
use super::verdict::Promised;

const BATCHES: usize = 40;
/// The first seed, and the number of seeds.
const FIRST_SEED: u64 = 100_000;
const SEEDS: u64 = 4;
/// The number of first crashes of each recording.
const CRASHES: usize = 8;
/// The number of power losses in each recovery.
const POINTS: usize = 8;
/// The number of batches after a recovery.
const MORE: usize = 3;

/// The end of the first process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crash {
    /// The data of the process is in the cache, and may still be lost.
    Killed,
    PowerLoss(Survives),
}

impl Crash {
    fn any(random: &mut Random) -> Self {
        match random.up_to(4) {
            0 | 1 => Self::Killed,
            2 => Self::PowerLoss(Survives::Nothing),
            3 => Self::PowerLoss(Survives::Everything),
            _ => Self::PowerLoss(Survives::Torn),
        }
    }
}

fn crashes_of(seed: u64) -> usize {
    let root = scratch();
    let (from, to) = (0, BATCHES);
    let operations = record(Task { seed, from, to }, root.path(), &mut Disk::default());
    let scene = Scene::new(seed, BATCHES + MORE + 1);
    let mut random = Random(seed);
    let points = points(&mut random, CRASHES, &operations);
    let (mut disk, mut promised, mut images) = (Disk::default(), Promised::default(), 0);
    for (index, operation) in operations.iter().enumerate() {
        for _ in points.iter().filter(|point| **point == index) {
            let crash = Crash::any(&mut random);
            images += recoveries(&scene, &disk, promised, (crash, images), &mut random);
        }
        disk.apply(operation);
        promised.observe(operation);
    }
    images
}

/// Lets a child recover from a crash and continue, and tests power losses meanwhile.
fn recoveries(
    scene: &Scene,
    disk: &Disk,
    mut promised: Promised,
    (crash, first): (Crash, usize),
    random: &mut Random,
) -> usize {
    let root = scratch();
    let survives = match crash {
        Crash::Killed => Survives::Everything,
        Crash::PowerLoss(survives) => survives,
    };
    scene.write(disk, (first, survives), root.path());
    let before = match crash {
        Crash::Killed => disk.clone(),
        Crash::PowerLoss(_) => Disk::of_folder(root.path()),
    };
    let task = Task {
        seed: scene.seed,
        from: promised.at_least,
        to: promised.at_most + MORE,
    };
    let operations = record(task, root.path(), &mut before.clone());
    let points = points(random, POINTS, &operations);
    let (mut disk, mut images) = (before, 0);
    for (index, operation) in operations.iter().enumerate() {
        for _ in points.iter().filter(|point| **point == index) {
            let survives = Survives::ALL[(first + images) % 3];
            scene.image(&disk, promised, (first + images, survives));
            images += 1;
        }
        disk.apply(operation);
        promised.observe(operation);
    }
    images
}

#[test]
fn a_power_loss_during_recovery_loses_no_acknowledged_or_visible_batch() {
    let seeds = (0..seeds(SEEDS)).map(|number| FIRST_SEED + number);
    let images: usize = seeds.map(crashes_of).sum();
    println!("{images} images of recoveries");
    assert!(images > 200, "{images}");
}
