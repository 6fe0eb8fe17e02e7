//! Power losses while a store commits.

use std::path::Path;
use std::thread;

use super::disk::Disk;
use super::driver::{FILLER, LARGE, Task};
use super::image::Survives;
use super::operation::Operation;
use super::random::Random;
use super::recording::{record, scratch};
use super::scene::Scene;
use super::verdict::Promised;

const BATCHES: usize = 60;
/// The default number of workloads; `EVERSTEP_CRASH_SEEDS` overrides it.
const SEEDS: u64 = 10;
/// The points of each recording; each gives one image of every kind.
const POINTS: usize = 36;
/// The points between two journals. Each takes a while, because the first journal is large.
const LARGE_POINTS: usize = 8;

/// Returns the number of workloads.
pub(super) fn seeds(default: u64) -> u64 {
    let count = std::env::var("EVERSTEP_CRASH_SEEDS").ok();
    count.map_or(default, |count| count.parse().unwrap())
}

/// Returns points of a recording, in order. Half of them directly follow a write.
pub(super) fn points(random: &mut Random, count: usize, operations: &[Operation]) -> Vec<usize> {
    let is_write = |index: &usize| matches!(operations[*index], Operation::Write { .. });
    let writes: Vec<usize> = (0..operations.len()).filter(is_write).collect();
    let anywhere = |random: &mut Random| random.up_to(operations.len() - 1);
    let mut points: Vec<usize> = (0..count)
        .map(|number| match number % 2 {
            1 if !writes.is_empty() => writes[random.up_to(writes.len() - 1)] + 1,
            _ => anywhere(random),
        })
        .collect();
    points.sort_unstable();
    points
}

/// Statistics of recordings and their images.
#[derive(Debug, Default)]
struct Tally {
    images: usize,
    /// The images with an unacknowledged batch.
    unacknowledged: usize,
    /// Background work in the recordings, without which they prove less.
    tables_written: bool,
    tables_removed: bool,
    lists_of_files_replaced: bool,
}

impl Tally {
    fn observe(&mut self, operation: &Operation) {
        let is_in = |path: &Path, part| path.components().any(|c| c.as_os_str() == part);
        match operation {
            Operation::Create { path, .. } => self.tables_written |= is_in(path, "tables"),
            Operation::Remove { path } => self.tables_removed |= is_in(path, "tables"),
            Operation::Rename { to, .. } => self.lists_of_files_replaced |= is_in(to, "current"),
            _ => {}
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            images: self.images + other.images,
            unacknowledged: self.unacknowledged + other.unacknowledged,
            tables_written: self.tables_written || other.tables_written,
            tables_removed: self.tables_removed || other.tables_removed,
            lists_of_files_replaced: self.lists_of_files_replaced || other.lists_of_files_replaced,
        }
    }
}

/// Tests the images of one recording.
fn images_of(seed: u64) -> Tally {
    let root = scratch();
    let (from, to) = (0, BATCHES);
    let operations = record(Task { seed, from, to }, root.path(), &mut Disk::default());
    let scene = Scene::new(seed, BATCHES);
    let points = points(&mut Random(seed), POINTS, &operations);
    let (mut disk, mut promised) = (Disk::default(), Promised::default());
    let mut tally = Tally::default();
    for (index, operation) in operations.iter().enumerate() {
        for _ in points.iter().filter(|point| **point == index) {
            for survives in Survives::ALL {
                let found = scene.image(&disk, promised, (tally.images, survives));
                tally.unacknowledged += usize::from(found > promised.at_least);
                tally.images += 1;
            }
        }
        disk.apply(operation);
        promised.observe(operation);
        tally.observe(operation);
    }
    assert_eq!(promised.at_least, BATCHES, "the recording is complete");
    tally
}

/// Tests images from the creation of the second journal of the key-value store to the removal of
/// the first.
#[test]
fn a_power_loss_between_two_journals_loses_nothing() {
    let (seed, from, to) = (LARGE, 0, FILLER.end + 60);
    let root = scratch();
    let operations = record(Task { seed, from, to }, root.path(), &mut Disk::default());
    let scene = Scene::new(seed, to);
    let is_journal = |path: &Path| path.extension().is_some_and(|end| end == "jnl");
    let follows =
        |o: &Operation| matches!(o, Operation::Create { path, .. } if path.ends_with("1.jnl"));
    let removes = |o: &Operation| matches!(o, Operation::Remove { path } if is_journal(path));
    let begin = operations.iter().position(follows).expect("a second one");
    // Background work may not have removed it yet.
    let end = operations.iter().position(removes);
    let end = end.unwrap_or(operations.len() - 3);
    let random = &mut Random(seed);
    let mut points = points(random, LARGE_POINTS, &operations[begin..end]);
    points.iter_mut().for_each(|point| *point += begin);
    points.extend([begin + 1, begin + 3, end, end + 1, end + 2]);
    let (mut disk, mut promised, mut images) = (Disk::default(), Promised::default(), 0);
    for (index, operation) in operations.iter().enumerate() {
        for _ in points.iter().filter(|point| **point == index) {
            scene.image(&disk, promised, (images, Survives::ALL[images % 3]));
            images += 1;
        }
        disk.apply(operation);
        promised.observe(operation);
    }
    assert!(images >= LARGE_POINTS, "{images}");
}

#[test]
fn acknowledged_data_survives_any_power_loss() {
    let last = seeds(SEEDS);
    let halves = [0, 1].map(|half| (1..=last).filter(move |seed| seed % 2 == half));
    let tally = thread::scope(|scope| {
        let running = halves.map(|seeds| {
            scope.spawn(move || seeds.map(images_of).fold(Tally::default(), Tally::and))
        });
        let done = running.map(|half| half.join().expect("every image is sound"));
        done.into_iter().fold(Tally::default(), Tally::and)
    });
    println!("{tally:?}");
    assert!(tally.images >= 1_000);
    assert!(tally.unacknowledged > 0, "some batches were incomplete");
    assert!(tally.tables_written && tally.tables_removed && tally.lists_of_files_replaced);
}
