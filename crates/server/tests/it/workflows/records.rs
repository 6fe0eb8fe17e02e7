//! What is redacted in the records of a run.

use everstep::operation::Undo;
use everstep::{AnyEvent, Ctx, Error, Result, Retry, Workflows, secs};
use serde_json::{Value, json};

use super::support::{Served, served_with};

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
