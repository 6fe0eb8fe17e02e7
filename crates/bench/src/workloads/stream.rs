//! `stream`: appends to streams over HTTP and readers that follow them, all in one process.

use everstep::Engine;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::local_server::LocalServer;
use super::{stream_appends, stream_readers};
use crate::case::Case;
use crate::setup::{self, Setup};

pub(crate) fn measure(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    allow_many_files()?;
    let runtime = setup::runtime(setup.arguments.workers_and_clients())?;
    let engine = Engine::open(setup.scratch.fresh("engine")?);
    let engine = runtime.block_on(engine.start())?;
    let server = runtime.block_on(LocalServer::start(&engine))?;
    let mut cases = stream_appends::measure(setup, &runtime, server.address)?;
    cases.extend(stream_readers::measure(setup, &runtime, server.address)?);
    runtime.block_on(async {
        server.stop().await;
        engine.shutdown().await;
    });
    Ok(cases)
}

/// Raises the limit on open files: each reader needs two sockets in this process.
fn allow_many_files() -> std::io::Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let current = maximum;
    Ok(setrlimit(Resource::Nofile, Rlimit { current, maximum })?)
}
