//! Exports the trace of every run that ends to an OpenTelemetry collector.
//!
//! The trace is derived from the journal, so it is complete across restarts and workers. Export is
//! best effort: traces that a collector does not accept after a few attempts are dropped. Export
//! never delays a run.

use std::time::Duration;

use everstep_engine::{Ending, Engine};
use everstep_inspect::spans;
use everstep_protocol::client::{Call, CallError, Connection, InvalidUrl};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::otlp::{PATH, Trace, export_request};

/// The maximum number of runs in one export request.
const BATCH_MAX: usize = 256;
/// How long the first run of a batch waits for others.
const BATCH_DELAY: Duration = Duration::from_secs(1);
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
const ATTEMPTS: u32 = 4;
/// The delay before the first retry. It doubles with each retry.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(500);

/// The target and the sampling of traces.
#[derive(Clone, Debug)]
pub struct TraceOptions {
    /// The URL of a collector for OTLP over HTTP, such as `http://localhost:4318`.
    pub endpoint: String,
    /// The service name in the traces.
    pub service: String,
    /// The sampling ratio, from 0 to 1. All runs of a trace are sampled together.
    pub ratio: f64,
}

impl TraceOptions {
    /// Exports all runs to the collector at this URL.
    pub fn to(endpoint: impl Into<String>) -> Self {
        Self {
            endpoint: endpoint.into(),
            service: "everstep".to_owned(),
            ratio: 1.0,
        }
    }
}

/// Exports traces until it is stopped or dropped.
#[derive(Debug)]
pub struct TraceExporter {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl TraceExporter {
    /// Exports the runs that end on this engine from now on.
    ///
    /// # Errors
    /// If the URL is invalid.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(engine: impl AsRef<Engine>, options: TraceOptions) -> Result<Self, InvalidUrl> {
        let export = Export {
            connection: Connection::to(&options.endpoint)?,
            engine: engine.as_ref().clone(),
            options,
        };
        let (stop, stopped) = watch::channel(false);
        Ok(Self {
            stop,
            task: tokio::spawn(export.run(stopped)),
        })
    }

    /// Exports the runs that have ended so far, and stops.
    pub async fn stop(mut self) {
        let _ = self.stop.send(true);
        let _ = (&mut self.task).await;
    }
}

impl Drop for TraceExporter {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Export {
    engine: Engine,
    connection: Connection,
    options: TraceOptions,
}

impl Export {
    async fn run(self, mut stopped: watch::Receiver<bool>) {
        let mut endings = self.engine.endings();
        loop {
            // Biased, so that pending runs are exported before it stops.
            let first = tokio::select! {
                biased;
                ending = endings.next() => ending,
                _ = stopped.wait_for(|stopped| *stopped) => None,
            };
            let Some(first) = first else { break };
            let mut batch = vec![first];
            let more = async {
                while batch.len() < BATCH_MAX {
                    let Some(ending) = endings.next().await else {
                        break;
                    };
                    batch.push(ending);
                }
            };
            tokio::select! {
                biased;
                _ = timeout(BATCH_DELAY, more) => {}
                _ = stopped.wait_for(|stopped| *stopped) => {}
            }
            self.export(&batch).await;
        }
    }

    async fn export(&self, endings: &[Ending]) {
        let mut traces = Vec::with_capacity(endings.len());
        for ending in endings {
            match self.engine.ended_run(*ending).await {
                Ok(Some(ended)) => traces.push(Trace {
                    spans: spans(&ended.run, ended.generation, &ended.journal),
                    run: ended.run,
                    generation: ended.generation,
                }),
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "cannot read the trace of a run"),
            }
        }
        traces.retain(|trace| self.is_sampled(trace));
        if traces.is_empty() {
            return;
        }
        if let Err(error) = self.send(&traces).await {
            let dropped = traces.len();
            tracing::warn!(%error, dropped, "collector does not accept traces, dropping them");
        }
    }

    /// Decides by the trace id, so that all nodes make the same decision for a trace.
    fn is_sampled(&self, trace: &Trace) -> bool {
        let Some(span) = trace.spans.first() else {
            return false;
        };
        let [.., high, low] = span.trace.0;
        f64::from(u16::from_be_bytes([high, low])) / 65_536.0 < self.options.ratio
    }

    async fn send(&self, traces: &[Trace]) -> Result<(), CallError> {
        let request = export_request(&self.options.service, traces);
        let call = Call::post(PATH).json(&request)?.timeout(CALL_TIMEOUT);
        let mut delay = FIRST_RETRY_DELAY;
        for _ in 1..ATTEMPTS {
            match self.connection.send(call.clone()).await {
                Ok(_) => return Ok(()),
                Err(error) => {
                    tracing::debug!(%error, "collector rejected traces, retrying")
                }
            }
            tokio::time::sleep(delay).await;
            delay *= 2;
        }
        self.connection.send(call).await.map(drop)
    }
}
