//! `everstep serve`: a server for others. It needs keys on any address, and TLS or a proxy that speaks it off loopback.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use everstep_demo::{Gateway, Pace};
use everstep_server::{Access, Keys, router};
use tokio::net::TcpListener;

use crate::arguments::Around;
use crate::config::{Config, Flags};
use crate::ending::{Ending, UsageError};
use crate::output::Output;
use crate::serving::{Place, Stopping, connections, export_traces, options, show_logs};

const EXAMPLES: &str = "\
Examples:
  everstep key create ops --scope admin --data ./.everstep     the first key
  everstep serve                                               for programs on this machine
  everstep serve --listen 0.0.0.0:443 --tls-certificate chain.pem --tls-key key.pem
  everstep serve --listen 0.0.0.0:4437 --behind-proxy --public-url https://flows.example
  everstep serve --store postgres://everstep@db.example/app?sslmode=require --roles api

Passwords are better in the variable EVERSTEP_STORE, where other users of this machine do not see them.

Everything can also be set in everstep.toml or by EVERSTEP_… variables; `everstep config` shows what is in force.";

/// Serves the streams, the workflow API and the protocol of workers. Workflows are executed by workers that connect.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    /// Where to listen, such as 0.0.0.0:4437.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// The directory that keeps everything, for one node.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The PostgreSQL database that keeps everything, for any number of nodes, such as postgres://user@host/database.
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Keeps several installations in one database apart.
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// What this node does, if others do the rest: api, worker, timers; several with commas between them.
    #[arg(long, value_name = "ROLE,...")]
    roles: Option<String>,
    /// Take a database that can lose what it acknowledged.
    #[arg(long)]
    allow_lossy: bool,
    /// The certificate chain of the server, in PEM.
    #[arg(long, value_name = "FILE")]
    tls_certificate: Option<String>,
    /// The private key of the certificate, in PEM.
    #[arg(long, value_name = "FILE")]
    tls_key: Option<String>,
    /// A proxy in front of the server speaks TLS for it.
    #[arg(long)]
    behind_proxy: bool,
    /// How clients call the server, where that is not what they say in `Host`.
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Web pages that may read answers, such as https://app.example; several with commas between them.
    #[arg(long, value_name = "ORIGIN,...")]
    origins: Option<String>,
    /// How long a long-poll waits.
    #[arg(long, value_name = "DURATION")]
    long_poll_timeout: Option<String>,
    /// How much to say on stderr: error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
    /// How to say it: text or json.
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
    /// The OpenTelemetry collector to tell of every run that ends, such as http://localhost:4318.
    #[arg(long, value_name = "URL")]
    otlp_endpoint: Option<String>,
    /// Execute the demo workflows too, for trying it out.
    #[arg(long)]
    demo: bool,
}

impl Serve {
    fn flags(&self) -> Flags {
        vec![
            ("listen", self.listen.clone()),
            (
                "data",
                self.data.as_ref().map(|path| path.display().to_string()),
            ),
            ("store", self.store.clone()),
            ("namespace", self.namespace.clone()),
            ("roles", self.roles.clone()),
            ("allow_lossy", self.allow_lossy.then(|| "true".to_owned())),
            ("tls_certificate", self.tls_certificate.clone()),
            ("tls_key", self.tls_key.clone()),
            ("behind_proxy", self.behind_proxy.then(|| "true".to_owned())),
            ("public_url", self.public_url.clone()),
            ("origins", self.origins.clone()),
            ("long_poll_timeout", self.long_poll_timeout.clone()),
            ("log", self.log.clone()),
            ("log_format", self.log_format.clone()),
            ("otlp_endpoint", self.otlp_endpoint.clone()),
        ]
    }
}

pub(crate) async fn run(arguments: &Serve, around: &Around) -> anyhow::Result<Ending> {
    let mut stopping = Stopping::heard()?;
    let config = around.config(arguments.flags())?;
    show_logs(&config);
    let out = Output::new(around.json);
    let mut options = options(&config)?;
    options.access = Access::Keys;
    let connections = connections(&config)?;
    let address = config.address("listen")?;
    check_exposure(&config, address, connections.tls.is_some())?;
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen at {address}"))?;
    let place = Place::open(&config).await?;
    let roles = place.roles(&config)?;
    let builder = place.engine(roles);
    let builder = match arguments.demo {
        true => everstep_demo::register(builder, Pace::brisk(), Gateway::busy(1)),
        false => builder,
    };
    let engine = builder.start().await?;
    if Keys::of(&engine).list().await?.is_empty() {
        engine.shutdown().await;
        return Err(no_key(&place.flags).into());
    }
    let traces = export_traces(&engine, &config)?;
    let scheme = if connections.tls.is_some() {
        "https"
    } else {
        "http"
    };
    let url = format!("{scheme}://{}", listener.local_addr()?);
    match out.is_json {
        true => out.json(&serde_json::json!({"listening": url, "roles": config.list("roles")}))?,
        false => out.line(&format!("serving {url} ({roles}), kept in {}", place.told))?,
    }
    let router = router(&engine, options);
    everstep_server::serve(listener, router, connections, stopping.asked()).await;
    if !out.is_json {
        out.line("shutting down; runs that are not over go on next time")?;
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
    Ok(Ending::Interrupted)
}

/// Nobody listens in on keys and payloads.
fn check_exposure(config: &Config, address: SocketAddr, is_tls: bool) -> Result<(), UsageError> {
    if address.ip().is_loopback() || is_tls || config.is_on("behind_proxy") {
        return Ok(());
    }
    Err(UsageError {
        what: format!("{address} is reached by other machines, and nothing keeps them from listening in"),
        remedy: "Give it a certificate (--tls-certificate, --tls-key), or say that a proxy in front of it speaks TLS \
                 (--behind-proxy), or listen on 127.0.0.1."
            .to_owned(),
    })
}

fn no_key(place: &str) -> UsageError {
    UsageError {
        what: "there is no key, so nobody could call".to_owned(),
        remedy: format!("Make the first: everstep key create ops --scope admin {place}"),
    }
}
