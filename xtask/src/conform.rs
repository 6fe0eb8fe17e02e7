//! `cargo xtask conform`: runs pinned external suites against the real server, once per store: the
//! public conformance suite of the Durable Streams protocol, and the stock clients. Fewer passing
//! tests than expected are a failure, because a suite that finds no tests passes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::documents::Document;
use crate::failure::Failure;
use crate::process::Invocation;
use crate::python;
use crate::scratch::Scratch;
use crate::served::{Server, unusable};
use crate::stage::Verdict;
use crate::workspace::{self, target};

/// A folder of `conformance`, whose lock file pins its dependencies.
struct Suite {
    name: &'static str,
    /// The expected number of tests.
    tests: u64,
    /// The files to copy besides those that npm reads.
    files: &'static [&'static str],
    /// The document whose example the suite executes, as `guide.mjs`.
    guide: Option<&'static str>,
}

const SUITES: [Suite; 2] = [
    Suite {
        name: "durable-streams",
        tests: 338,
        files: &["suite.test.mjs"],
        guide: None,
    },
    Suite {
        name: "clients",
        tests: 30,
        files: &[
            "support.mjs",
            "journals.test.mjs",
            "state.test.mjs",
            "tokens.test.mjs",
        ],
        guide: Some("docs/guides/http-api.md"),
    },
];

/// The expected number of tests of the stock Python client.
const PYTHON_TESTS: u64 = 7;

/// The files that npm reads.
const OF_NPM: [&str; 3] = [".npmrc", "package.json", "package-lock.json"];

pub(crate) fn run() -> Result<(), Failure> {
    let scratch = Scratch::new("conform")?;
    Server::build()?;
    test_python_client()?;
    for suite in &SUITES {
        let folder = suite.install()?;
        let data = scratch.path(suite.name);
        for (store, arguments) in [
            ("memory", vec!["--memory"]),
            ("embedded", vec!["--data", &data]),
            ("postgres", vec!["--postgres"]),
        ] {
            println!("      {} on the {store} store", suite.name);
            let server = Server::start(&arguments)?;
            let result = scratch.path(&format!("{}-{store}.json", suite.name));
            test(&folder, &server.address, &result)?;
            drop(server);
            suite.check(store, &result)?;
        }
    }
    Ok(())
}

/// Runs the tests of the stock Python client. What they test does not depend on the store.
fn test_python_client() -> Result<(), Failure> {
    let python = python::install("python-client")?.join("python");
    let server = Server::start(&["--memory"])?;
    let folder = workspace::root().join("conformance/python-client");
    let (python, folder) = (python.display().to_string(), folder.display().to_string());
    let arguments = [
        "-B",
        "-m",
        "unittest",
        "discover",
        "--start-directory",
        &folder,
    ];
    let tests = Invocation::new(&python, &arguments).variable("EVERSTEP_URL", &server.address);
    let report = tests.error_output()?;
    let all = format!("Ran {PYTHON_TESTS} tests");
    if report.contains(&all) && report.trim_end().ends_with("OK") {
        println!("      python-client: {PYTHON_TESTS} of {PYTHON_TESTS} passed");
        return Ok(());
    }
    Err(Failure::new(format!(
        "of python-client, not all of {PYTHON_TESTS} tests passed:\n{report}"
    )))
}

/// The stage `conformance`.
pub(crate) fn stage() -> Result<Verdict, Failure> {
    run()?;
    Ok(Verdict::Passed)
}

impl Suite {
    /// Installs the suite in cargo's target folder whenever its lock file changes.
    fn install(&self) -> Result<PathBuf, Failure> {
        let source = workspace::root().join("conformance").join(self.name);
        let folder = target().join("conformance").join(self.name);
        let installed = folder.join("installed.json");
        let read = |path: &Path| fs::read_to_string(path).map_err(|error| unusable(path, &error));
        let lock = read(&source.join("package-lock.json"))?;
        let is_current = fs::read_to_string(&installed).is_ok_and(|known| known == lock);
        fs::create_dir_all(&folder).map_err(|error| unusable(&folder, &error))?;
        for file in OF_NPM.iter().chain(self.files) {
            let to = folder.join(file);
            fs::copy(source.join(file), &to).map_err(|error| unusable(&to, &error))?;
        }
        if let Some(guide) = self.guide {
            let to = folder.join("guide.mjs");
            let example = Document::read(guide)?.block("js")?;
            fs::write(&to, example).map_err(|error| unusable(&to, &error))?;
        }
        if !is_current {
            let path = folder.display().to_string();
            let npm = ["ci", "--no-audit", "--no-fund", "--prefix", &path];
            Invocation::new("npm", &npm).run()?;
            fs::write(&installed, lock).map_err(|error| unusable(&installed, &error))?;
        }
        Ok(folder)
    }

    fn check(&self, store: &str, result: &str) -> Result<(), Failure> {
        let path = Path::new(result);
        let text = fs::read_to_string(path).map_err(|error| unusable(path, &error))?;
        let (passed, tests, name) = (number_of(&text, "numPassedTests"), self.tests, self.name);
        println!("      {name} on the {store} store: {passed} of {tests} passed");
        if passed == tests {
            return Ok(());
        }
        Err(Failure::new(format!(
            "of {name}, {passed} tests passed on the {store} store, not {tests}"
        )))
    }
}

fn test(suite: &Path, address: &str, result: &str) -> Result<(), Failure> {
    let root = suite.display().to_string();
    let vitest = suite.join("node_modules/vitest/vitest.mjs");
    let vitest = vitest.display().to_string();
    let outcome = format!("--outputFile.json={result}");
    Invocation::new(
        "node",
        &[
            &vitest,
            "run",
            "--root",
            &root,
            "--reporter=dot",
            "--reporter=json",
            // Some tests compare 100,000 bytes one by one, which exceeds the default of 5 s on a
            // busy machine.
            "--testTimeout=60000",
            &outcome,
        ],
    )
    .variable("CONFORMANCE_TEST_URL", address)
    .variable("EVERSTEP_URL", address)
    .variable("CONFORMANCE_SUBSCRIPTIONS", "true")
    .run()
}

/// The value of a numeric field in the runner's report.
fn number_of(report: &str, name: &str) -> u64 {
    let behind = report.split_once(&format!("\"{name}\":"));
    let digits = behind.map(|(_, rest)| rest.trim_start());
    let end = |rest: &str| {
        rest.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len())
    };
    let digits = digits.and_then(|rest| rest.get(..end(rest)));
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_the_report() {
        let report = r#"{"numTotalTests":338,"numPassedTests": 12,"x":{"numPassedTests":1}}"#;
        assert_eq!(number_of(report, "numPassedTests"), 12);
        assert_eq!(number_of(report, "numFailedTests"), 0);
    }
}
