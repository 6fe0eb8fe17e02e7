//! Signals that ask the process to shut down: SIGINT (Ctrl-C) and SIGTERM.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Receives shutdown signals from its creation on.
pub(crate) struct ShutdownSignal {
    #[cfg(unix)]
    signals: [Signal; 2],
}

impl ShutdownSignal {
    #[cfg(unix)]
    pub(crate) fn listen() -> std::io::Result<Self> {
        let signals = [
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
        ];
        Ok(Self { signals })
    }

    #[cfg(not(unix))]
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next signal.
    #[cfg(unix)]
    pub(crate) async fn received(&mut self) {
        let [interrupt, terminate] = &mut self.signals;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    pub(crate) async fn received(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
