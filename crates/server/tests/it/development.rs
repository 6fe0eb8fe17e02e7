//! Development mode reaches the workers of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use everstep::{Ctx, Engine, Payload, RunStatus, Worker, Workflows};
use everstep_server::{Access, Connections, Options, router};

use crate::listening::listen;

// B448
#[tokio::test]
async fn a_nondeterministic_worker_of_a_development_server_parks_its_run() {
    let engine = Engine::in_memory().development(true);
    let engine = engine.start().await.unwrap();
    let mut options = Options::default();
    options.access = Access::Open;
    let app = router(&engine, options);
    let url = format!("http://{}", listen(app, Connections::default()).await);
    let executions = Arc::new(AtomicU32::new(0));
    let unstable = move |ctx: Ctx, (): ()| {
        let is_even = executions.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        async move {
            let name = if is_even { "a" } else { "b" };
            let done = || async { Ok::<_, everstep::Error>(()) };
            ctx.step(name, done).await?;
            ctx.sleep("nap", Duration::from_secs(3_600)).await
        }
    };
    let worker = Worker::connect(url).workflows(Workflows::new().function("unstable", unstable));
    let worker = worker.start().unwrap();
    worker.connected().await;
    let run = engine.start_by_name("unstable", Payload::null());
    let run = run.await.unwrap();
    loop {
        match run.inspect().await.unwrap().row.status {
            RunStatus::Diverged => break,
            status => assert_ne!(status, RunStatus::Sleeping, "no second look was taken"),
        }
        tokio::task::yield_now().await;
    }
    worker.shutdown().await;
    engine.shutdown().await;
}
