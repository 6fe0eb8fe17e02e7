//! The network between workers and nodes. Every request has a number. The number and the seed
//! decide whether it is delayed, lost, late or repeated, and whether its sender crashes.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use bytes::Bytes;
use everstep::Engine;
use everstep_protocol::client::{RequestTimeout, Transport, TransportError};
use everstep_server::{Access, Options, workers_router};
use everstep_store::BoxFuture;
use futures_util::future::{Either, select};
use http::{Request, Response};
use tower::ServiceExt;

use super::faults::{CallPlan, Ending};
use super::process::Process;
use super::world::World;
use crate::plan::FaultKind;

/// The timeout of requests that have none.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

type Answer = Result<Response<Bytes>, TransportError>;

/// Returns the router that serves an engine to workers.
pub(super) fn serve(engine: &Engine, time_to_live: Duration) -> Router {
    let mut options = Options::default();
    options.worker_time_to_live = time_to_live;
    options.access = Access::Open;
    workers_router(engine, options)
}

/// The connection of one worker to one node.
#[derive(Clone)]
pub(super) struct SimTransport {
    pub(super) world: Arc<World>,
    pub(super) worker: Arc<Process>,
    pub(super) node: usize,
}

impl Transport for SimTransport {
    fn call(&self, request: Request<Bytes>) -> BoxFuture<'static, Answer> {
        Box::pin(self.clone().send(request))
    }
}

impl SimTransport {
    async fn send(self, request: Request<Bytes>) -> Answer {
        let (world, worker) = (&self.world, &self.worker);
        if !worker.is_alive(&world.executor) {
            return pending().await;
        }
        let number = world.next_call();
        let plan = world.faults().plan_call(number);
        world.log(&worker.name, || {
            let fault = match plan.ending {
                Ending::Fault(kind) => format!(" [{}]", kind.as_str()),
                Ending::Answered => String::new(),
            };
            let verb = request.uri().path().rsplit('/').next().unwrap_or_default();
            let bytes = request.body().len();
            format!(
                "#{number} {} {verb} to node {}, {bytes} bytes{fault}",
                request.method(),
                self.node
            )
        });
        match plan.ending {
            Ending::Answered => {
                let answer = self.arrive(plan.before, request).await;
                world.sleep(plan.after).await;
                answer
            }
            Ending::Fault(kind) => self.go_wrong(kind, plan, request).await,
        }
    }

    async fn go_wrong(&self, kind: FaultKind, plan: CallPlan, request: Request<Bytes>) -> Answer {
        let (world, worker) = (&self.world, &self.worker);
        match kind {
            FaultKind::FailAfter => {
                let _ = self.arrive(plan.before, request).await;
                world.sleep(plan.after).await;
                Err(self.broken("the answer got lost"))
            }
            FaultKind::Late => {
                self.arrive_later(plan.later, request);
                world.sleep(plan.after).await;
                Err(self.broken("no answer arrived in time"))
            }
            FaultKind::Repeat => {
                let answer = self.arrive(plan.before, request.clone()).await;
                self.arrive_later(plan.later, request);
                world.sleep(plan.after).await;
                answer
            }
            FaultKind::CrashBefore => {
                world.crash(worker, "before this request");
                pending().await
            }
            FaultKind::CrashAfter => {
                let _ = self.arrive(plan.before, request).await;
                world.crash(worker, "after this request");
                pending().await
            }
            _ => {
                world.sleep(plan.after).await;
                Err(TransportError::ConnectionRefused {
                    address: self.address(),
                })
            }
        }
    }

    /// Delivers the request after a delay, and waits for the answer up to the timeout.
    async fn arrive(&self, after: Duration, request: Request<Bytes>) -> Answer {
        let timeout = request.extensions().get::<RequestTimeout>();
        let timeout = timeout.map_or(DEFAULT_TIMEOUT, |timeout| timeout.0);
        self.world.sleep(after).await;
        let Some(answer) = self.handle(request) else {
            return Err(TransportError::ConnectionRefused {
                address: self.address(),
            });
        };
        let late = std::pin::pin!(self.world.executor.sleep(timeout));
        match select(answer, late).await {
            Either::Left((Ok(answer), _)) => Ok(answer),
            Either::Left((Err(_), _)) => Err(self.broken("the node is gone")),
            Either::Right(_) => Err(TransportError::TimedOut {
                address: self.address(),
                timeout,
            }),
        }
    }

    /// Delivers the request later, even if its sender has crashed.
    fn arrive_later(&self, after: Duration, request: Request<Bytes>) {
        let this = self.clone();
        self.world.executor.spawn(self.world.network, async move {
            this.world.sleep(after).await;
            this.world
                .log(&this.worker.name, || "a request arrives late".to_owned());
            if let Some(answer) = this.handle(request) {
                let _ = answer.await;
            }
        });
    }

    /// Handles a request in the process of the node. None if no server is running there.
    fn handle(
        &self,
        request: Request<Bytes>,
    ) -> Option<tokio::sync::oneshot::Receiver<Response<Bytes>>> {
        let (process, router) = self.world.machines.get(self.node)?.server()?;
        let (send, receive) = tokio::sync::oneshot::channel();
        self.world.executor.spawn(process.group, async move {
            let answer = match router.oneshot(request.map(Body::from)).await {
                Ok(answer) => answer,
                Err(never) => match never {},
            };
            let (parts, body) = answer.into_parts();
            if let Ok(body) = to_bytes(body, usize::MAX).await {
                let _ = send.send(Response::from_parts(parts, body));
            }
        });
        Some(receive)
    }

    fn broken(&self, detail: &str) -> TransportError {
        TransportError::Broken {
            address: self.address(),
            detail: detail.to_owned(),
        }
    }

    fn address(&self) -> String {
        format!("http://node-{}", self.node)
    }
}
