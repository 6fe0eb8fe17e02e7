//! The two builds of the workspace that all stages share: tests (profile `dev`) and optimised
//! (profile `release`). Every cargo command selects the whole workspace and narrows it by target,
//! because cargo unifies the features of the selected packages: another selection would compile
//! everything again.

use std::path::PathBuf;

use crate::failure::Failure;
use crate::process::Invocation;
use crate::stage::Verdict;
use crate::workspace;

/// Integration tests that run as they are built for development.
pub(crate) const TESTS: &[&str] = &["it", "behaviours", "flood", "kill", "seeds"];

/// Integration tests that try many cases or measure themselves against the clock, and run
/// optimised.
const OPTIMISED_TESTS: &[&str] = &["random", "kill9", "postgres", "hostile"];

/// Programs that run optimised.
const BINARIES: &[&str] = &[
    "everstep",
    "everstep-cluster",
    "everstep-costs",
    "everstep-sim",
];

/// The search for planted bugs: the simulation, with the bugs compiled into the engine.
pub(crate) const PLANTED: &[&str] = &["--release", "--features", "everstep-sim/planted-bugs"];

/// A cargo command on the whole workspace.
pub(crate) fn workspace(verb: &str, args: &[&str]) -> Invocation {
    Invocation::cargo(&[&[verb, "--workspace", "--locked"], args].concat())
}

/// `--test NAME` for each of the names.
pub(crate) fn test_targets<'a>(names: &[&'a str]) -> Vec<&'a str> {
    names.iter().flat_map(|&name| ["--test", name]).collect()
}

/// The stage that builds the tests, and the examples beside them.
pub(crate) fn build_tests() -> Result<Verdict, Failure> {
    let targets = [&["--no-run", "--lib", "--bins"], &test_targets(TESTS)[..]].concat();
    workspace("test", &targets).run()?;
    workspace("build", &["--bins", "--examples"]).run()?;
    Ok(Verdict::Passed)
}

/// The stage that builds everything that runs optimised.
pub(crate) fn build_optimised() -> Result<Verdict, Failure> {
    let binaries = BINARIES.iter().flat_map(|&name| ["--bin", name]);
    let targets: Vec<&str> = ["--release", "--example", "server"]
        .into_iter()
        .chain(binaries)
        .chain(test_targets(OPTIMISED_TESTS))
        .collect();
    workspace("build", &targets).run()?;
    Ok(Verdict::Passed)
}

/// Builds one optimised program, unless it is up to date, and returns its path.
pub(crate) fn optimised_program(name: &str) -> Result<PathBuf, Failure> {
    workspace("build", &["--release", "--bin", name]).run()?;
    Ok(workspace::target().join("release").join(name))
}

/// Runs an integration test optimised.
pub(crate) fn optimised_test(name: &str) -> Invocation {
    workspace("test", &["--release", "--test", name])
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;

    use super::*;

    /// The features of each package that a selection of packages activates.
    fn features(selection: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
        let tree = ["tree", "--locked", "--prefix", "none"];
        let output = Invocation::cargo(&[&tree, selection].concat()).output_quietly();
        let mut features: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for line in String::from_utf8(output.unwrap()).unwrap().lines() {
            if let Some((package, feature)) = line.split_once(" feature ") {
                let feature = feature.split('"').nth(1).unwrap_or_default();
                let of_package = features.entry(package.to_owned()).or_default();
                of_package.insert(feature.to_owned());
            }
        }
        features
    }

    #[test]
    fn a_plain_build_a_workspace_build_and_a_test_build_have_the_same_features() {
        let plain = features(&["--edges", "features,no-dev"]);
        assert!(plain.len() > 50, "cargo tree lists the features");
        for edges in ["features,no-dev", "features"] {
            let other = features(&["--workspace", "--edges", edges]);
            for (package, features) in &plain {
                assert_eq!(
                    Some(features),
                    other.get(package),
                    "{package} would be compiled twice"
                );
            }
        }
    }

    #[test]
    fn every_integration_test_belongs_to_a_build() {
        let packages = ["crates", "examples"].map(|folder| workspace::root().join(folder));
        let packages = packages
            .iter()
            .flat_map(|folder| fs::read_dir(folder).unwrap());
        let folders =
            packages.filter_map(|package| fs::read_dir(package.unwrap().path().join("tests")).ok());
        for file in folders.flatten() {
            let path = file.unwrap().path();
            let is_test = path.extension().is_some() || path.join("main.rs").is_file();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let is_known =
                TESTS.contains(&name) || OPTIMISED_TESTS.contains(&name) || name == "planted";
            assert!(
                !is_test || is_known,
                "no build has the test `{name}`: see xtask/src/builds.rs"
            );
        }
    }
}
