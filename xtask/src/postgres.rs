//! The stages that need PostgreSQL: the store's conformance kit and own tests, the behaviour suite,
//! and the exhaustive crashes of the simulation. Each test program starts a private server; `tools`
//! installs PostgreSQL where it is missing.

use std::path::Path;

use crate::builds;
use crate::failure::Failure;
use crate::install;
use crate::process::Invocation;
use crate::seed::seeded;
use crate::sim;
use crate::stage::Verdict;

/// Where Debian puts one folder per version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// Where Debian puts PgBouncer.
const POOLER: &str = "/usr/sbin/pgbouncer";

/// Installs PostgreSQL and PgBouncer unless they are present. Without PgBouncer its tests are
/// skipped.
pub(crate) fn install() -> Result<(), Failure> {
    if !is_present() {
        install::package("postgresql").map_err(|failure| {
            failure.with_line("  PostgreSQL 15 or later is needed and could not be installed")
        })?;
    }
    if !Path::new(POOLER).exists() && install::package("pgbouncer").is_err() {
        println!("      PgBouncer could not be installed; its tests are skipped");
    }
    Ok(())
}

fn is_present() -> bool {
    Path::new(VERSIONS).is_dir() || Invocation::new("pg_ctl", &["--version"]).succeeds_quietly()
}

/// The variable that makes the behaviour suite use PostgreSQL instead of its usual stores.
const BEHAVIOUR_STORE: (&str, &str) = ("EVERSTEP_TEST_STORE", "postgres");

/// The stage `behaviours-on-postgres`. It mostly waits for the server, so it needs no optimised
/// build.
pub(crate) fn behaviours() -> Result<Verdict, Failure> {
    let (name, value) = BEHAVIOUR_STORE;
    let tests = builds::workspace("test", &["--test", "behaviours"]);
    seeded(tests).variable(name, value).run()?;
    Ok(Verdict::Passed)
}

/// The stage `postgres`.
pub(crate) fn store() -> Result<Verdict, Failure> {
    seeded(builds::optimised_test("postgres")).run()?;
    let crashes = ["--exhaustive", "--store", "postgres"];
    sim::run(&crashes.map(str::to_owned))?;
    Ok(Verdict::Passed)
}
