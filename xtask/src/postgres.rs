//! The `postgres` stage: the kit, the store's own tests, the behaviour suite and the exhaustive crashes of the simulation on a PostgreSQL
//! server. Each test program starts a private one, so all that is needed is its programs, which `tools` installs where they are missing.

use std::path::Path;

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

/// Installs Debian's packages, unless some PostgreSQL is there, and PgBouncer too. Tests go without the pooler where there is no
/// package of it.
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

/// What makes the behaviour suite use PostgreSQL instead of its usual stores.
const BEHAVIOUR_STORE: (&str, &str) = ("EVERSTEP_TEST_STORE", "postgres");

pub(crate) fn stage() -> Result<Verdict, Failure> {
    let store = ["--package", "everstep-store-postgres", "--lib", "--tests"];
    let optimised = [&["--profile", "optimised"], &store[..]].concat();
    test(&optimised).run()?;
    // It waits for the server most of the time, and takes far longer to optimise than that would save.
    let behaviour = ["--package", "everstep", "--test", "it", "--all-features"];
    let (name, value) = BEHAVIOUR_STORE;
    test(&behaviour).variable(name, value).run()?;
    let crashes = ["--exhaustive", "--store", "postgres"];
    sim::run(&crashes.map(str::to_owned))?;
    Ok(Verdict::Passed)
}

fn test(which: &[&str]) -> Invocation {
    seeded(Invocation::cargo(&[&["test", "--locked"], which].concat()))
}
