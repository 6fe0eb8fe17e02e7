//! `stream`: appending to streams over HTTP, and following them, with everything in one process.

use everstep::Engine;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::served::Served;
use super::{stream_appends, stream_readers};
use crate::bench::case::Case;
use crate::bench::setup::Setup;

pub(super) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    allow_many_files()?;
    let runtime = setup.runtime_with_clients()?;
    let engine = Engine::open(setup.place.fresh("engine")?);
    let engine = runtime.block_on(engine.start())?;
    let served = runtime.block_on(Served::start(&engine))?;
    let mut cases = stream_appends::measure(setup, &runtime, served.address)?;
    cases.extend(stream_readers::measure(setup, &runtime, served.address)?);
    runtime.block_on(async {
        served.end().await;
        engine.shutdown().await;
    });
    Ok(cases)
}

/// Each reader has a socket at both ends, which is more than many systems allow unless asked.
fn allow_many_files() -> std::io::Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let current = maximum;
    Ok(setrlimit(Resource::Nofile, Rlimit { current, maximum })?)
}
