//! A node process: an engine on the database with some roles, served over HTTP. It reads commands
//! from stdin (`clock -3600000` shifts its clock; the node echoes the line when done) and exits
//! when stdin is closed, so that no node outlives the test.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use everstep::{Engine, EngineBuilder, Role, Settings};
use everstep_engine::TokioRuntime;
use everstep_server::{Access, Connections, Options as ServerOptions, router, serve};
use everstep_store::StoreError;
use everstep_store_postgres::{Options, PostgresBus, PostgresStore};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::ledger::Ledger;
use crate::workflow;
use crate::wrong_clock::{ClockError, WrongClock};

/// The lease duration, after which other nodes take over the runs of a silent node.
pub(crate) const LEASE: Duration = Duration::from_secs(2);
/// The interval at which a node searches for work without a hint.
pub(crate) const SWEEP: Duration = Duration::from_secs(2);
/// The delay before a starting node tries to reach an unavailable database again.
const START_RETRY_DELAY: Duration = Duration::from_millis(300);

/// The arguments of a node process.
#[derive(Clone, Debug)]
pub(crate) struct NodeArguments {
    pub(crate) store: String,
    pub(crate) roles: Vec<Role>,
    pub(crate) port: u16,
    pub(crate) ledger: PathBuf,
}

impl NodeArguments {
    /// Formats them for the command line.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let roles: Vec<&str> = self.roles.iter().map(|role| role.as_str()).collect();
        vec![
            "node".to_owned(),
            self.store.clone(),
            roles.join(","),
            self.port.to_string(),
            self.ledger.display().to_string(),
        ]
    }

    pub(crate) fn parse(arguments: &[String]) -> anyhow::Result<Self> {
        let [store, roles, port, ledger] = arguments else {
            anyhow::bail!("a node takes STORE ROLES PORT LEDGER");
        };
        let roles = roles.split(',').map(str::parse);
        Ok(Self {
            store: store.clone(),
            roles: roles.collect::<Result<_, _>>()?,
            port: port.parse()?,
            ledger: ledger.into(),
        })
    }
}

/// Runs a node until it receives SIGTERM.
pub(crate) async fn run(arguments: NodeArguments) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let error = ClockError::default();
    let input = tokio::spawn(execute_commands(error.clone()));
    let terminated = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = input => std::process::exit(0),
        }
    };
    let mut terminated = std::pin::pin!(terminated);
    let engine = tokio::select! {
        engine = open(&arguments, &error) => engine?,
        () = &mut terminated => return Ok(()),
    };
    let listener = TcpListener::bind(("127.0.0.1", arguments.port)).await?;
    let mut options = ServerOptions::default();
    options.access = Access::Open;
    let mut connections = Connections::default();
    connections.grace = Duration::from_secs(1);
    serve(listener, router(&engine, options), connections, terminated).await;
    engine.shutdown().await;
    Ok(())
}

/// Opens the engine. Waits while the database is unavailable.
async fn open(arguments: &NodeArguments, error: &ClockError) -> anyhow::Result<Engine> {
    let ledger = Arc::new(Ledger::open(&arguments.ledger).context("cannot open the ledger")?);
    loop {
        match try_open(arguments, error, ledger.clone()).await {
            Err(error) if is_unavailable(&error) => {
                tracing::warn!(%error, "database unavailable, retrying");
                tokio::time::sleep(START_RETRY_DELAY).await;
            }
            opened => return opened,
        }
    }
}

/// Whether the only problem is that the database is unavailable.
fn is_unavailable(error: &anyhow::Error) -> bool {
    let is_outage = |error: &StoreError| matches!(error, StoreError::Unavailable { .. });
    error.chain().any(|cause| {
        if let Some(everstep::errors::OpenError::Engine(everstep::errors::Unavailable::Store(
            error,
        ))) = cause.downcast_ref()
        {
            return is_outage(error);
        }
        cause.downcast_ref::<StoreError>().is_some_and(is_outage)
    })
}

async fn try_open(
    arguments: &NodeArguments,
    error: &ClockError,
    ledger: Arc<Ledger>,
) -> anyhow::Result<Engine> {
    let options = Options::new(&arguments.store)?;
    let store = PostgresStore::open(options.clone()).await?;
    let bus = PostgresBus::open(options)?;
    let settings = Settings {
        lease_ttl: LEASE,
        sweep_interval: SWEEP,
        timer_horizon: Duration::from_secs(4),
        // Short enough that some runs are replayed from their journals while others stay in memory.
        hot_idle_max: Duration::from_millis(500),
        ..Settings::default()
    };
    let runtime = WrongClock {
        inner: TokioRuntime::current()?,
        error: error.clone(),
    };
    let builder: EngineBuilder = Engine::on_store(Arc::new(store))
        .bus(Arc::new(bus))
        .runtime(Arc::new(runtime))
        .settings(settings)
        .roles(everstep::Roles::from_iter(arguments.roles.iter().copied()));
    // Only workers have the code. The other nodes know what the workers registered.
    let builder = match arguments.roles.contains(&Role::Worker) {
        true => workflow::register(builder, ledger),
        false => builder,
    };
    Ok(builder.start().await?)
}

/// Executes the commands on stdin until it is closed.
async fn execute_commands(error: ClockError) {
    let mut lines = stdin_lines();
    while let Some(line) = lines.recv().await {
        if let Some(millis) = line.strip_prefix("clock ")
            && let Ok(millis) = millis.parse()
        {
            error.set(millis);
            // The test waits for this line.
            println!("{line}");
        }
    }
}

/// Returns the lines of standard input, read by a thread.
fn stdin_lines() -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let lines = std::io::stdin().lines().map_while(Result::ok);
        for line in lines {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
