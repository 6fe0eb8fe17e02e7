//! Records of a run: what is redacted in them, and requests that wait for them.

use everstep::operation::Undo;
use everstep::{AnyEvent, Ctx, Error, Result, Retry, Workflows, secs};
use serde_json::{Value, json};

use super::support::{Served, served, served_with};

/// Has a sensitive step that completes and one that fails, both with data for their undos.
async fn vault(ctx: Ctx<AnyEvent>, (): ()) -> Result<()> {
    ctx.step_with("open", |step| async move {
        step.undo_with(&"combination")?;
        Ok::<_, Error>("treasure".to_owned())
    })
    .sensitive()
    .undo_with(|_: Undo<String>| async { Ok::<_, Error>(()) })
    .await?;
    ctx.step_with("move", |step| async move {
        step.undo_with(&"hiding place")?;
        Err::<(), _>(Error::new("the lorry is late"))
    })
    .sensitive()
    .retry(Retry::constant(10, secs(3_600)))
    .undo_with(|_: Undo<()>| async { Ok::<_, Error>(()) })
    .await
}

async fn lines(served: &Served, path: &str) -> Vec<Value> {
    let response = served.get(path).await;
    assert_eq!(response.status, 200, "{response:?}");
    let text = String::from_utf8(response.body.to_vec()).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

// B841
#[test]
fn records_contain_neither_results_nor_undo_data_of_sensitive_steps() {
    let workflows = Workflows::new().function("vault", vault);
    served_with(workflows, async |served| {
        served.start("vault", "v", "null").await;
        served.wait_for_status("v", "retrying").await;
        let undo_data = async |path| {
            let records = lines(&served, path).await.into_iter();
            let steps = records.filter(|record| {
                let kind = record["type"].as_str().unwrap();
                kind == "workflow:step_completed" || kind == "workflow:step_failed"
            });
            let shown = steps.map(|record| record["value"]["undo"].clone());
            shown.collect::<Vec<_>>()
        };
        let whole = undo_data("/workflows/v/journal").await;
        assert_eq!(whole, [json!("combination"), json!("hiding place")]);
        let redacted = undo_data("/workflows/v/records").await;
        assert_eq!(redacted, [Value::Null, Value::Null]);
        let text = served.get("/workflows/v/records").await;
        let text = String::from_utf8(text.body.to_vec()).unwrap();
        assert!(!text.contains("treasure"), "{text}");
    });
}

// B846
#[test]
fn a_request_that_waits_for_records_is_about_its_generation() {
    served(async |served| {
        served.start("order", "o", "7").await;
        served.wait_for_status("o", "waiting").await;
        served.post("/workflows/o/restart", "").await;
        served.wait_for_status("o", "waiting").await;
        for list in ["records", "journal"] {
            let earlier = format!("/workflows/o@1/{list}");
            let whole = lines(&served, &earlier).await;
            let waited = served.get(&format!("{earlier}?wait=1s")).await;
            assert_eq!(waited.status, 200, "{waited:?}");
            assert_eq!(waited.header("stream-closed"), "true");
            let text = String::from_utf8(waited.body.to_vec()).unwrap();
            assert_eq!(text.lines().count(), whole.len());
            // The first generation has ended, so there is nothing to wait for.
            let before = served.test.now();
            let end = whole.len();
            let cursor = format!("/workflows/o/{list}?cursor=1.{end}&wait=30s");
            let rest = served.get(&cursor).await;
            assert_eq!(rest.header("stream-closed"), "true", "{rest:?}");
            assert!(rest.body.is_empty(), "{rest:?}");
            assert_eq!(served.test.now(), before);
        }
    });
}
