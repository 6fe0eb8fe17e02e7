//! Tests of the raffle with fixed and random dice, and with crashes.

use everstep::testing::{Mock, TestEngine, TestEngineBuilder, virtual_time};
use everstep::{Handle, Workflows, secs};

use super::*;

fn engine(world: &World) -> TestEngineBuilder {
    let world = world.clone();
    TestEngine::builder().workflows(Workflows::new().workflow(Raffle { world }))
}

async fn play(test: &TestEngine) -> Handle<Raffle> {
    let input = RaffleInput {
        redemption: "r1".into(),
        viewer: "ada".into(),
    };
    test.start::<Raffle>(&input).id("r1").await.unwrap()
}

async fn played_with_loaded_dice(roll: u32) -> Vec<String> {
    let world = World::default();
    let builder = engine(&world).mock_step("generate-winning-number", Mock::returns(&7));
    let builder = builder.mock_step("generate-user-roll", Mock::returns(&roll));
    let test = builder.start().await;
    let result = play(&test).await.wait().await.unwrap();
    assert_eq!(result, RaffleResult { winning: 7, roll });
    world.effects()
}

#[test]
fn winners_and_losers_pay_alike() {
    virtual_time(async {
        for (roll, verb) in [(7, "wins"), (8, "loses")] {
            let expected = [
                "database: saved the roll of r1".to_owned(),
                "twitch: fulfilled r1".to_owned(),
                format!("chat: @ada rolls {roll} against 7 and {verb}"),
            ];
            assert_eq!(played_with_loaded_dice(roll).await, expected);
        }
    });
}

#[test]
fn a_crash_does_not_repeat_a_roll() {
    virtual_time(async {
        let world = World::slow(secs(1));
        let mut test = engine(&world).start().await;
        let run = play(&test).await;
        test.advance(secs(1)).await;
        let before = test.journal(&run).await;
        test.restart().await;

        let run = test.run_of::<Raffle>("r1").await.unwrap();
        let result = run.wait().await.unwrap();
        assert!((1..=SIDES).contains(&result.winning) && (1..=SIDES).contains(&result.roll));
        assert_eq!(test.calls("generate-winning-number"), 1);
        assert_eq!(test.calls("generate-user-roll"), 1);
        let after = test.journal(&run).await;
        assert!(after.entries().starts_with(before.entries()));
    });
}

#[test]
fn a_roll_that_is_not_paid_for_is_deleted_and_refunded() {
    virtual_time(async {
        let world = World::default().refusing("r1");
        let test = engine(&world).development().start().await;
        play(&test).await.wait().await.unwrap_err();
        let expected = [
            "database: saved the roll of r1",
            "database: deleted the roll of r1",
            "twitch: refunded r1",
        ];
        assert_eq!(world.effects(), expected);
    });
}

#[test]
fn a_chat_that_is_down_changes_nothing() {
    virtual_time(async {
        let world = World::default();
        let down = Mock::fails(Error::fatal("down"));
        let test = engine(&world)
            .mock_step("send-chat-message", down)
            .start()
            .await;
        play(&test).await.wait().await.unwrap();
        assert_eq!(world.effects().last().unwrap(), "twitch: fulfilled r1");
    });
}
