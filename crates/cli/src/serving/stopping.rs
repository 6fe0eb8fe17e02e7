//! When to stop: somebody presses Ctrl-C, or whoever runs the process asks it to end.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears, from when it is made, that the process is asked to end.
pub(crate) struct Stopping {
    #[cfg(unix)]
    signals: [Signal; 2],
}

impl Stopping {
    #[cfg(unix)]
    pub(crate) fn heard() -> std::io::Result<Self> {
        let signals = [
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
        ];
        Ok(Self { signals })
    }

    #[cfg(not(unix))]
    pub(crate) fn heard() -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// Completes when the process is asked to end, each time it is.
    #[cfg(unix)]
    pub(crate) async fn asked(&mut self) {
        let [interrupt, terminate] = &mut self.signals;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    pub(crate) async fn asked(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
