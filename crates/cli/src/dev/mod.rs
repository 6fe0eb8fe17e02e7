//! `everstep dev`: a server for this machine alone, with the demo workflows, and everything that happens as it happens.
//!
//! ```text
//!   requests ─▶ server ─▶ engine ─▶ watch: every run, every record ─▶ screen
//! ```

mod screen;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use everstep::Engine;
use everstep_demo::{Gateway, Pace};
use everstep_server::{Access, Origins, router};
use everstep_store::{MemoryStore, Store};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::arguments::Around;
use crate::ending::Ending;
use crate::serving::{Stopping, connections, export_traces, open_directory, options, show_logs};
use crate::system_clock::SystemClock;
use screen::Screen;
use watch::Watch;

/// Lines that may wait for the screen.
const LINES_MAX: usize = 1_024;

const EXAMPLES: &str = "\
Examples:
  everstep dev                  kill it in the middle (kill -9), run it again: it goes on where it was
  everstep dev --memory         keep nothing
  everstep dev --json | jq      the records themselves, one JSON object a line";

/// Serves everything on this machine, for nobody else and without keys, with the demo workflows and in development mode:
/// every activation is replayed a second time to find hidden nondeterminism. Runs that were left behind go on. Every
/// record is shown as it becomes durable. Ctrl-C ends it in good order.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Dev {
    /// The port; 0 for any that is free.
    #[arg(long, default_value_t = 4437)]
    port: u16,
    /// The directory that keeps everything.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Keep everything in memory, and forget it at the end.
    #[arg(long, conflicts_with = "data")]
    memory: bool,
    /// How long a long-poll waits.
    #[arg(long, value_name = "DURATION")]
    long_poll_timeout: Option<String>,
}

pub(crate) async fn run(arguments: &Dev, around: &Around) -> anyhow::Result<Ending> {
    let mut stopping = Stopping::heard()?;
    let flags = vec![
        (
            "data",
            arguments
                .data
                .as_ref()
                .map(|path| path.display().to_string()),
        ),
        ("long_poll_timeout", arguments.long_poll_timeout.clone()),
    ];
    let config = around.config(flags)?;
    show_logs(&config);
    let mut options = options(&config)?;
    options.access = Access::Open;
    options.loopback_only = true;
    options.origins = Origins::Loopback;
    let mut connections = connections(&config)?;
    // Whoever develops stops it often, and whoever waits comes back.
    connections.grace = std::time::Duration::from_millis(200);
    connections.tls = None;

    let mut screen = Screen::new(around.json);
    let (store, place) = match config.path("data") {
        Some(path) if !arguments.memory => {
            let store = open_directory(&path)?;
            (
                store,
                format!("in {}", path.canonicalize().unwrap_or(path).display()),
            )
        }
        _ => {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
            (store, "in memory".to_owned())
        }
    };
    let listener = TcpListener::bind(("127.0.0.1", arguments.port)).await;
    let listener = listener.with_context(|| {
        format!(
            "cannot listen on port {}; try another with --port",
            arguments.port
        )
    })?;
    let url = format!("http://localhost:{}", listener.local_addr()?.port());
    let mut watch = Watch::before(&*store).await?;
    let durability = store.describe().durability;

    let builder = Engine::on_store(store).development(true);
    // A bank that is busy once shows what a retry looks like.
    let engine = everstep_demo::register(builder, Pace::brisk(), Gateway::busy(1))
        .start()
        .await?;
    let traces = export_traces(&engine, &config)?;
    screen.introduce(&url, &place, durability, watch.left_behind())?;
    let router = router(&engine, options);
    let served = everstep_server::serve(listener, router, connections, stopping.asked());
    let (send, mut receive) = mpsc::channel(LINES_MAX);
    let shown = async {
        tokio::select! {
            watched = watch.all(&engine, send) => watched,
            shown = async {
                while let Some(line) = receive.recv().await {
                    screen.show(&line)?;
                }
                Ok(())
            } => shown,
        }
    };
    let ended: anyhow::Result<()> = tokio::select! {
        () = served => Ok(()),
        failed = shown => failed,
    };
    if ended.is_ok() {
        screen.remark("shutting down; runs that are not over go on next time")?;
    }
    let shutdown = async {
        engine.shutdown().await;
        if let Some(traces) = traces {
            traces.stop().await;
        }
    };
    tokio::select! {
        () = shutdown => {}
        () = stopping.asked() => {}
    }
    ended.map(|()| Ending::Interrupted)
}
