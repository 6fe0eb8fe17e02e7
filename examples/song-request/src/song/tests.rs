//! Tests of the song request under each possible failure, by the calls made to the services.

use everstep::testing::{
    Intervention, JournalView, Mock, TestEngine, TestEngineBuilder, simulate_in, virtual_time,
};
use everstep::{Handle, RunStatus, WaitError, Workflows, millis, secs};

use super::*;
use crate::world::CATALOGUE;

const TITLE: &str = CATALOGUE[0].1;

fn engine(world: &World) -> TestEngineBuilder {
    let world = world.clone();
    TestEngine::builder().workflows(Workflows::new().workflow(SongRequest { world }))
}

async fn request(test: &TestEngine) -> Handle<SongRequest> {
    request_url(test, &format!("spotify:track:{}", CATALOGUE[0].0)).await
}

async fn request_url(test: &TestEngine, url: &str) -> Handle<SongRequest> {
    let input = SongRequestInput {
        url: url.into(),
        ..ada()
    };
    test.start::<SongRequest>(&input).id("r1").await.unwrap()
}

fn ada() -> SongRequestInput {
    SongRequestInput {
        redemption: "r1".into(),
        viewer: "ada".into(),
        url: format!("spotify:track:{}", CATALOGUE[0].0),
    }
}

async fn failure(run: &Handle<SongRequest>) -> String {
    match run.wait().await.unwrap_err() {
        WaitError::Failed(failure) => failure.message,
        other => panic!("{other}"),
    }
}

/// The calls of a successful request.
fn a_good_evening() -> Vec<String> {
    vec![
        "database: saved the song of r1".into(),
        format!("spotify: queued {TITLE}"),
        format!("analytics: {TITLE} was asked for"),
        "twitch: fulfilled r1".into(),
        format!("chat: @ada {TITLE} is in the queue"),
    ]
}

#[test]
fn a_song_is_queued_paid_for_and_announced() {
    virtual_time(async {
        let world = World::default();
        let test = engine(&world).development().start().await;
        let run = request(&test).await;
        assert_eq!(run.wait().await.unwrap().title, TITLE);
        assert_eq!(world.effects(), a_good_evening());
    });
}

#[test]
fn a_bad_link_is_not_retried_and_refunded() {
    virtual_time(async {
        let world = World::default();
        let test = engine(&world).development().start().await;
        let run = request_url(&test, "https://example.com/song").await;
        assert!(
            failure(&run)
                .await
                .contains("is not a link to a Spotify track")
        );
        assert_eq!(test.calls("parse-spotify-url"), 1);
        assert_eq!(world.effects(), ["twitch: refunded r1"]);
    });
}

#[test]
fn a_spotify_that_is_busy_is_asked_again() {
    virtual_time(async {
        let world = World::default();
        let busy = Mock::fails(Error::new("503 Service Unavailable")).times(3);
        let builder = engine(&world).mock_step("get-track-info", busy);
        let test = builder.start().await;
        let run = request(&test).await;
        assert_eq!(run.wait().await.unwrap().title, TITLE);
        assert_eq!(test.calls("get-track-info"), 4);
        assert_eq!(world.effects(), a_good_evening());
    });
}

#[test]
fn a_track_that_does_not_exist_is_not_looked_up_again() {
    virtual_time(async {
        let world = World::default();
        let test = engine(&world).start().await;
        let run = request_url(&test, "spotify:track:0000000000000000000000").await;
        assert!(failure(&run).await.contains("no track"));
        assert_eq!(test.calls("get-track-info"), 1);
        assert_eq!(world.effects(), ["twitch: refunded r1"]);
    });
}

#[test]
fn a_failure_before_the_point_of_no_return_undoes_everything_backwards_and_refunds_last() {
    virtual_time(async {
        let world = World::default().refusing("r1");
        let test = engine(&world).development().start().await;
        let run = request(&test).await;
        assert_eq!(failure(&run).await, "Twitch refuses to fulfill `r1`");
        assert!(run.inspect().await.unwrap().overview.rolled_back);
        let expected = [
            "database: saved the song of r1".to_owned(),
            format!("spotify: queued {TITLE}"),
            format!("analytics: {TITLE} was asked for"),
            format!("spotify: will skip {TITLE}"),
            "database: deleted the song of r1".to_owned(),
            "twitch: refunded r1".to_owned(),
        ];
        assert_eq!(world.effects(), expected);
    });
}

#[test]
fn a_song_that_plays_already_is_not_skipped_but_refunded() {
    virtual_time(async {
        let world = World::default().refusing("r1");
        world.play(CATALOGUE[0].0);
        let test = engine(&world).start().await;
        let run = request(&test).await;
        failure(&run).await;
        let effects = world.effects();
        assert!(!effects.iter().any(|effect| effect.contains("skip")));
        assert_eq!(effects.last().unwrap(), "twitch: refunded r1");
    });
}

#[test]
fn a_song_that_cannot_be_skipped_is_refunded_all_the_same() {
    virtual_time(async {
        let world = World::default().refusing("r1").without_player();
        let test = engine(&world).start().await;
        let run = request(&test).await;
        failure(&run).await;
        assert_eq!(world.effects().last().unwrap(), "twitch: refunded r1");
    });
}

#[test]
fn history_and_chat_may_fail() {
    virtual_time(async {
        let world = World::default();
        let down = || Mock::fails(Error::fatal("down"));
        let builder = engine(&world).mock_step("write-history", down());
        let builder = builder.mock_step("send-chat-confirmation", down());
        let test = builder.start().await;
        let run = request(&test).await;
        assert_eq!(run.wait().await.unwrap().title, TITLE);
        let mut expected = a_good_evening();
        expected.retain(|effect| !effect.starts_with("analytics") && !effect.starts_with("chat"));
        assert_eq!(world.effects(), expected);
    });
}

#[test]
fn after_the_point_of_no_return_only_the_internal_undo_runs_and_nothing_is_refunded() {
    virtual_time(async {
        let world = World::default();
        let mute = Mock::fails(Error::new("the chat is down"));
        let builder = engine(&world).mock_step("send-chat-confirmation", mute);
        let test = builder.start().await;
        let run = request(&test).await;
        // Fulfilled, and between two attempts to send the chat message.
        test.reach(&run, RunStatus::Retrying).await;
        run.cancel().by("a moderator").await.unwrap();
        let end = run.wait().await.unwrap_err();
        assert!(matches!(end, WaitError::Cancelled(_)), "{end}");

        let mut expected = a_good_evening();
        expected.pop();
        expected.push("database: deleted the song of r1".to_owned());
        assert_eq!(world.effects(), expected);
        let journal = test.journal(&run).await;
        journal.assert_contains("undo_completed persist-request:0");
        journal.assert_contains("undo_skipped add-to-spotify-queue:0");
        journal.assert_contains("undo_skipped hold-redemption:0");
    });
}

#[test]
fn a_cancelled_request_is_refunded_before_the_point_of_no_return() {
    virtual_time(async {
        let world = World::default();
        let busy = Mock::fails(Error::new("503 Service Unavailable"));
        let builder = engine(&world).mock_step("add-to-spotify-queue", busy);
        let test = builder.start().await;
        let run = request(&test).await;
        test.reach(&run, RunStatus::Retrying).await;
        run.cancel().await.unwrap();
        run.wait().await.unwrap_err();
        let expected = [
            "database: saved the song of r1",
            "database: deleted the song of r1",
            "twitch: refunded r1",
        ];
        assert_eq!(world.effects(), expected);
    });
}

/// Crashes repeatedly, after this many milliseconds each time.
async fn crash_after(test: &mut TestEngine, pauses: &[u64]) -> Handle<SongRequest> {
    for pause in pauses {
        test.advance(millis(*pause)).await;
        test.restart().await;
    }
    test.run_of::<SongRequest>("r1").await.unwrap()
}

#[test]
fn a_crash_in_each_call_doubles_and_loses_nothing() {
    virtual_time(async {
        let world = World::slow(secs(1));
        let mut test = engine(&world).start().await;
        request(&test).await;
        // Each call takes a second: a crash repeats the call in flight, and the next crash hits the
        // following one.
        let run = crash_after(&mut test, &[300, 1_300, 1_300, 1_300, 1_300, 1_300]).await;
        assert_eq!(test.calls("send-chat-confirmation"), 1);
        assert_eq!(run.wait().await.unwrap().title, TITLE);
        assert_eq!(world.effects(), a_good_evening());
        assert_eq!(test.calls("hold-redemption"), 1);
        for step in [
            "get-track-info",
            "persist-request",
            "send-chat-confirmation",
        ] {
            assert_eq!(test.calls(step), 2, "{step}");
        }
    });
}

#[test]
fn a_rollback_goes_on_after_a_crash_in_each_undo() {
    virtual_time(async {
        let world = World::slow(secs(1)).refusing("r1");
        let mut test = engine(&world).start().await;
        let run = request(&test).await;
        test.reach(&run, RunStatus::RollingBack).await;
        // The first undo makes two calls, to check and to skip; the others make one.
        let run = crash_after(&mut test, &[1_300, 2_300, 1_300]).await;
        failure(&run).await;
        let effects = world.effects();
        let expected = [
            &format!("spotify: will skip {TITLE}"),
            "database: deleted the song of r1",
            "twitch: refunded r1",
        ];
        assert_eq!(effects.get(3..).unwrap(), expected);
        for step in ["add-to-spotify-queue", "persist-request", "hold-redemption"] {
            assert_eq!(test.calls(&format!("rollback:{step}")), 2, "{step}");
        }
    });
}

#[test]
fn a_spotify_that_never_answers_is_asked_again_and_then_the_points_are_refunded() {
    virtual_time(async {
        let world = World::default().stalled();
        let test = engine(&world).start().await;
        let run = request(&test).await;
        assert!(failure(&run).await.contains("took longer than its timeout"));
        assert_eq!(test.calls("get-track-info"), 6);
        assert_eq!(world.effects(), ["twitch: refunded r1"]);
    });
}

#[test]
fn a_request_that_exceeds_its_deadline_is_refunded() {
    virtual_time(async {
        let world = World::default().stalled();
        let test = engine(&world).start().await;
        let start = test.start::<SongRequest>(&ada()).id("r1");
        let run = start.deadline(secs(30)).await.unwrap();
        assert!(failure(&run).await.contains("deadline"));
        assert_eq!(world.effects(), ["twitch: refunded r1"]);
    });
}

/// What is left of a request that ended while it was being fulfilled: nothing is refunded or taken
/// back, and only the internal undo runs.
fn fulfilled_and_ended() -> Vec<String> {
    let mut expected = a_good_evening();
    expected.pop();
    expected.push("database: deleted the song of r1".to_owned());
    expected
}

#[test]
fn a_cancellation_and_a_deadline_during_the_fulfilment_refund_nothing() {
    for is_cancelled in [false, true] {
        virtual_time(async {
            // The calls take 4 s each, and the fifth, from 16 s to 20 s, fulfils the redemption.
            let world = World::slow(secs(4));
            let mut test = engine(&world).start().await;
            let start = test.start::<SongRequest>(&ada()).id("r1");
            let run = match is_cancelled {
                true => start.await.unwrap(),
                false => start.deadline(secs(18)).await.unwrap(),
            };
            test.advance(secs(18)).await;
            if is_cancelled {
                run.cancel().by("a moderator").await.unwrap();
            }
            drop(run);
            // A crash comes on top.
            test.restart().await;
            let run = test.run_of::<SongRequest>("r1").await.unwrap();
            run.wait().await.unwrap_err();
            assert_eq!(world.effects(), fulfilled_and_ended());
            let journal = test.journal(&run).await;
            journal.assert_contains("undo_skipped hold-redemption:0");
        });
    }
}

#[test]
fn links_and_uris_of_tracks_are_understood_and_nothing_else() {
    let id = CATALOGUE[0].0;
    for url in [
        format!("https://open.spotify.com/track/{id}"),
        format!("https://open.spotify.com/track/{id}?si=abc"),
        format!("spotify:track:{id}"),
    ] {
        assert_eq!(parse(&url).unwrap(), id, "{url}");
    }
    for url in ["", "spotify:track:short", "https://open.spotify.com/album/"] {
        parse(url).unwrap_err();
    }
}

/// Counts the calls to the services.
fn count(effects: &[String], what: &str) -> usize {
    effects
        .iter()
        .filter(|effect| effect.contains(what))
        .count()
}

#[test]
fn whatever_fails_and_wherever_the_process_dies_the_points_are_settled_once() {
    let requests = simulate_in(
        World::default,
        |world| SongRequest {
            world: world.clone(),
        },
        0..100,
    )
    .id("r1")
    .input(&ada())
    .failing_step("get-track-info")
    .failing_step("persist-request")
    .failing_step("add-to-spotify-queue")
    .failing_step("write-history")
    .failing_step("fulfill-redemption")
    .failing_step("send-chat-confirmation");
    let summary = requests.check(|run| {
        let effects = run.world().effects();
        let is_paid = run.status() == RunStatus::Completed;
        assert_eq!(
            count(&effects, "fulfilled"),
            usize::from(is_paid),
            "{effects:?}"
        );
        assert_eq!(
            count(&effects, "refunded"),
            usize::from(!is_paid),
            "{effects:?}"
        );
        let songs = count(&effects, "saved the song") - count(&effects, "deleted the song");
        assert_eq!(songs, usize::from(is_paid), "{effects:?}");
        // Spotify has no idempotency keys: after a crash, a song may be in the queue twice.
        let queued = count(&effects, "queued");
        assert!(queued <= 1 + run.crashes() as usize, "{effects:?}");
    });
    assert!(summary.step_failures > 50, "{summary}");
}

/// Returns the steps with records of this kind, in the order of the journal.
fn steps(journal: &JournalView, kind: &str) -> Vec<String> {
    let lines = journal.lines().into_iter();
    lines
        .filter_map(|line| Some(line.strip_prefix(kind)?.strip_prefix(' ')?.to_owned()))
        .collect()
}

/// Each step is undone at most once, the latest first, and no step other than the internal one
/// after the point of no return.
fn assert_undone_in_order(journal: &JournalView) {
    let undone = steps(journal, "undo_completed");
    let mut expected = steps(journal, "step_completed");
    expected.reverse();
    expected.retain(|step| undone.contains(step));
    assert_eq!(undone, expected);
    let is_fulfilled =
        steps(journal, "step_completed").contains(&"fulfill-redemption:0".to_owned());
    if is_fulfilled {
        assert!(
            undone.iter().all(|step| step == "persist-request:0"),
            "{undone:?}"
        );
    }
}

#[test]
fn whenever_the_run_is_ended_or_operated_a_fulfilled_redemption_is_never_refunded() {
    let requests = simulate_in(
        || World::slow(secs(1)),
        |world| SongRequest {
            world: world.clone(),
        },
        0..300,
    )
    .id("r1")
    .input(&ada())
    .slack(secs(15))
    .deadline(secs(12))
    .failing_step("add-to-spotify-queue")
    .failing_step("fulfill-redemption")
    .failing_step("send-chat-confirmation")
    .interventions([
        Intervention::Cancel,
        Intervention::ForceFail,
        Intervention::Pause,
        Intervention::SkipStep,
        Intervention::FailStep,
        Intervention::Recover,
        Intervention::RetryRollback,
    ]);
    let summary = requests.check(|run| {
        let effects = run.world().effects();
        let fulfilled = count(&effects, "fulfilled");
        let refunded = count(&effects, "refunded");
        assert!(fulfilled + refunded <= 1, "{effects:?}");
        let journal = run.journal();
        assert_undone_in_order(&journal);
        let held = steps(&journal, "step_completed").contains(&"hold-redemption:0".to_owned());
        let skipped = journal.count("step_skipped") + journal.count("forced_failure") > 0;
        match run.status() {
            RunStatus::Completed => assert!(skipped || fulfilled == 1, "{effects:?}"),
            RunStatus::RollbackFailed => panic!("an undo was refused: {effects:?}"),
            _ if held && fulfilled == 0 => assert_eq!(refunded, 1, "{effects:?}"),
            _ => {}
        }
        let songs = count(&effects, "saved the song") - count(&effects, "deleted the song");
        let is_kept = run.status() == RunStatus::Completed;
        assert!(songs == usize::from(is_kept) || skipped, "{effects:?}");
    });
    assert!(summary.interventions > 100, "{summary}");
}
