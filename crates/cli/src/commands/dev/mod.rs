//! `everstep dev`: a local server with demo workflows that shows the records of new runs.
//!
//! ```text
//!   requests ─▶ server ─▶ engine ─▶ watch (records of the newest runs) ─▶ screen
//! ```

mod screen;
mod watch;

use std::ffi::OsString;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use everstep::{Engine, Settings};
use everstep_demo::{Gateway, Pace};
use everstep_server::{Access, Connections, Options, Origins, router};
use everstep_store::{MemoryStore, Store, SystemClock};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::arguments::GlobalOptions;
use crate::config::Config;
use crate::exit::Exit;
use crate::hosting::{
    ShutdownSignal, connection_options, engine_settings, export_traces, log_to_stderr, logs_json,
    open_directory, server_options, shut_down,
};
use screen::{Introduction, Screen};
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
    /// How long finished runs are kept, by status, such as completed=30d,failed=1y [default:
    /// forever]
    #[arg(long, value_name = "STATUS=AGE,...")]
    retention: Option<OsString>,
    /// Maximum duration of a long-poll
    #[arg(long, value_name = "DURATION")]
    long_poll_timeout: Option<OsString>,
    /// Log level: error, warn, info, debug or trace [default: warn]
    #[arg(long, value_name = "LEVEL")]
    log: Option<OsString>,
    /// Log format: text or json [default: text]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<OsString>,
    /// OpenTelemetry collector for the traces of runs, such as http://localhost:4318
    #[arg(long, value_name = "URL")]
    otlp_endpoint: Option<OsString>,
}

pub(crate) async fn run(arguments: &Dev, global: &GlobalOptions) -> anyhow::Result<Exit> {
    let mut shutdown_signal = ShutdownSignal::listen()?;
    let config = arguments.config(global)?;
    log_to_stderr(&config);
    let mut screen = Screen::new(global.json || logs_json(&config));
    let (options, connections) = local_only(&config)?;
    let (store, location) = arguments.open_store(&config)?;
    let listener = arguments.listen().await?;
    let url = format!("http://localhost:{}", listener.local_addr()?.port());
    let mut watch = Watch::on_store(&*store).await?;
    let durability = store.describe().durability;

    let builder = Engine::on_store(store).settings(Settings {
        development: true,
        ..engine_settings(&config)?
    });
    // The payment gateway fails once, to demonstrate a retry.
    let engine = everstep_demo::register(builder, Pace::brisk(), Gateway::busy(1))
        .start()
        .await?;
    let traces = export_traces(&engine, &config)?;
    tracing::info!(%url, "listening");
    let flags = match config.text("server") {
        Some(default) if default == url => String::new(),
        _ => format!(" --server {url}"),
    };
    screen.introduce(&Introduction {
        url: &url,
        flags: &flags,
        location: &location,
        durability: (!arguments.memory).then_some(durability),
        unfinished: watch.unfinished(),
    })?;
    let router = router(&engine, options);
    let stop = shutdown_signal.received(&engine);
    let served = everstep_server::serve(listener, router, connections, stop);
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
        screen.shutting_down(!arguments.memory)?;
    }
    shut_down(&engine, traces).await;
    ended?;
    Ok(shutdown_signal.exit?)
}

impl Dev {
    pub(crate) fn config(&self, global: &GlobalOptions) -> anyhow::Result<Config> {
        global.config(vec![
            ("data", self.data.clone()),
            ("retention", self.retention.clone()),
            ("long_poll_timeout", self.long_poll_timeout.clone()),
            ("log", self.log.clone()),
            ("log_format", self.log_format.clone()),
            ("otlp_endpoint", self.otlp_endpoint.clone()),
        ])
    }

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
