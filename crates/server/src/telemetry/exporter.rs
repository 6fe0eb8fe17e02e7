//! Tells an OpenTelemetry collector of every run that ends: its whole trace, read from its journal.
//!
//! What a trace says was durable long before, so it is whole however often the process was restarted and whoever executed the
//! steps. Telling is best effort: what a collector does not take in a few tries is dropped, and never holds up a run.

use std::time::Duration;

use everstep_engine::{Ending, Engine};
use everstep_machine::spans;
use everstep_protocol::client::{Call, CallError, Connection, InvalidUrl};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::otlp::{ExportRequest, PATH, Trace};

/// Runs that are told of at once.
const BATCH_MAX: usize = 256;
/// How long the first of a batch waits for others.
const BATCH_PATIENCE: Duration = Duration::from_secs(1);
/// How long a collector may take.
const CALL_PATIENCE: Duration = Duration::from_secs(10);
/// How often it is tried.
const TRIES: u32 = 4;
/// How long to rest before it is tried again, first.
const FIRST_REST: Duration = Duration::from_millis(500);

/// Where traces go.
#[derive(Clone, Debug)]
pub struct TraceOptions {
    /// The address of a collector that takes OTLP over HTTP, such as `http://localhost:4318`.
    pub endpoint: String,
    /// What the service is called there.
    pub service: String,
    /// The share of runs that is told of, from 0 to 1. Runs of one trace are told of together, or not at all.
    pub ratio: f64,
}

impl TraceOptions {
    /// Every run, to the collector at this address.
    pub fn to(endpoint: impl Into<String>) -> Self {
        Self {
            endpoint: endpoint.into(),
            service: "everstep".to_owned(),
            ratio: 1.0,
        }
    }
}

/// Traces on their way to a collector, until it is stopped or dropped.
#[derive(Debug)]
pub struct TraceExporter {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl TraceExporter {
    /// Begins to tell of runs that end on this engine.
    ///
    /// # Errors
    /// If the address is none.
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

    /// Tells of what has ended so far, and ends.
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
            // What has ended is told of before this ends.
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
                _ = timeout(BATCH_PATIENCE, more) => {}
                _ = stopped.wait_for(|stopped| *stopped) => {}
            }
            self.tell(&batch).await;
        }
    }

    async fn tell(&self, endings: &[Ending]) {
        let mut traces = Vec::with_capacity(endings.len());
        for ending in endings {
            match self.engine.ended_run(*ending).await {
                Ok(Some(ended)) => traces.push(Trace {
                    spans: spans(&ended.run, ended.generation, &ended.journal),
                    run: ended.run,
                    generation: ended.generation,
                }),
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "the trace of a run cannot be read"),
            }
        }
        traces.retain(|trace| self.is_chosen(trace));
        if traces.is_empty() {
            return;
        }
        if let Err(error) = self.send(&traces).await {
            let dropped = traces.len();
            tracing::warn!(%error, dropped, "a collector does not take traces; they are dropped");
        }
    }

    /// By the trace's own id, so that all who meet a trace choose alike.
    fn is_chosen(&self, trace: &Trace) -> bool {
        let Some(span) = trace.spans.first() else {
            return false;
        };
        let [.., high, low] = span.trace.0;
        f64::from(u16::from_be_bytes([high, low])) / 65_536.0 < self.options.ratio
    }

    async fn send(&self, traces: &[Trace]) -> Result<(), CallError> {
        let request = ExportRequest::new(&self.options.service, traces);
        let call = Call::post(PATH).json(&request)?.timeout(CALL_PATIENCE);
        let mut rest = FIRST_REST;
        for _ in 1..TRIES {
            match self.connection.send(call.clone()).await {
                Ok(_) => return Ok(()),
                Err(error) => {
                    tracing::debug!(%error, "a collector did not take traces; again soon")
                }
            }
            tokio::time::sleep(rest).await;
            rest *= 2;
        }
        self.connection.send(call).await.map(drop)
    }
}
