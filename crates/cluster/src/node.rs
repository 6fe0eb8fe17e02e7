//! A node, in a process of its own: an engine on the database with some of the roles, served over HTTP. It obeys lines on its
//! input (`clock -3600000` sets its clock wrong, and is said back once it is), and ends when its input ends, so that none outlives the test.

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

/// How long a node may be silent before others take its runs.
pub(crate) const LEASE: Duration = Duration::from_secs(2);
/// How often a node looks for what hints did not bring.
pub(crate) const SWEEP: Duration = Duration::from_secs(2);
/// How long a node waits before it tries a database again that is away when it starts.
const START_AGAIN_AFTER: Duration = Duration::from_millis(300);

/// What a node is told when it is started.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    pub(crate) store: String,
    pub(crate) roles: Vec<Role>,
    pub(crate) port: u16,
    pub(crate) ledger: PathBuf,
}

impl Orders {
    /// As arguments of a command line.
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

/// Runs a node until it is asked to end.
pub(crate) async fn run(orders: Orders) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let error = ClockError::default();
    let input = tokio::spawn(obey(error.clone()));
    let asked = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = input => std::process::exit(0),
        }
    };
    let mut asked = std::pin::pin!(asked);
    let engine = tokio::select! {
        engine = open(&orders, &error) => engine?,
        () = &mut asked => return Ok(()),
    };
    let listener = TcpListener::bind(("127.0.0.1", orders.port)).await?;
    let mut options = ServerOptions::default();
    options.access = Access::Open;
    let mut connections = Connections::default();
    connections.grace = Duration::from_secs(1);
    serve(listener, router(&engine, options), connections, asked).await;
    engine.shutdown().await;
    Ok(())
}

/// Opens the engine, however long the database is away.
async fn open(orders: &Orders, error: &ClockError) -> anyhow::Result<Engine> {
    let ledger = Arc::new(Ledger::open(&orders.ledger).context("the ledger")?);
    loop {
        match try_to_open(orders, error, ledger.clone()).await {
            Err(error) if is_away(&error) => {
                tracing::warn!(%error, "the node cannot start yet");
                tokio::time::sleep(START_AGAIN_AFTER).await;
            }
            opened => return opened,
        }
    }
}

/// Whether it is only that the database does not answer.
fn is_away(error: &anyhow::Error) -> bool {
    let away = |error: &StoreError| matches!(error, StoreError::Unavailable { .. });
    error.chain().any(|cause| {
        if let Some(everstep::OpenError::Engine(everstep::EngineError::Store(error))) =
            cause.downcast_ref()
        {
            return away(error);
        }
        cause.downcast_ref::<StoreError>().is_some_and(away)
    })
}

async fn try_to_open(
    orders: &Orders,
    error: &ClockError,
    ledger: Arc<Ledger>,
) -> anyhow::Result<Engine> {
    let options = Options::new(&orders.store)?;
    let store = PostgresStore::open(options.clone()).await?;
    let bus = PostgresBus::open(options)?;
    let settings = Settings {
        lease_ttl: LEASE,
        sweep_interval: SWEEP,
        timer_horizon: Duration::from_secs(4),
        // Some runs are replayed from their journals while others stay in memory.
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
        .roles(everstep::Roles::from_iter(orders.roles.iter().copied()));
    // Only workers have the code: the others know of it what workers told.
    let builder = match orders.roles.contains(&Role::Worker) {
        true => workflow::register(builder, ledger),
        false => builder,
    };
    Ok(builder.start().await?)
}

/// Does what the lines of the input say, until there are no more.
async fn obey(error: ClockError) {
    let mut lines = stdin_lines();
    while let Some(line) = lines.recv().await {
        if let Some(millis) = line.strip_prefix("clock ")
            && let Ok(millis) = millis.parse()
        {
            error.set(millis);
            // The parent process waits for this line.
            println!("{line}");
        }
    }
}

/// The lines of standard input, read by a thread.
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
