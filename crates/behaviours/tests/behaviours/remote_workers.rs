//! Remote workers: what happens to their runs when they crash, leave, hang or receive no response.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use everstep::journal::Timestamp;
use everstep::testing::{VirtualRuntime, virtual_time};
use everstep::{Ctx, Engine, Error, RunHandle, RunStatus, Worker, Workflows, secs};
use everstep_protocol::client::{Call, Connection, Transport, TransportError};
use everstep_server::{Access, Options, workers_router};
use everstep_store::BoxFuture;
use serde_json::{Value, json};

use crate::served::Direct;
use crate::support::json as payload;

pub(crate) const TIME_TO_LIVE: Duration = Duration::from_secs(10);

/// An engine that executes nothing itself, and a transport to it.
pub(crate) async fn served() -> (Engine, Arc<dyn Transport>) {
    served_on(Arc::new(VirtualRuntime::new(1))).await
}

async fn served_on(runtime: Arc<VirtualRuntime>) -> (Engine, Arc<dyn Transport>) {
    let engine = Engine::in_memory().runtime(runtime).start().await.unwrap();
    let transport = serve(&engine, |_| {});
    (engine, transport)
}

/// Returns the transport by which workers reach an engine.
pub(crate) fn serve(engine: &Engine, change: impl FnOnce(&mut Options)) -> Arc<dyn Transport> {
    let mut options = Options::default();
    options.worker_time_to_live = TIME_TO_LIVE;
    options.access = Access::Open;
    change(&mut options);
    Arc::new(Direct(workers_router(engine, options)))
}

/// A process with a worker. Its workflow has one step of ten minutes between two short ones, and
/// records which worker executes them.
pub(crate) struct Process {
    worker: Worker,
    pub(crate) runtime: Arc<VirtualRuntime>,
    begun: Arc<AtomicU32>,
}

impl Process {
    pub(crate) async fn start(transport: &Arc<dyn Transport>, seed: u64, slots: u32) -> Self {
        let runtime = Arc::new(VirtualRuntime::new(seed));
        let begun = Arc::new(AtomicU32::new(0));
        let counter = begun.clone();
        let code = move |ctx: Ctx, _: ()| {
            let counter = counter.clone();
            async move {
                let short = || async { Ok::<_, Error>(seed) };
                let first: u64 = ctx.step("short", short).await?;
                let long = || async {
                    counter.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(secs(600)).await;
                    Ok::<_, Error>(seed)
                };
                let second: u64 = ctx.step("long", long).await?;
                Ok::<_, Error>((first, second))
            }
        };
        let worker = Worker::connect("http://test")
            .transport(transport.clone())
            .runtime(runtime.clone())
            .workflows(Workflows::new().function("w", code))
            .slots(slots)
            .start()
            .unwrap();
        worker.connected().await;
        Self {
            worker,
            runtime,
            begun,
        }
    }

    pub(crate) fn begun(&self) -> u32 {
        self.begun.load(Ordering::Relaxed)
    }
}

pub(crate) async fn start(engine: &Engine, id: &str) -> RunHandle {
    let start = engine.start_by_name("w", payload(&()));
    start.id(id).await.unwrap()
}

async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

#[test]
fn the_runs_of_a_crashed_worker_are_reassigned_when_its_session_expires() {
    virtual_time(async {
        let (engine, transport) = served().await;
        let first = Process::start(&transport, 11, 10).await;
        let run = start(&engine, "r").await;
        pass(secs(1)).await;
        assert_eq!(first.begun(), 1);
        let second = Process::start(&transport, 12, 10).await;
        first.runtime.crash().await;
        pass(TIME_TO_LIVE - secs(5)).await;
        assert_eq!(second.begun(), 0, "it may still be alive");
        pass(secs(6)).await;
        assert_eq!(second.begun(), 1);
        let result = run.wait_json().await.unwrap();
        assert_eq!(result, payload(&(11, 12)), "what was done stays done");
    });
}

#[test]
fn a_worker_that_shuts_down_finishes_its_steps_and_releases_its_runs_at_once() {
    virtual_time(async {
        let (engine, transport) = served().await;
        let first = Process::start(&transport, 11, 10).await;
        let run = start(&engine, "r").await;
        pass(secs(595)).await;
        let second = Process::start(&transport, 12, 10).await;
        let begun = tokio::time::Instant::now();
        first.worker.shutdown().await;
        assert!(begun.elapsed() < secs(7), "{:?}", begun.elapsed());
        assert_eq!(run.wait_json().await.unwrap(), payload(&(11, 11)));
        assert!(begun.elapsed() < secs(7), "{:?}", begun.elapsed());
        assert_eq!(second.begun(), 0, "the step was done");
    });
}

#[test]
fn a_session_gets_no_more_runs_than_it_has_slots() {
    virtual_time(async {
        let (engine, transport) = served().await;
        let small = Process::start(&transport, 11, 2).await;
        let runs = [
            start(&engine, "a").await,
            start(&engine, "b").await,
            start(&engine, "c").await,
        ];
        pass(secs(60)).await;
        assert_eq!(small.begun(), 2);
        let other = Process::start(&transport, 12, 1).await;
        pass(secs(1)).await;
        assert_eq!(other.begun(), 1, "what waited goes to who has room");
        for run in &runs {
            run.wait_json().await.unwrap();
        }
        assert_eq!((small.begun(), other.begun()), (2, 1));
    });
}

#[test]
fn a_worker_whose_clock_is_wrong_writes_the_time_of_the_server() {
    virtual_time(async {
        let (engine, transport) = served().await;
        let process = Process::start(&transport, 11, 10).await;
        process.runtime.set_clock_error(-3_600_000);
        let run = start(&engine, "r").await;
        pass(secs(1)).await;
        process.runtime.set_clock_error(3_600_000);
        run.wait_json().await.unwrap();
        let times: Vec<Timestamp> = run
            .journal()
            .await
            .unwrap()
            .iter()
            .map(|entry| entry.record.time)
            .collect();
        assert!(times.is_sorted(), "{times:?}");
        let (first, last) = (times[0], *times.last().unwrap());
        assert_eq!(first.until(last), secs(600), "{times:?}");
    });
}

#[test]
fn a_change_of_the_servers_clock_does_not_affect_which_workers_are_alive() {
    virtual_time(async {
        let clock = Arc::new(VirtualRuntime::new(1));
        let (engine, transport) = served_on(clock.clone()).await;
        let first = Process::start(&transport, 11, 10).await;
        let run = start(&engine, "r").await;
        pass(secs(1)).await;
        clock.set_clock_error(3_600_000);
        pass(secs(30)).await;
        let second = Process::start(&transport, 12, 10).await;
        pass(secs(1)).await;
        assert_eq!((first.begun(), second.begun()), (1, 0), "it is alive");
        first.runtime.crash().await;
        clock.set_clock_error(-3_600_000);
        pass(TIME_TO_LIVE + secs(1)).await;
        assert_eq!(second.begun(), 1, "it is dead, whatever the time is");
        let result = run.wait_json().await.unwrap();
        assert_eq!(result, payload(&(11, 12)));
    });
}

/// Loses the response to every third request, and delivers every fifth request twice.
struct Unreliable {
    inner: Arc<dyn Transport>,
    count: AtomicU32,
}

impl Transport for Unreliable {
    fn call(
        &self,
        request: http::Request<bytes::Bytes>,
    ) -> BoxFuture<'static, Result<http::Response<bytes::Bytes>, TransportError>> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let twice = number
            .is_multiple_of(5)
            .then(|| self.inner.call(request.clone()));
        let call = self.inner.call(request);
        Box::pin(async move {
            let answer = match twice {
                Some(twice) => futures_util::future::join(call, twice).await.0,
                None => call.await,
            };
            match number % 3 {
                0 => Err(broken()),
                _ => answer,
            }
        })
    }
}

fn broken() -> TransportError {
    TransportError::Broken {
        address: "http://test".to_owned(),
        detail: "a test broke it".to_owned(),
    }
}

#[test]
fn requests_without_a_response_are_sent_again_and_take_effect_once() {
    virtual_time(async {
        let (engine, transport) = served().await;
        let unreliable: Arc<dyn Transport> = Arc::new(Unreliable {
            inner: transport,
            count: AtomicU32::new(1),
        });
        let process = Process::start(&unreliable, 11, 10).await;
        for id in ["a", "b", "c", "d"] {
            start(&engine, id).await;
        }
        for id in ["a", "b", "c", "d"] {
            let run = engine.run(id).await.unwrap();
            run.wait_json().await.unwrap();
            let journal = run.journal().await.unwrap();
            let kinds: Vec<_> = journal
                .iter()
                .map(|entry| entry.record.body.type_name())
                .collect();
            let expected = [
                "created",
                "step_started",
                "step_completed",
                "step_started",
                "step_completed",
                "completed",
            ];
            assert_eq!(kinds, expected);
        }
        assert_eq!(process.begun(), 4, "each step ran once");
    });
}

#[test]
fn a_token_of_another_session_is_refused() {
    virtual_time(async {
        let (engine, transport) = served().await;
        let connection = Connection::over(transport, "http://test").unwrap();
        let register =
            json!({"worker": "w", "slots": 1, "workflows": [{"name": "w", "versions": [1, 1]}]});
        let post = async |path: String, body: &Value| connection.post::<Value>(&path, body).await;
        let one = post("v1/workers".to_owned(), &register).await.unwrap();
        let other = post("v1/workers".to_owned(), &register).await.unwrap();
        let at = |session: &Value, verb: &str| {
            format!("v1/workers/{}/{verb}", session["session"].as_str().unwrap())
        };
        let run = start(&engine, "r").await;
        let claim = json!({"after": 0});
        let claimed = post(at(&one, "claim"), &claim).await.unwrap();
        let token = claimed["items"][0]["run"]["token"].clone();
        let append = json!({"appends": [{
            "token": token, "seq": 1, "records": [], "then": "release", "seen": 1, "inboxSeen": 1,
        }]});
        let refused = post(at(&other, "append"), &append).await.unwrap_err();
        assert_eq!(refused.status(), Some(403));
        let mut forged = append.clone();
        let text = token.as_str().unwrap();
        forged["appends"][0]["token"] = json!(format!("{}x", text));
        let refused = post(at(&one, "append"), &forged).await.unwrap_err();
        assert_eq!(refused.status(), Some(403));
        let unknown = post("v1/workers/none/claim".to_owned(), &claim).await;
        assert_eq!(unknown.unwrap_err().status(), Some(404));
        let released = post(at(&one, "append"), &append).await.unwrap();
        assert_eq!(released["answers"][0]["outcome"], "appended");
        let again = post(at(&one, "append"), &append).await.unwrap();
        assert_eq!(
            again["answers"], released["answers"],
            "the same answer again"
        );
        assert!(!run.status().await.unwrap().is_terminal());
        let left = Call::new(
            http::Method::DELETE,
            format!("v1/workers/{}", one["session"].as_str().unwrap()),
        );
        connection.send(left).await.unwrap();
        let gone = post(at(&one, "heartbeat"), &json!({})).await.unwrap_err();
        assert_eq!(gone.status(), Some(404));
    });
}

#[test]
fn a_run_that_ends_its_workers_is_paused_after_a_while() {
    virtual_time(async {
        let (engine, transport) = served().await;
        let process = Process::start(&transport, 1, 10).await;
        let run = start(&engine, "r").await;
        pass(secs(1)).await;
        process.runtime.crash().await;
        for seed in 2..16 {
            let process = Process::start(&transport, seed, 10).await;
            pass(TIME_TO_LIVE + secs(2)).await;
            if run.status().await.unwrap() == RunStatus::Paused {
                assert!(seed > 10, "after {seed} workers");
                let why = run.why().await.unwrap().to_string();
                assert!(why.contains("without progress"), "{why}");
                return;
            }
            process.runtime.crash().await;
        }
        panic!("it ends one worker after the other");
    });
}
