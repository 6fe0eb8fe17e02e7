//! Runs one target: the corpus, then mutations until the number of cases or the time is exhausted.

use std::collections::HashSet;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::corpus::{self, Input};
use crate::mutate::mutated;
use crate::quiet;
use crate::random::Random;
use crate::settings::{Length, Settings};
use crate::shrink::smallest;

/// Memory that an input may use regardless of its size.
const BYTES_FREE: u64 = 64 * 1024;
/// Memory that an input may use per byte. Decoded values may be larger than their encoding, but
/// only by a constant factor.
const BYTES_PER_BYTE: u64 = 512;
/// How many inputs with new summaries are mutated further.
const POOL_MAX: usize = 4_096;
/// Larger inputs are not mutated further: they are slow, and smaller ones usually have the same
/// summary.
const POOLED_BYTES_MAX: usize = 8 * 1024;

pub(crate) struct Session<'a, F> {
    folder: &'a Path,
    settings: Settings,
    target: &'a F,
    known: HashSet<u64>,
}

impl<'a, S: Hash, F: Fn(&[u8]) -> S> Session<'a, F> {
    pub(crate) fn new(folder: &'a Path, settings: Settings, target: &'a F) -> Self {
        Self {
            folder,
            settings,
            target,
            known: HashSet::new(),
        }
    }

    pub(crate) fn run(mut self) {
        let corpus = corpus::load(self.folder);
        let current_input = CurrentInputFile::new(&self.settings);
        for Input { path, bytes } in &corpus {
            current_input.write(bytes);
            match self.run_target(bytes) {
                Err(problem) => panic!("{}: {problem}", path.display()),
                Ok(seen) => self.known.insert(seen),
            };
        }
        let seeds: Vec<Vec<u8>> = corpus.into_iter().map(|input| input.bytes).collect();
        match self.settings.length {
            Length::Only(case) => {
                let mutant = mutated(&mut Random::of_case(self.settings.seed, case), &seeds);
                if let Err(problem) = self.run_target(&mutant) {
                    self.fail(case, mutant, &problem);
                }
            }
            Length::Cases(_) | Length::Time(_) => self.mutate(&seeds, &current_input),
        }
    }

    /// Runs mutations. Half of them are mutations of the corpus only, so that they can be repeated
    /// by number.
    fn mutate(&mut self, seeds: &[Vec<u8>], current_input: &CurrentInputFile) {
        let begin = Instant::now();
        let mut pool = seeds.to_vec();
        for case in 0.. {
            let is_over = match self.settings.length {
                Length::Cases(cases) => case >= cases,
                Length::Time(length) => case % 64 == 0 && begin.elapsed() >= length,
                Length::Only(_) => true,
            };
            if is_over {
                let (target, seconds) = (&self.settings.target, begin.elapsed().as_secs_f64());
                let shown = self.known.len();
                println!("{target}: {case} inputs in {seconds:.1} s, {shown} different outcomes");
                return;
            }
            let mut random = Random::of_case(self.settings.seed, case);
            let from: &[Vec<u8>] = if case % 2 == 0 { seeds } else { &pool };
            let mutant = mutated(&mut random, from);
            current_input.write(&mutant);
            match self.run_target(&mutant) {
                Err(problem) => self.fail(case, mutant, &problem),
                Ok(seen) => {
                    let is_new = self.known.len() < POOL_MAX && self.known.insert(seen);
                    if is_new && mutant.len() <= POOLED_BYTES_MAX {
                        pool.push(mutant);
                    }
                }
            }
        }
    }

    /// Returns a hash of the target's summary, or a description of the failure.
    fn run_target(&self, bytes: &[u8]) -> Result<u64, String> {
        let mut seen = None;
        let used = allocation_counter::measure(|| {
            seen = Some(quiet::catch(|| {
                let mut hasher = DefaultHasher::new();
                (self.target)(bytes).hash(&mut hasher);
                hasher.finish()
            }));
        });
        let seen = seen.expect("measure calls the closure");
        let seen = seen.map_err(|panic| format!("it panics: {panic}"))?;
        let allowed = BYTES_FREE + BYTES_PER_BYTE * bytes.len() as u64;
        match used.bytes_max {
            most if most > allowed => Err(format!(
                "{} bytes of input need {most} bytes of memory",
                bytes.len()
            )),
            _ => Ok(seen),
        }
    }

    fn fail(&self, case: u64, bytes: Vec<u8>, problem: &str) -> ! {
        let small = smallest(bytes, |bytes| self.run_target(bytes).is_err());
        let problem = self.run_target(&small).err().unwrap_or(problem.to_owned());
        let kept = match self.settings.keeps_findings() {
            true => format!("kept as {}", corpus::keep(self.folder, &small).display()),
            false => "keep it in the corpus".to_owned(),
        };
        let (target, seed) = (&self.settings.target, self.settings.seed);
        let repeat = match case % 2 {
            0 => format!(
                "EVERSTEP_FUZZ_SEED={seed} EVERSTEP_FUZZ_CASE={case} cargo test fuzz_tests::{target}"
            ),
            _ => format!("EVERSTEP_FUZZ_SEED={seed} cargo test fuzz_tests::{target}"),
        };
        panic!(
            "{target}: {problem}\ninput, {kept}: b\"{}\"\nrepeat it: {repeat}",
            small.escape_ascii()
        );
    }
}

/// Stores the current input in a file, because a stack overflow ends the process and cannot be
/// caught.
struct CurrentInputFile {
    path: PathBuf,
    file: Option<File>,
}

impl CurrentInputFile {
    fn new(settings: &Settings) -> Self {
        let name = format!("everstep-fuzz-{}-{}", settings.target, std::process::id());
        let path = std::env::temp_dir().join(name);
        let file = File::create(&path).ok();
        Self { path, file }
    }

    fn write(&self, bytes: &[u8]) {
        if let Some(mut file) = self.file.as_ref() {
            let _ = file.rewind();
            let _ = file.write_all(bytes);
            let _ = file.set_len(bytes.len() as u64);
        }
    }
}

impl Drop for CurrentInputFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(target: impl Fn(&[u8]) -> usize, length: Length) -> String {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), b"abcdefgh").unwrap();
        let settings = Settings {
            target: "sample".to_owned(),
            seed: 1,
            length,
        };
        let session = Session::new(folder.path(), settings, &target);
        quiet::catch(|| session.run()).err().unwrap_or_default()
    }

    fn planted(bytes: &[u8]) -> usize {
        assert!(!bytes.windows(2).any(|pair| pair == b"hg"), "planted");
        bytes.len() % 3
    }

    #[test]
    fn a_panic_is_found_and_minimised_and_can_be_repeated() {
        let text = message(planted, Length::Cases(20_000));
        assert!(text.contains("it panics: planted"), "{text}");
        assert!(text.contains("b\"hg\""), "{text}");
        assert!(text.contains("repeat it: EVERSTEP_FUZZ_SEED=1 "), "{text}");
    }

    #[test]
    fn an_input_that_needs_too_much_memory_is_found() {
        let allocates = |bytes: &[u8]| match bytes.first() {
            Some(b'a') => 0,
            _ => Vec::<u8>::with_capacity(1 << 20).capacity() & 1,
        };
        let text = message(allocates, Length::Cases(2_000));
        assert!(text.contains("bytes of memory"), "{text}");
    }

    #[test]
    fn a_correct_target_passes() {
        assert_eq!(message(|bytes| bytes.len(), Length::Cases(500)), "");
    }
}
