//! Signals that ask the process to shut down, SIGINT (Ctrl-C) and SIGTERM, and the shutdown.

use everstep::{Engine, StoreError};
use everstep_server::TraceExporter;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::exit::Exit;

pub(crate) const SHUTTING_DOWN: &str =
    "shutting down; unfinished runs continue after the next start";

/// The shutdown notice as JSON.
pub(crate) fn shutting_down() -> serde_json::Value {
    serde_json::json!({"shuttingDown": true})
}

/// Receives the first shutdown signal since its creation. A second signal ends the process at once:
/// everything that was acknowledged is durable.
pub(crate) struct ShutdownSignal {
    first: mpsc::Receiver<Signal>,
    /// The exit code of a clean shutdown, or why the store ended the server.
    pub(crate) exit: Result<Exit, StoreError>,
}

#[derive(Clone, Copy, Debug)]
enum Signal {
    Interrupt,
    #[cfg(unix)]
    Terminate,
}

impl Signal {
    /// The exit code of a clean shutdown.
    fn clean_exit(self) -> Exit {
        match self {
            Self::Interrupt => Exit::Interrupted,
            // Service managers stop a server with SIGTERM and expect success.
            #[cfg(unix)]
            Self::Terminate => Exit::Success,
        }
    }

    /// The exit code of a process that did not finish its shutdown: 128 and the signal's number.
    fn forced_exit_code(self) -> i32 {
        match self {
            Self::Interrupt => 130,
            #[cfg(unix)]
            Self::Terminate => 143,
        }
    }
}

impl ShutdownSignal {
    pub(crate) fn listen() -> std::io::Result<Self> {
        let (send, first) = mpsc::channel(1);
        let mut signals = signals()?;
        tokio::spawn(async move {
            if let Some(signal) = signals.recv().await {
                let _ = send.send(signal).await;
            }
            if let Some(signal) = signals.recv().await {
                std::process::exit(signal.forced_exit_code());
            }
        });
        Ok(Self {
            first,
            exit: Ok(Exit::Success),
        })
    }

    /// Waits for the first signal, or until the store of the engine accepts no more writes.
    pub(crate) async fn received(&mut self, engine: &Engine) {
        let first = async {
            match self.first.recv().await {
                Some(signal) => signal,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            signal = first => self.exit = Ok(signal.clean_exit()),
            error = engine.store_ended() => self.exit = Err(error),
        }
    }
}

/// Forwards the signals of the process, from now on.
fn signals() -> std::io::Result<mpsc::Receiver<Signal>> {
    let (send, receive) = mpsc::channel(1);
    #[cfg(unix)]
    for (kind, it) in [
        (SignalKind::interrupt(), Signal::Interrupt),
        (SignalKind::terminate(), Signal::Terminate),
    ] {
        let (mut signal, send) = (signal(kind)?, send.clone());
        tokio::spawn(async move {
            while signal.recv().await.is_some() && send.send(it).await.is_ok() {}
        });
    }
    #[cfg(not(unix))]
    tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() && send.send(Signal::Interrupt).await.is_ok() {}
    });
    Ok(receive)
}

/// Shuts the engine down and exports the remaining traces.
pub(crate) async fn shut_down(engine: &Engine, traces: Option<TraceExporter>) {
    engine.shutdown().await;
    if let Some(traces) = traces {
        traces.stop().await;
    }
}
