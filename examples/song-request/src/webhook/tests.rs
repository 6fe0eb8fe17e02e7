//! Tests of the webhook: repeated calls, and the deadline that it sets.

use everstep::testing::{TestEngine, virtual_time};
use everstep::{Workflows, minutes, secs};

use super::*;
use crate::world::{CATALOGUE, World};

async fn engine(world: &World) -> TestEngine {
    let (world, other) = (world.clone(), world.clone());
    let workflows = Workflows::new()
        .workflow(SongRequest { world })
        .workflow(Raffle { world: other });
    TestEngine::builder().workflows(workflows).start().await
}

fn song() -> Redemption {
    let text = format!(
        r#"{{"reward":"song","redemption":"r1","viewer":"ada","url":"spotify:track:{}"}}"#,
        CATALOGUE[0].0
    );
    serde_json::from_str(&text).unwrap()
}

async fn call(test: &TestEngine, redemption: Redemption) -> Accepted {
    let state = State(Engine::clone(test));
    let (status, Json(accepted)) = redeem(state, Json(redemption)).await.unwrap();
    assert_eq!(status, StatusCode::ACCEPTED);
    accepted
}

async fn status(test: &TestEngine) -> RunStatus {
    let path = Path("r1".to_owned());
    let Json(progress) = progress(State(Engine::clone(test)), path).await.unwrap();
    progress.status
}

#[test]
fn a_redemption_that_is_delivered_twice_starts_one_run() {
    virtual_time(async {
        let world = World::default();
        let test = engine(&world).await;
        for created in [true, false] {
            let run = "r1".to_owned();
            assert_eq!(call(&test, song()).await, Accepted { run, created });
        }
        test.run("r1").await.unwrap().wait_json().await.unwrap();
        assert_eq!(status(&test).await, RunStatus::Completed);
        let fulfilled = world.effects();
        let fulfilled = fulfilled.iter().filter(|e| e.contains("fulfilled"));
        assert_eq!(fulfilled.count(), 1);
    });
}

#[test]
fn a_song_that_is_not_queued_by_the_deadline_is_refunded() {
    virtual_time(async {
        let world = World::slow(secs(9));
        let test = engine(&world).await;
        call(&test, song()).await;
        let run = test.run("r1").await.unwrap();
        run.pause().await.unwrap();
        // The deadline ends the pause.
        test.advance(DEADLINE + minutes(1)).await;
        assert_eq!(status(&test).await, RunStatus::Failed);
        assert_eq!(world.effects(), ["twitch: refunded r1"]);
    });
}

#[test]
fn an_unknown_redemption_has_no_progress() {
    virtual_time(async {
        let test = engine(&World::default()).await;
        let path = Path("r2".to_owned());
        let refused = progress(State(Engine::clone(&test)), path).await;
        assert_eq!(refused.unwrap_err().0, StatusCode::NOT_FOUND);
    });
}
