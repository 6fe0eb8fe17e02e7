//! One image after the other: made, opened, judged; one that fails is kept, with the command that
//! judges it again.

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

/// An image that is not what it must be.
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

    /// Makes image `number` of a disk and opens it; gives how many batches it holds.
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
                "seed {}, image {number}, {survives:?} of the unsynced survives: {problem}",
                self.seed
            ))
        })
    }

    /// The same; one that fails is kept, and the test ends.
    pub(super) fn image(&self, disk: &Disk, promised: Promised, which: (usize, Survives)) -> usize {
        self.try_image(disk, promised, which)
            .unwrap_or_else(|Broken(problem)| {
                let kept = self.keep(disk, which);
                let problem: String = problem.chars().take(2_000).collect();
                panic!(
                    "{problem}\nrepeat it: EVERSTEP_CRASH_IMAGE='{} {} {} {} {}' cargo test -p everstep-store-embedded \
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

    /// Made once more, because opening has changed the first one.
    fn keep(&self, disk: &Disk, which: (usize, Survives)) -> PathBuf {
        let name = format!("everstep-crash-{}-{}", self.seed, which.0);
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        self.write(disk, which, &folder);
        folder
    }
}

/// Judges an image that was kept; without one there is nothing to judge.
#[test]
fn a_kept_image_holds_what_was_promised() {
    let Ok(kept) = std::env::var("EVERSTEP_CRASH_IMAGE") else {
        return;
    };
    let parts: Vec<&str> = kept.splitn(5, ' ').collect();
    let number = |place: usize| parts[place].parse::<usize>().unwrap();
    let promised = Promised {
        at_least: number(2),
        at_most: number(3),
    };
    let scene = Scene::new(number(0) as u64, number(1));
    // On a copy of its own: opening changes it.
    let disk = Disk::of_folder(Path::new(parts[4]));
    let judged = scene.try_image(&disk, promised, (0, Survives::Everything));
    assert!(judged.is_ok(), "{judged:?}");
}

#[test]
fn an_image_that_fails_is_kept_and_says_how_it_is_repeated() {
    let scene = Scene::new(1, 20);
    let promised = Promised {
        at_least: 20,
        at_most: 20,
    };
    // As if the whole store were gone.
    let judging = || scene.image(&Disk::default(), promised, (77, Survives::Nothing));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(judging)).unwrap_err();
    let said = panic.downcast_ref::<String>().unwrap();
    let (problem, command) = said.split_once("repeat it: ").unwrap();
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
