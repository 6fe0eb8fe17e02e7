//! Power losses while a store recovers from one, or from being killed, and goes on.
//!
//! What was shown after a recovery counts as acknowledged: a batch that was written but not synced
//! by a process that was killed must be durable before anybody sees it.

use super::disk::Disk;
use super::driver::Task;
use super::image::Survives;
use super::power_loss::{moments, seeds};
use super::random::Random;
use super::recording::{record, scratch};
use super::scene::Scene;
use super::verdict::Promised;

const BATCHES: usize = 40;
/// The seeds of the workloads begin here, and are so many in the tests.
const FIRST_SEED: u64 = 100_000;
const SEEDS: u64 = 4;
/// First crashes of each recording.
const CRASHES: usize = 8;
/// Moments in each recovery at which the power is lost.
const MOMENTS: usize = 8;
/// Batches that are added after a recovery.
const MORE: usize = 3;

/// How the first process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crash {
    /// What it wrote is in the cache, and may still get lost.
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
    let moments = moments(&mut random, CRASHES, &operations);
    let (mut disk, mut promised, mut images) = (Disk::default(), Promised::default(), 0);
    for (place, operation) in operations.iter().enumerate() {
        for _ in moments.iter().filter(|moment| **moment == place) {
            let crash = Crash::any(&mut random);
            images += recoveries(&scene, &disk, promised, (crash, images), &mut random);
        }
        disk.apply(operation);
        promised.hear(operation);
    }
    images
}

/// Lets a child recover from a crash and go on, and loses the power meanwhile.
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
    let moments = moments(random, MOMENTS, &operations);
    let (mut disk, mut images) = (before, 0);
    for (place, operation) in operations.iter().enumerate() {
        for _ in moments.iter().filter(|moment| **moment == place) {
            let survives = Survives::ALL[(first + images) % 3];
            scene.image(&disk, promised, (first + images, survives));
            images += 1;
        }
        disk.apply(operation);
        promised.hear(operation);
    }
    images
}

#[test]
fn a_power_loss_during_recovery_loses_nothing_and_takes_back_nothing_that_was_shown() {
    let seeds = (0..seeds(SEEDS)).map(|number| FIRST_SEED + number);
    let images: usize = seeds.map(crashes_of).sum();
    println!("{images} images of recoveries");
    assert!(images > 200, "{images}");
}
