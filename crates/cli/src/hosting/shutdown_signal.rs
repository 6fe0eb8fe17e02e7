//! Signals that ask the process to shut down, SIGINT (Ctrl-C) and SIGTERM, and the shutdown.

use everstep::Engine;
use everstep_server::TraceExporter;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

pub(crate) const SHUTTING_DOWN: &str =
    "shutting down; unfinished runs continue after the next start";

/// Receives shutdown signals from its creation on.
pub(crate) struct ShutdownSignal {
    #[cfg(unix)]
    signals: [Signal; 2],
}

impl ShutdownSignal {
    #[cfg(unix)]
    pub(crate) fn listen() -> std::io::Result<Self> {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
        let [interrupt, terminate] = kinds.map(signal);
        Ok(Self {
            signals: [interrupt?, terminate?],
        })
    }

    #[cfg(not(unix))]
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next signal.
    pub(crate) async fn received(&mut self) {
        #[cfg(unix)]
        let [interrupt, terminate] = &mut self.signals;
        #[cfg(unix)]
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    }

    /// Shuts the engine down and exports the remaining traces. Another signal aborts this.
    pub(crate) async fn shut_down(&mut self, engine: &Engine, traces: Option<TraceExporter>) {
        let shutdown = async {
            engine.shutdown().await;
            if let Some(traces) = traces {
                traces.stop().await;
            }
        };
        tokio::select! {
            () = shutdown => {}
            () = self.received() => {}
        }
    }
}
