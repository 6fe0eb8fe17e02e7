//! Power losses while a store is at work.

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
/// Workloads in the tests; `EVERSTEP_CRASH_SEEDS` asks for more.
const SEEDS: u64 = 10;
/// Moments of each recording; each gives one image of every kind.
const MOMENTS: usize = 36;
/// Moments between two journals, each of which takes a while: the first is large.
const LARGE_MOMENTS: usize = 8;

/// How many workloads are recorded: those of the tests, or as many as asked for.
pub(super) fn seeds(in_tests: u64) -> u64 {
    let asked = std::env::var("EVERSTEP_CRASH_SEEDS").ok();
    asked.map_or(in_tests, |count| count.parse().unwrap())
}

/// Moments in a recording, in order: everywhere, and as many where something was just written.
pub(super) fn moments(random: &mut Random, count: usize, operations: &[Operation]) -> Vec<usize> {
    let is_write = |place: &usize| matches!(operations[*place], Operation::Write { .. });
    let writes: Vec<usize> = (0..operations.len()).filter(is_write).collect();
    let anywhere = |random: &mut Random| random.up_to(operations.len() - 1);
    let mut moments: Vec<usize> = (0..count)
        .map(|number| match number % 2 {
            1 if !writes.is_empty() => writes[random.up_to(writes.len() - 1)] + 1,
            _ => anywhere(random),
        })
        .collect();
    moments.sort_unstable();
    moments
}

/// What the images of some recordings were.
#[derive(Debug, Default)]
struct Tally {
    images: usize,
    /// Those that held a batch that was not acknowledged.
    unacknowledged: usize,
    /// Background work that the recordings met; without it they show less than they say.
    tables_written: bool,
    tables_removed: bool,
    lists_of_files_replaced: bool,
}

impl Tally {
    fn hear(&mut self, operation: &Operation) {
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

/// Images of one recording.
fn images_of(seed: u64) -> Tally {
    let root = scratch();
    let (from, to) = (0, BATCHES);
    let operations = record(Task { seed, from, to }, root.path(), &mut Disk::default());
    let scene = Scene::new(seed, BATCHES);
    let moments = moments(&mut Random(seed), MOMENTS, &operations);
    let (mut disk, mut promised) = (Disk::default(), Promised::default());
    let mut tally = Tally::default();
    for (place, operation) in operations.iter().enumerate() {
        for _ in moments.iter().filter(|moment| **moment == place) {
            for survives in Survives::ALL {
                let found = scene.image(&disk, promised, (tally.images, survives));
                tally.unacknowledged += usize::from(found > promised.at_least);
                tally.images += 1;
            }
        }
        disk.apply(operation);
        promised.hear(operation);
        tally.hear(operation);
    }
    assert_eq!(promised.at_least, BATCHES, "the recording is complete");
    tally
}

/// Images around the moment at which one journal of the key-value store follows another, and the
/// first is removed.
#[test]
fn a_power_loss_between_two_journals_loses_nothing() {
    let (seed, from, to) = (LARGE, 0, FILLER.end + 60);
    let root = scratch();
    let operations = record(Task { seed, from, to }, root.path(), &mut Disk::default());
    let scene = Scene::new(seed, to);
    let is_journal = |path: &Path| path.extension().is_some_and(|end| end == "jnl");
    let follows =
        |o: &Operation| matches!(o, Operation::Create { path, .. } if path.ends_with("1.jnl"));
    let goes = |o: &Operation| matches!(o, Operation::Remove { path } if is_journal(path));
    let begin = operations.iter().position(follows).expect("a second one");
    // When it goes is up to background work, which may not come to it.
    let end = operations.iter().position(goes);
    let end = end.unwrap_or(operations.len() - 3);
    let random = &mut Random(seed);
    let mut moments = moments(random, LARGE_MOMENTS, &operations[begin..end]);
    moments.iter_mut().for_each(|moment| *moment += begin);
    moments.extend([begin + 1, begin + 3, end, end + 1, end + 2]);
    let (mut disk, mut promised, mut images) = (Disk::default(), Promised::default(), 0);
    for (place, operation) in operations.iter().enumerate() {
        for _ in moments.iter().filter(|moment| **moment == place) {
            scene.image(&disk, promised, (images, Survives::ALL[images % 3]));
            images += 1;
        }
        disk.apply(operation);
        promised.hear(operation);
    }
    assert!(images >= LARGE_MOMENTS, "{images}");
}

#[test]
fn after_any_power_loss_all_that_was_acknowledged_is_there() {
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
    assert!(tally.unacknowledged > 0, "some batches were cut off");
    assert!(tally.tables_written && tally.tables_removed && tally.lists_of_files_replaced);
}
