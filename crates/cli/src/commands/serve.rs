//! `everstep serve`: a production server. It always requires API keys, and TLS or a TLS-terminating
//! proxy unless it listens on a loopback address.

use std::ffi::OsString;
use std::net::SocketAddr;

use anyhow::Context;
use clap::Args;
use everstep::{Engine, Settings};
use everstep_demo::{Gateway, Pace};
use everstep_server::{Access, Keys, TraceExporter, router};
use tokio::net::TcpListener;

use crate::arguments::GlobalOptions;
use crate::config::{Config, Flags};
use crate::exit::Exit;
use crate::hosting::{
    SHUTTING_DOWN, ShutdownSignal, Storage, StorageConfig, connection_options, engine_settings,
    export_traces, log_to_stderr, logs_json, server_options, shut_down, shutting_down,
};
use crate::output::Output;
use crate::usage_error::UsageError;

const EXAMPLES: &str = "\
Examples:
  everstep key create ops --scope admin --data ./.everstep     create the first key
  everstep serve                                               local clients only
  everstep serve --listen 0.0.0.0:443 --tls-certificate chain.pem --tls-key key.pem
  everstep serve --listen 0.0.0.0:4437 --behind-proxy --public-url https://flows.example
  everstep serve --store postgres://everstep@db.example/app?sslmode=require --roles api

Put passwords into the variable EVERSTEP_STORE, which hides them from other users of this machine.

All options can also be set in everstep.toml or with EVERSTEP_… variables, and so can limits and the settings of the engine; \
`everstep config` lists all of them with their current values.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
// Large type: one field for each option of the command.
pub(crate) struct Serve {
    /// Address to listen on, such as 0.0.0.0:4437 [default: 127.0.0.1:4437]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<OsString>,
    /// Directory of the embedded store, for a single node [default: ./.everstep]
    #[arg(long, value_name = "DIR")]
    data: Option<OsString>,
    /// PostgreSQL database for any number of nodes, such as postgres://user@host/database
    #[arg(long, value_name = "URL")]
    store: Option<OsString>,
    /// Namespace that separates several installations in one database [default: everstep]
    #[arg(long, value_name = "NAME")]
    namespace: Option<OsString>,
    /// Roles of this node: api, worker, timers; separate several with commas [default: all]
    #[arg(long, value_name = "ROLE,...")]
    roles: Option<OsString>,
    /// Accept a database that can lose acknowledged commits
    #[arg(long)]
    allow_lossy: bool,
    /// Certificate chain of the server (PEM)
    #[arg(long, value_name = "FILE")]
    tls_certificate: Option<OsString>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE")]
    tls_key: Option<OsString>,
    /// A proxy terminates TLS for the server
    #[arg(long)]
    behind_proxy: bool,
    /// URL under which clients reach the server, if it differs from `Host`
    #[arg(long, value_name = "URL")]
    public_url: Option<OsString>,
    /// Web origins that may read responses (CORS), such as https://app.example; separate several
    /// with commas
    #[arg(long, value_name = "ORIGIN,...")]
    origins: Option<OsString>,
    /// How long finished runs are kept, by status, such as completed=30d,failed=1y [default:
    /// forever]
    #[arg(long, value_name = "STATUS=AGE,...")]
    retention: Option<OsString>,
    /// Maximum duration of a long-poll [default: 30s]
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
    /// Also execute the demo workflows
    #[arg(long)]
    demo: bool,
}

impl Serve {
    pub(crate) fn config(&self, global: &GlobalOptions) -> anyhow::Result<Config> {
        global.config(self.flags())
    }

    fn flags(&self) -> Flags {
        vec![
            ("listen", self.listen.clone()),
            ("data", self.data.clone()),
            ("store", self.store.clone()),
            ("namespace", self.namespace.clone()),
            ("roles", self.roles.clone()),
            ("allow_lossy", self.allow_lossy.then(|| "true".into())),
            ("tls_certificate", self.tls_certificate.clone()),
            ("tls_key", self.tls_key.clone()),
            ("behind_proxy", self.behind_proxy.then(|| "true".into())),
            ("public_url", self.public_url.clone()),
            ("origins", self.origins.clone()),
            ("retention", self.retention.clone()),
            ("long_poll_timeout", self.long_poll_timeout.clone()),
            ("log", self.log.clone()),
            ("log_format", self.log_format.clone()),
            ("otlp_endpoint", self.otlp_endpoint.clone()),
        ]
    }
}

pub(crate) async fn run(arguments: &Serve, global: &GlobalOptions) -> anyhow::Result<Exit> {
    let mut shutdown_signal = ShutdownSignal::listen()?;
    // Check settings and keys before binding the address.
    let config = arguments.config(global)?;
    let out = Output::new(global.json || logs_json(&config));
    log_to_stderr(&config);
    let mut options = server_options(&config)?;
    options.access = Access::Keys;
    let connections = connection_options(&config)?;
    let settings = engine_settings(&config)?;
    let address = config.parsed("listen")?;
    check_exposure(&config, address, connections.tls.is_some())?;
    let storage = StorageConfig::new(&config)?;
    let roles = storage.roles(&config)?;
    let storage = storage.open().await?;
    let builder = storage
        .engine(roles)
        .settings(Settings { roles, ..settings });
    let builder = match arguments.demo {
        true => everstep_demo::register(builder, Pace::brisk(), Gateway::busy(1)),
        false => builder,
    };
    let engine = builder.start().await?;
    let (traces, listener) = match prepare(&engine, &storage, &config, address).await {
        Ok(prepared) => prepared,
        Err(error) => {
            engine.shutdown().await;
            return Err(error);
        }
    };
    let s = if connections.tls.is_some() { "s" } else { "" };
    let url = format!("http{s}://{}", listener.local_addr()?);
    tracing::info!(%url, %roles, "listening");
    out.result(
        &serde_json::json!({"listening": url, "roles": config.list("roles")}),
        &format!("serving {url} ({roles}), data in {}", storage.description),
    )?;
    let router = router(&engine, options);
    everstep_server::serve(
        listener,
        router,
        connections,
        shutdown_signal.received(&engine),
    )
    .await;
    out.result(&shutting_down(), SHUTTING_DOWN)?;
    shut_down(&engine, traces).await;
    Ok(shutdown_signal.exit?)
}

/// Does what may fail after the engine has started. Binds the address last.
async fn prepare(
    engine: &Engine,
    storage: &Storage,
    config: &Config,
    address: SocketAddr,
) -> anyhow::Result<(Option<TraceExporter>, TcpListener)> {
    if Keys::of(engine).list().await?.is_empty() {
        let error = UsageError::new(
            "there is no API key, so no client could connect",
            format!(
                "Create the first key: everstep key create ops --scope admin {}",
                storage.flags
            ),
        );
        return Err(error.into());
    }
    let traces = export_traces(engine, config)?;
    let listener = TcpListener::bind(address).await;
    let listener = listener.with_context(|| format!("cannot listen on {address}"))?;
    Ok((traces, listener))
}

/// Keys and payloads must not cross a network without encryption.
fn check_exposure(config: &Config, address: SocketAddr, is_tls: bool) -> Result<(), UsageError> {
    if address.ip().is_loopback() || is_tls || config.is_on("behind_proxy") {
        return Ok(());
    }
    Err(UsageError::new(
        format!("{address} is reachable from other machines without encryption"),
        "Configure a certificate (--tls-certificate, --tls-key), use a proxy that terminates TLS (--behind-proxy), or \
         listen on 127.0.0.1.",
    ))
}
