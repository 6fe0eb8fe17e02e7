//! Creates, opens and judges images. An image that fails is kept, and the command to repeat the
//! test is printed.

use std::fs;
use std::path::{Path, PathBuf};

use super::disk::Disk;
use super::driver::store_in;
use super::image::{self, Survives};
use super::random::Random;
use super::recording::scratch;
use super::verdict::{Expected, Promised, judge};

pub(super) struct Scene {
    pub(super) seed: u64,
    pub(super) batches: usize,
    pub(super) expected: Expected,
}

/// The reason why an image is wrong.
#[derive(Debug)]
pub(super) struct Broken(pub(super) String);

impl Scene {
    pub(super) fn new(seed: u64, batches: usize) -> Self {
        let expected = Expected::of(seed, batches);
        Self {
            seed,
            batches,
            expected,
        }
    }

    /// Creates and opens image `number` of a disk. Returns the number of its batches.
    pub(super) fn try_image(
        &self,
        disk: &Disk,
        promised: Promised,
        (number, survives): (usize, Survives),
    ) -> Result<usize, Broken> {
        let folder = scratch();
        self.write(disk, (number, survives), folder.path());
        let judged = judge(&store_in(folder.path()), promised, &self.expected);
        judged.map_err(|problem| {
            Broken(format!(
                "seed {}, image {number}, {survives:?} of the unsynced data survives: {problem}",
                self.seed
            ))
        })
    }

    /// Like [`Self::try_image`], but keeps an image that fails and panics.
    pub(super) fn image(&self, disk: &Disk, promised: Promised, which: (usize, Survives)) -> usize {
        self.try_image(disk, promised, which)
            .unwrap_or_else(|Broken(problem)| {
                let kept = self.keep(disk, which);
                let problem: String = problem.chars().take(2_000).collect();
                panic!(
                    "{problem}\nrepeat with: EVERSTEP_CRASH_IMAGE='{} {} {} {} {}' cargo test -p everstep-store-embedded \
                     --test it crash_images::scene",
                    self.seed,
                    self.batches,
                    promised.at_least,
                    promised.at_most,
                    kept.display()
                )
            })
    }

    pub(super) fn write(&self, disk: &Disk, (number, survives): (usize, Survives), into: &Path) {
        let mut random = Random((self.seed << 32) ^ number as u64);
        image::write(disk, survives, &mut random, into);
    }

    /// Creates the image again, because opening has changed the first one.
    fn keep(&self, disk: &Disk, which: (usize, Survives)) -> PathBuf {
        let name = format!("everstep-crash-{}-{}", self.seed, which.0);
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        self.write(disk, which, &folder);
        folder
    }
}

/// Judges an image that was kept. Does nothing by default.
#[test]
fn a_kept_image_contains_the_promised_batches() {
    let Ok(kept) = std::env::var("EVERSTEP_CRASH_IMAGE") else {
        return;
    };
    let parts: Vec<&str> = kept.splitn(5, ' ').collect();
    let number = |index: usize| parts[index].parse::<usize>().unwrap();
    let promised = Promised {
        at_least: number(2),
        at_most: number(3),
    };
    let scene = Scene::new(number(0) as u64, number(1));
    // Opens a copy, because opening changes the files.
    let disk = Disk::of_folder(Path::new(parts[4]));
    let judged = scene.try_image(&disk, promised, (0, Survives::Everything));
    assert!(judged.is_ok(), "{judged:?}");
}

#[test]
fn a_failing_image_is_kept_and_the_command_is_printed() {
    let scene = Scene::new(1, 20);
    let promised = Promised {
        at_least: 20,
        at_most: 20,
    };
    // An empty disk.
    let judging = || scene.image(&Disk::default(), promised, (77, Survives::Nothing));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(judging)).unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    let (problem, command) = message.split_once("repeat with: ").unwrap();
    assert!(problem.contains("it holds 0 batches"), "{problem}");
    let kept = command
        .split('\'')
        .nth(1)
        .unwrap()
        .rsplit(' ')
        .next()
        .unwrap();
    assert!(
        command.starts_with("EVERSTEP_CRASH_IMAGE='1 20 20 20 "),
        "{command}"
    );
    fs::remove_dir(kept).unwrap();
}
