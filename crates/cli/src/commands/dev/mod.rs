//! `everstep dev`: a local server with demo workflows that shows every record of every run.
//!
//! ```text
//!   requests ─▶ server ─▶ engine ─▶ watch (all records of all runs) ─▶ screen
//! ```

mod screen;
mod watch;

use std::ffi::OsString;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use everstep::Engine;
use everstep_demo::{Gateway, Pace};
use everstep_server::{Access, Connections, Options, Origins, router};
use everstep_store::{MemoryStore, Store, SystemClock};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::arguments::GlobalOptions;
use crate::config::Config;
use crate::exit::Exit;
use crate::hosting::{
    SHUTTING_DOWN, ShutdownSignal, connection_options, export_traces, log_to_stderr,
    open_directory, server_options, shut_down,
};
use screen::Screen;
use watch::Watch;

/// Capacity of the channel between watch and screen.
const LINES_MAX: usize = 1_024;

const EXAMPLES: &str = "\
Examples:
  everstep dev                  kill it (kill -9) and start it again: all runs continue
  everstep dev --memory         keep data in memory only
  everstep dev --json | jq      the records, one JSON object per line

The server accepts local clients only and needs no API keys. Development mode is on: the engine replays every \
activation a second time to detect hidden nondeterminism. Unfinished runs of the last process continue.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Dev {
    /// Port; 0 selects a free one
    #[arg(long, default_value_t = 4437)]
    port: u16,
    /// Directory of the embedded store [default: ./.everstep]
    #[arg(long, value_name = "DIR")]
    data: Option<OsString>,
    /// Keep data in memory only
    #[arg(long, conflicts_with = "data")]
    memory: bool,
    /// Maximum duration of a long-poll
    #[arg(long, value_name = "DURATION")]
    long_poll_timeout: Option<OsString>,
}

pub(crate) async fn run(arguments: &Dev, global: &GlobalOptions) -> anyhow::Result<Exit> {
    let mut shutdown_signal = ShutdownSignal::listen()?;
    let config = global.config(vec![
        ("data", arguments.data.clone()),
        ("long_poll_timeout", arguments.long_poll_timeout.clone()),
    ])?;
    log_to_stderr(&config);
    let mut screen = Screen::new(global.json);
    let (options, connections) = local_only(&config)?;
    let (store, location) = arguments.open_store(&config)?;
    let listener = arguments.listen().await?;
    let url = format!("http://localhost:{}", listener.local_addr()?.port());
    let mut watch = Watch::on_store(&*store).await?;
    let durability = store.describe().durability;

    let builder = Engine::on_store(store).development(true);
    // The payment gateway fails once, to demonstrate a retry.
    let engine = everstep_demo::register(builder, Pace::brisk(), Gateway::busy(1))
        .start()
        .await?;
    let traces = export_traces(&engine, &config)?;
    screen.introduce(&url, &location, durability, watch.unfinished())?;
    let router = router(&engine, options);
    let served = everstep_server::serve(listener, router, connections, shutdown_signal.received());
    let (send, mut receive) = mpsc::channel(LINES_MAX);
    let shown = async {
        while let Some(line) = receive.recv().await {
            screen.show(&line)?;
        }
        Ok(())
    };
    let ended: anyhow::Result<()> = tokio::select! {
        () = served => Ok(()),
        failed = watch.follow_all(&engine, send) => failed,
        failed = shown => failed,
    };
    if ended.is_ok() {
        screen.note(SHUTTING_DOWN)?;
    }
    shut_down(&engine, traces).await;
    ended.map(|()| shutdown_signal.exit)
}

impl Dev {
    /// Opens the store and describes where it is.
    fn open_store(&self, config: &Config) -> anyhow::Result<(Arc<dyn Store>, String)> {
        match config.path("data") {
            Some(path) if !self.memory => {
                let store = open_directory(&path)?;
                let path = path.canonicalize().unwrap_or(path);
                Ok((store, format!("in {}", path.display())))
            }
            _ => {
                let store = MemoryStore::new(Arc::new(SystemClock));
                Ok((Arc::new(store), "in memory".to_owned()))
            }
        }
    }

    async fn listen(&self) -> anyhow::Result<TcpListener> {
        let port = self.port;
        let listener = TcpListener::bind(("127.0.0.1", port)).await;
        let cannot = || format!("cannot listen on port {port}; choose another one with --port");
        listener.with_context(cannot)
    }
}

/// The options of a server that accepts local clients without keys.
fn local_only(config: &Config) -> anyhow::Result<(Options, Connections)> {
    let mut options = server_options(config)?;
    options.access = Access::Open;
    options.loopback_only = true;
    options.origins = Origins::Loopback;
    let mut connections = connection_options(config)?;
    // Developers restart the server often, and clients reconnect.
    connections.grace = std::time::Duration::from_millis(200);
    connections.tls = None;
    Ok((options, connections))
}
