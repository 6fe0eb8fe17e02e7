//! The Rust client with keys: it needs no more rights than the same HTTP requests.

use std::sync::{Arc, Mutex};

use everstep::control::Control;
use everstep::{Client, Ctx, Engine, ErrorCode, Payload, Result, Workflows};
use everstep_protocol::access::{CreateKey, Scope};
use everstep_protocol::client::{Call, Connection};
use everstep_server::{Connections, Keys, Options, router};

use crate::listening::listen;
use crate::support::open;

const SECRET: &str = "hunter2";

async fn login(ctx: Ctx, (): ()) -> Result<u32> {
    let secret = || async { Ok::<_, everstep::Error>(SECRET.to_owned()) };
    let token: String = ctx.step("token", secret).sensitive().await?;
    let length = token.len();
    ctx.step("use", || async move { Ok::<_, everstep::Error>(length) })
        .await?;
    Ok(7)
}

// B447
#[tokio::test]
async fn inspecting_a_run_needs_only_the_scope_read() {
    let engine = Engine::in_memory().workflows(Workflows::new().function("login", login));
    let engine = engine.start().await.unwrap();
    let run = engine.start_by_name("login", Payload::null()).id("l");
    let run = run.await.unwrap();
    run.wait_json().await.unwrap();
    let key = CreateKey::new("reader", [Scope::Read]);
    let key = Keys::of(&engine).create(key, None).await.unwrap().key;
    let app = router(&engine, Options::default());
    let url = format!("http://{}", listen(app, Connections::default()).await);
    let client = Client::connect(&url).key(&key).open().unwrap();
    let remote = client.run("l").await.unwrap();

    let (here, there) = (
        run.inspect().await.unwrap(),
        remote.inspect().await.unwrap(),
    );
    assert_eq!(
        format!("{:?}", there.overview),
        format!("{:?}", here.overview)
    );
    assert_eq!(
        remote.timeline().await.unwrap(),
        run.timeline().await.unwrap()
    );
    let (here, there) = (run.shape().await.unwrap(), remote.shape().await.unwrap());
    assert_eq!(format!("{there:?}"), format!("{here:?}"));

    let refused = remote.journal().await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Forbidden, "it contains secrets");
    let connection = Connection::to(&url).unwrap();
    let connection = connection.with_key(&key.as_str().into()).unwrap();
    let records = connection.send(Call::get("workflows/l/records")).await;
    let records = String::from_utf8(records.unwrap().body.to_vec()).unwrap();
    assert!(records.contains("step_completed"), "{records}");
    assert!(!records.contains(SECRET), "{records}");
    engine.shutdown().await;
}

// B681
#[tokio::test]
async fn a_bulk_request_of_a_client_reaches_every_run_and_reports_progress() {
    let engine = Engine::in_memory().workflows(Workflows::new().function("login", login));
    let engine = engine.start().await.unwrap();
    for n in 0..150 {
        let run = engine.start_by_name("login", Payload::null());
        run.id(format!("l-{n}")).await.unwrap();
    }
    let app = router(&engine, open());
    let url = format!("http://{}", listen(app, Connections::default()).await);
    let client = Client::connect(&url).open().unwrap();

    let progress = Arc::new(Mutex::new(Vec::new()));
    let seen = progress.clone();
    let report = client
        .list()
        .workflow("login")
        .limit(10)
        .each(Control::Terminate)
        .progress(move |at| seen.lock().unwrap().push((at.done, at.total)))
        .await
        .unwrap();
    assert_eq!(report.runs.len(), 150);
    let each: Vec<_> = (1..=150).map(|done| (done, 150)).collect();
    assert_eq!(*progress.lock().unwrap(), each);
    let twice = client.each(["l-0", "l-0", "other"], Control::Delete).await;
    let twice = twice.unwrap();
    assert_eq!((twice.changed(), twice.refused().count()), (1, 1));
    engine.shutdown().await;
}
