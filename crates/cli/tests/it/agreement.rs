//! One status everywhere: every way to ask for the status of a run gives the same answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use everstep::inspect::ListRuns;
use everstep::testing::VirtualRuntime;
use everstep::{
    AnyEvent, Client, Ctx, Engine, EngineBuilder, Error, Payload, Result, Retry, RunHandle,
    RunStatus, Worker, Workflows, hours,
};
use everstep_protocol::access::{CreateKey, MintToken, MintedToken, Scope, View};
use everstep_protocol::client::Connection;
use everstep_server::{Connections, Keys, Options, router, serve};
use everstep_store::MemoryStore;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::{command, stderr, stdout};

async fn sleeper(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    ctx.sleep("rest", hours(24)).await
}

async fn waiter(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    ctx.event_by_name("go").await.map(drop)
}

/// Has a step that never ends.
async fn stuck(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    let work = || async {
        std::future::pending::<()>().await;
        Ok::<_, Error>(())
    };
    ctx.step("work", work).await
}

async fn unlucky(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    let work = || async { Err::<(), _>(Error::new("closed")) };
    let retry = Retry::constant(1_000, hours(1));
    ctx.step("work", work).retry(retry).await
}

async fn done(_: Ctx<AnyEvent>, (): ()) -> Result<u32> {
    Ok(7)
}

async fn broken(_: Ctx<AnyEvent>, (): ()) -> Result<()> {
    Err(Error::fatal("broken"))
}

/// Fails after a step whose undo fails, and is retried this often.
async fn locked(ctx: Ctx<AnyEvent>, retries: u32) -> Result<()> {
    ctx.step("reserve", || async { Ok::<_, Error>(1) })
        .undo(|_: u32| async { Err::<(), _>(Error::new("locked")) })
        .undo_retry(Retry::constant(retries, hours(1)))
        .await?;
    Err(Error::fatal("broken"))
}

/// Calls another step at each execution.
async fn shifty(executions: Arc<AtomicU32>, ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    let name = format!("work-{}", executions.fetch_add(1, Ordering::Relaxed));
    let work = || async { Ok::<_, Error>(()) };
    ctx.step(&name, work).await?;
    ctx.sleep("rest", hours(24)).await
}

fn workflows() -> Workflows {
    let executions = Arc::new(AtomicU32::new(0));
    let shifty = move |ctx, input| shifty(executions.clone(), ctx, input);
    Workflows::new()
        .function("sleeper", sleeper)
        .function("waiter", waiter)
        .function("stuck", stuck)
        .function("unlucky", unlucky)
        .function("done", done)
        .function("broken", broken)
        .function("locked", locked)
        .function("shifty", shifty)
}

#[derive(Clone, Copy)]
enum Verb {
    None,
    Pause,
    Cancel,
    Terminate,
}

/// How a run gets each status: its workflow, its input, the status that it must have reached before
/// the verb is applied, and the verb.
const TABLE: [(RunStatus, &str, u32, RunStatus, Verb); 15] = {
    use RunStatus::*;
    [
        (Queued, "absent", 0, Queued, Verb::None),
        (Running, "stuck", 0, Running, Verb::None),
        (Sleeping, "sleeper", 0, Sleeping, Verb::None),
        (Waiting, "waiter", 0, Waiting, Verb::None),
        (Retrying, "unlucky", 0, Retrying, Verb::None),
        (Pausing, "stuck", 0, Running, Verb::Pause),
        (Paused, "sleeper", 0, Sleeping, Verb::Pause),
        (Cancelling, "stuck", 0, Running, Verb::Cancel),
        (RollingBack, "locked", 1_000, RollingBack, Verb::None),
        (Diverged, "shifty", 0, Diverged, Verb::None),
        (Completed, "done", 0, Completed, Verb::None),
        (Failed, "broken", 0, Failed, Verb::None),
        (RollbackFailed, "locked", 0, RollbackFailed, Verb::None),
        (Cancelled, "sleeper", 0, Sleeping, Verb::Cancel),
        (Terminated, "waiter", 0, Waiting, Verb::Terminate),
    ]
};

/// Where the code of the workflows is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Placement {
    InProcess,
    Remote,
}

struct Site {
    engine: Engine,
    url: String,
    key: String,
    http: Connection,
    client: Client,
    /// The worker of the workflows, if it is remote.
    worker: Option<Worker>,
}

impl Site {
    async fn start(placement: Placement) -> Self {
        Self::open(Engine::in_memory(), Some(placement)).await
    }

    /// Starts a server. Without a placement, no worker offers the workflows.
    async fn open(engine: EngineBuilder, placement: Option<Placement>) -> Self {
        let engine = engine.development(true);
        let engine = match placement {
            Some(Placement::InProcess) => engine.workflows(workflows()),
            Some(Placement::Remote) | None => engine,
        };
        let engine = engine.start().await.unwrap();
        let key = CreateKey::new("ops", [Scope::Admin]);
        let key = Keys::of(&engine).create(key, None).await.unwrap().key;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut options = Options::default();
        // The worker keeps its runs on a busy machine too.
        options.worker_time_to_live = hours(1);
        let app = router(&engine, options);
        let never = std::future::pending();
        tokio::spawn(serve(listener, app, Connections::default(), never));
        let connected = async |workflows| {
            let worker = Worker::connect(&url).key(&key).workflows(workflows);
            let worker = worker.start().unwrap();
            worker.connected().await;
            worker
        };
        // A workflow that can be started, and that no worker offers any more.
        let gone = connected(Workflows::new().function("absent", done)).await;
        gone.shutdown().await;
        let worker = match placement {
            Some(Placement::Remote) => Some(connected(workflows()).await),
            Some(Placement::InProcess) | None => None,
        };
        let http = Connection::to(&url).unwrap();
        Self {
            engine,
            http: http.with_key(&key.as_str().into()).unwrap(),
            client: Client::connect(&url).key(&key).open().unwrap(),
            url,
            key,
            worker,
        }
    }

    /// Starts a server on whose store a run sleeps and another one waits. Both are woken after
    /// their worker has left: by a timer and by an event.
    async fn woken_without_worker(placement: Placement) -> Self {
        let runtime = Arc::new(VirtualRuntime::new(0));
        let store = Arc::new(MemoryStore::new(runtime.clone()));
        let engine = |runtime| Engine::on_store(store.clone()).runtime(runtime);
        let before = Self::open(engine(runtime.clone()), Some(placement)).await;
        let resting = [RunStatus::Sleeping, RunStatus::Waiting];
        for row in TABLE.iter().filter(|row| resting.contains(&row.0)) {
            before.bring(row).await;
        }
        if let Some(worker) = before.worker {
            worker.shutdown().await;
        }
        before.engine.shutdown().await;
        let a_day_later = Arc::new(runtime.successor());
        a_day_later.set_clock_error(25 * 3_600_000);
        let site = Self::open(engine(a_day_later), None).await;
        let waiting = site.engine.run("waiting").await.unwrap();
        let sent = waiting.send_by_name("go", Payload::null(), None);
        sent.await.unwrap();
        for id in ["sleeping", "waiting"] {
            let run = site.engine.run(id).await.unwrap();
            while run.status().await.unwrap() != RunStatus::Queued {
                tokio::task::yield_now().await;
            }
        }
        site
    }

    /// Starts a run and brings it into a status.
    async fn bring(&self, row: &(RunStatus, &str, u32, RunStatus, Verb)) {
        let (status, workflow, input, before, verb) = *row;
        let input = match workflow {
            "locked" => Payload::from_value(&input).unwrap(),
            _ => Payload::null(),
        };
        let run = self.engine.start_by_name(workflow, input);
        let run = run.id(status.as_str()).await.unwrap();
        self.reaches(status, before).await;
        match verb {
            Verb::None => {}
            Verb::Pause => {
                run.pause().await.unwrap();
            }
            Verb::Cancel => {
                run.cancel().await.unwrap();
            }
            Verb::Terminate => {
                run.terminate().await.unwrap();
            }
        }
        self.reaches(status, status).await;
    }

    /// Waits until the journal of a run and its row have a status: the row of a run that was
    /// claimed is `running` before its first step has begun, which a pause would prevent.
    async fn reaches(&self, run: RunStatus, expected: RunStatus) {
        let run = self.engine.run(run.as_str()).await.unwrap();
        while of_handle(&run).await != [expected; 4] {
            tokio::task::yield_now().await;
        }
    }

    /// Returns every answer to the question for the status of a run, by the way of asking.
    async fn answers(&self, id: &str) -> BTreeMap<&'static str, String> {
        let mut answers = BTreeMap::new();
        let mut add = |way, status: String| drop(answers.insert(way, status));
        let run: Value = self.http.get(&format!("workflows/{id}")).await.unwrap();
        add("GET /workflows/{id}", text(&run["status"]));
        let why: Value = self.http.get(&format!("workflows/{id}/why")).await.unwrap();
        add("GET /workflows/{id}/why", text(&why["status"]));
        add("show --json", text(&self.json(&["show", id])["status"]));
        let shown = self.everstep(&["show", id]);
        let first = shown.lines().next().unwrap().to_owned();
        add("show", first.rsplit(' ').next().unwrap().to_owned());
        add("why --json", text(&self.json(&["why", id])["status"]));
        let why = self.everstep(&["why", id]);
        let sentence = why.strip_prefix(&format!("{id} is ")).unwrap();
        let word = sentence.split([':', '\n']).next().unwrap();
        add("why", word.to_owned());
        let word = self.everstep(&["status", id]);
        add("status", word.trim_end().to_owned());
        add("view state", self.view(id, View::State).await);
        add("view client", self.view(id, View::Client).await);
        let handles = [
            ("Engine", self.engine.run(id).await.unwrap()),
            ("Client", self.client.run(id).await.unwrap()),
        ];
        for (name, run) in handles {
            let of = of_handle(&run).await;
            let ways = match name {
                "Engine" => [
                    "Engine: status",
                    "Engine: row",
                    "Engine: journal",
                    "Engine: why",
                ],
                _ => [
                    "Client: status",
                    "Client: row",
                    "Client: journal",
                    "Client: why",
                ],
            };
            for (way, status) in ways.into_iter().zip(of) {
                add(way, status.to_string());
            }
        }
        answers
    }

    /// Returns the status in the rows of a view, read with a token for it.
    async fn view(&self, id: &str, view: View) -> String {
        let request = MintToken {
            run: id.to_owned(),
            view,
            rpcs: Vec::new(),
            events: Vec::new(),
            subject: None,
            lifetime: None,
        };
        let minted: MintedToken = self.http.post("tokens", &request).await.unwrap();
        let reader = Connection::to(&self.url).unwrap();
        let reader = reader.with_key(&minted.token.into()).unwrap();
        let path = format!("v1/stream/workflows/{id}?offset=-1");
        let changes: Vec<Value> = reader.get(&path).await.unwrap();
        let mut runs = changes.iter().rev();
        let run = runs.find(|change| change["type"] == "workflow");
        text(&run.unwrap()["value"]["status"])
    }

    /// Returns the status of every run in all lists, by the way of listing.
    async fn lists(&self) -> BTreeMap<&'static str, BTreeMap<String, String>> {
        let page: Value = self.http.get("workflows?limit=100").await.unwrap();
        let over_http = page["runs"].as_array().unwrap().clone();
        let lines = self.everstep(&["list", "--json"]);
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let lines: Vec<Value> = lines.collect();
        BTreeMap::from([
            ("GET /workflows", by_id(&over_http)),
            ("list --json", by_id(&lines)),
            ("Engine: list", of_list(self.engine.list()).await),
            ("Client: list", of_list(self.client.list()).await),
        ])
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.everstep(&[arguments, &["--json"]].concat())).unwrap()
    }

    /// Runs a client command, which must succeed.
    fn everstep(&self, arguments: &[&str]) -> String {
        let mut command = command(arguments);
        command.env("EVERSTEP_SERVER", &self.url);
        let output = command.env("EVERSTEP_KEY", &self.key).output().unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            stderr(&output)
        );
        stdout(&output)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn by_id(runs: &[Value]) -> BTreeMap<String, String> {
    let runs = runs.iter();
    runs.map(|run| (text(&run["id"]), text(&run["status"])))
        .collect()
}

async fn of_handle(run: &RunHandle) -> [RunStatus; 4] {
    let info = run.inspect().await.unwrap();
    [
        run.status().await.unwrap(),
        info.row.status,
        info.overview.status(),
        run.why().await.unwrap().status,
    ]
}

async fn of_list(list: ListRuns) -> BTreeMap<String, String> {
    let rows = list.limit(100).await.unwrap().runs.into_iter();
    rows.map(|row| (row.id.to_string(), row.status.to_string()))
        .collect()
}

// B771
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_way_to_ask_gives_the_same_status() {
    let covered: Vec<_> = TABLE.iter().map(|row| row.0).collect();
    assert_eq!(covered, RunStatus::ALL, "one row for each status");
    for placement in [Placement::InProcess, Placement::Remote] {
        let site = Site::start(placement).await;
        for row in &TABLE {
            site.bring(row).await;
        }
        let lists = site.lists().await;
        for status in RunStatus::ALL {
            let expected = status.as_str();
            for (way, answer) in site.answers(expected).await {
                assert_eq!(answer, expected, "{placement:?}: {way}");
            }
            for (way, listed) in &lists {
                assert_eq!(listed[expected], expected, "{placement:?}: {way}");
            }
        }
        let queued = site.everstep(&["show", "queued"]);
        let reason = "no live worker that offers workflow `absent`";
        assert!(queued.contains(reason), "{queued}");
    }
}

// B771, B860
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_way_to_ask_calls_a_run_that_is_woken_without_a_worker_queued() {
    for placement in [Placement::InProcess, Placement::Remote] {
        let site = Site::woken_without_worker(placement).await;
        let lists = site.lists().await;
        for (id, workflow) in [("sleeping", "sleeper"), ("waiting", "waiter")] {
            for (way, answer) in site.answers(id).await {
                assert_eq!(answer, "queued", "{placement:?}, {id}: {way}");
            }
            for (way, listed) in &lists {
                assert_eq!(listed[id], "queued", "{placement:?}, {id}: {way}");
            }
            let reason = format!("no live worker that offers workflow `{workflow}`");
            for command in ["show", "why"] {
                let printed = site.everstep(&[command, id]);
                assert!(printed.contains(&reason), "{printed}");
            }
        }
    }
}
