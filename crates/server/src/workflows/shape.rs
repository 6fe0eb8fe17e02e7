//! `GET /workflows/{id}/shape`: the structure of a run. The shape of a long journal comes in parts.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::PageSize;
use everstep_inspect::{Shape, shape as shape_of, to_mermaid};
use everstep_model::{Entry, Generation, RecordNumber, RunId};

use super::call::Call;
use super::page_cursor::{PageCursor, PageOf};
use super::permitted::Permitted;
use crate::failure::Failure;
use crate::json::respond;
use crate::parameters::{Parameter, parameters};
use crate::response::no_store;

/// The media type of Mermaid diagrams.
pub(crate) const MERMAID: &str = "text/vnd.mermaid";

pub(crate) const PARAMETERS: &[Parameter] = parameters! {
    "cursor": Text, "The header `Everstep-Cursor` of a shape that was truncated. The answer is the shape of the records that follow.";
};

pub(crate) async fn shape(call: Call) -> Result<Response, Failure> {
    let parameters = call.parameters(PARAMETERS)?;
    let of = PageOf::of(&call, parameters.text("cursor"))?;
    let from = of.first_record()?;
    let generation = match of.generation {
        Some(generation) => generation,
        None => call.engine().row(&of.run).await?.generation,
    };
    Permitted::to(&call.caller, &of.run, generation)?;
    let _turn = call.read_turn().await;
    let shape = read(&call, &of.run, generation, from).await?;
    let mut response = match call.prefers("application/json") {
        true => respond(StatusCode::OK, &shape),
        false => no_store(StatusCode::OK, MERMAID, to_mermaid(&shape)),
    };
    if let Some(next) = shape.truncated_at {
        let position = next.to_string();
        let cursor = PageCursor {
            generation,
            position,
        };
        cursor.put(&mut response);
    }
    Ok(response)
}

/// How much of a journal is read at once.
const RECORDS_AT_ONCE: usize = 10_000;
const BYTES_AT_ONCE: usize = 4 << 20;

/// Reads records without their payloads, which a shape does not show.
async fn read(
    call: &Call,
    run: &RunId,
    generation: Generation,
    mut next: RecordNumber,
) -> Result<Shape, Failure> {
    let mut left = call.shape_size();
    let mut entries: Vec<Entry> = Vec::new();
    let truncated_at = loop {
        let size = PageSize {
            records: left.records.min(RECORDS_AT_ONCE),
            bytes: left.bytes.min(BYTES_AT_ONCE),
        };
        let page = call
            .engine()
            .journal_page(run, Some(generation), next, size);
        let page = page.await?;
        if page.entries.is_empty() {
            break None;
        }
        for mut entry in page.entries {
            if left.is_used_up() {
                break;
            }
            left.subtract(&entry);
            next = entry.number.plus(1);
            entry.record.body.remove_payloads();
            entries.push(entry);
        }
        if next >= page.end {
            break None;
        }
        if left.is_used_up() {
            break Some(next);
        }
    };
    Ok(Shape {
        truncated_at,
        ..shape_of(&entries)
    })
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;

    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use everstep::{Ctx, Engine, Error, Payload, Workflows};
    use futures_util::FutureExt;
    use serde_json::Value;
    use tower::ServiceExt;

    use crate::auth::Caller;
    use crate::options::{Access, Options};
    use crate::read_turns::ReadTurns;
    use crate::route::bind;
    use crate::routes::build;
    use crate::services::Services;
    use crate::workflows::{ShapeSize, routes};

    async fn stepwise(ctx: Ctx, steps: u32) -> everstep::Result<()> {
        for step in 0..steps {
            ctx.step("s", || async move { Ok::<_, Error>(step) })
                .await?;
        }
        Ok(())
    }

    /// Serves a run with ten steps, with shapes of this size.
    async fn served(size: ShapeSize) -> (Router, Arc<ReadTurns>) {
        let workflows = Workflows::new().function("stepwise", stepwise);
        let engine = Engine::in_memory().workflows(workflows);
        let engine = engine.start().await.unwrap();
        let steps = Payload::from_value(&10).unwrap();
        let run = engine.start_by_name("stepwise", steps).id("s");
        run.await.unwrap().wait_json().await.unwrap();
        let options = Options {
            access: Access::Open,
            ..Options::default()
        };
        let mut services = Services::new(engine.as_ref(), &Arc::new(options));
        services.workflows.shape_size = size;
        let app = build(&services, bind(&services.workflows, routes()));
        (app, services.workflows.read_turns)
    }

    /// Returns a shape and the cursor of the next one.
    async fn get(app: &Router, query: &str) -> (Value, Option<String>) {
        let request = Request::get(format!("/workflows/s/shape{query}"));
        let request = request.header("Accept", "application/json");
        let response = app.clone().oneshot(request.body(Body::empty()).unwrap());
        let response = response.await.unwrap();
        let cursor = response.headers().get("everstep-cursor");
        let cursor = cursor.map(|cursor| cursor.to_str().unwrap().to_owned());
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (serde_json::from_slice(&body).unwrap(), cursor)
    }

    fn names(shape: &Value) -> Vec<String> {
        let nodes = shape["nodes"].as_array().unwrap().iter();
        let names = nodes.map(|node| node["location"].as_str().unwrap().to_owned());
        names.collect()
    }

    // B845
    #[tokio::test]
    async fn the_shape_of_a_long_journal_is_truncated_and_continues_at_its_cursor() {
        let (app, _) = served(ShapeSize::default()).await;
        let (whole, cursor) = get(&app, "").await;
        assert_eq!((whole.get("truncatedAt"), cursor), (None, None));
        for size in [
            ShapeSize {
                records: 8,
                ..ShapeSize::default()
            },
            ShapeSize {
                bytes: 4,
                ..ShapeSize::default()
            },
        ] {
            let (app, _) = served(size).await;
            let (part, mut cursor) = get(&app, "").await;
            let next = part["truncatedAt"].as_u64();
            let next = next.unwrap_or_else(|| panic!("{part}"));
            assert_eq!(cursor, Some(format!("1.{next}")));
            assert_eq!(part["workflow"], "stepwise");
            let mut nodes = names(&part);
            assert!(nodes.len() < 10, "{part}");
            while let Some(next) = cursor {
                let (part, following) = get(&app, &format!("?cursor={next}")).await;
                assert_eq!(part.get("truncatedAt").is_some(), following.is_some());
                for name in names(&part) {
                    if !nodes.contains(&name) {
                        nodes.push(name);
                    }
                }
                cursor = following;
            }
            assert_eq!(nodes, names(&whole));
        }
    }

    // B844
    #[tokio::test]
    async fn reads_of_whole_journals_wait_for_others_of_their_caller() {
        let (app, turns) = served(ShapeSize::default()).await;
        for (method, path, status) in [
            ("GET", "/workflows/s", 200),
            ("GET", "/workflows/s/shape", 200),
            ("POST", "/workflows/s/steps/other/skip", 404),
        ] {
            let mut taken = Vec::new();
            while let Some(turn) = turns.wait(&Caller::unlimited()).now_or_never() {
                taken.push(turn);
            }
            let request = Request::builder().method(method).uri(path);
            let request = request.header("Content-Type", "application/json");
            let request = request.body(Body::empty()).unwrap();
            let mut response = pin!(app.clone().oneshot(request));
            for _ in 0..100 {
                assert!(response.as_mut().now_or_never().is_none(), "{path}");
                tokio::task::yield_now().await;
            }
            drop(taken);
            assert_eq!(response.await.unwrap().status(), status, "{path}");
        }
    }
}
