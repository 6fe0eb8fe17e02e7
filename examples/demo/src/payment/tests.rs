//! Tests of the payment on a virtual clock: days pass instantly, and the test controls the order of
//! events.

use std::sync::Arc;

use everstep::testing::{VirtualRuntime, simulate_in, virtual_time};
use everstep::{Engine, Handle, RunStatus, WaitError, Workflows, days, hours, secs};

use super::*;

async fn open(gateway: &Gateway) -> Engine {
    let runtime = Arc::new(VirtualRuntime::new(1));
    let payment = Payment {
        gateway: gateway.clone(),
        pace: Pace::real(),
    };
    let builder = Engine::in_memory().runtime(runtime).development(true);
    builder
        .workflows(Workflows::new().workflow(payment))
        .start()
        .await
        .unwrap()
}

async fn pay(engine: &Engine, amount: u64) -> Handle<Payment> {
    let customer = "ada".to_owned();
    let input = PaymentInput { customer, amount };
    engine.start::<Payment>(&input).id("p1").await.unwrap()
}

fn decision(approved: bool) -> Approval {
    Approval {
        approved,
        reviewer: "grace".into(),
    }
}

#[test]
fn an_approved_payment_is_settled_when_the_refund_window_closes() {
    virtual_time(async {
        let engine = open(&Gateway::reliable()).await;
        let run = pay(&engine, 4_200).await;
        run.send(&decision(true)).await.unwrap();
        let error = run.wait_within(days(14)).await.unwrap_err();
        assert!(matches!(error, WaitError::TimedOut { .. }), "{error}");
        let receipt = run.wait_within(days(2)).await.unwrap();
        assert_eq!(receipt.status, PaymentStatus::Settled);
        assert_eq!(receipt.refunded, 0);
        engine.shutdown().await;
    });
}

#[test]
fn a_payment_rests_for_a_day_before_it_is_reviewed() {
    virtual_time(async {
        let engine = open(&Gateway::reliable()).await;
        let run = pay(&engine, 4_200).await;
        for (pause, status) in [
            (hours(23), RunStatus::Sleeping),
            (hours(2), RunStatus::Waiting),
        ] {
            run.wait_within(pause).await.unwrap_err();
            assert_eq!(run.status().await.unwrap(), status);
        }
        engine.shutdown().await;
    });
}

#[test]
fn a_rejected_payment_is_given_back() {
    virtual_time(async {
        let engine = open(&Gateway::reliable()).await;
        let run = pay(&engine, 4_200).await;
        run.send(&decision(false)).await.unwrap();
        let receipt = run.wait().await.unwrap();
        assert_eq!(receipt.status, PaymentStatus::Rejected);
        assert_eq!(receipt.refunded, 4_200);
        engine.shutdown().await;
    });
}

#[test]
fn a_payment_without_a_review_is_refunded_after_a_week() {
    virtual_time(async {
        let engine = open(&Gateway::reliable()).await;
        let run = pay(&engine, 4_200).await;
        let receipt = run.wait_within(days(9)).await.unwrap();
        assert_eq!(receipt.status, PaymentStatus::Expired);
        assert_eq!(receipt.refunded, 4_200);
        engine.shutdown().await;
    });
}

#[test]
fn a_customer_gets_back_what_they_ask_for_but_no_more_than_they_paid() {
    virtual_time(async {
        let engine = open(&Gateway::reliable()).await;
        let run = pay(&engine, 4_200).await;
        run.send(&decision(true)).await.unwrap();
        let reason = "too small".to_owned();
        let amount = 5_000;
        run.send(&RefundRequested { reason, amount }).await.unwrap();
        let receipt = run.wait().await.unwrap();
        assert_eq!(receipt.status, PaymentStatus::Refunded);
        assert_eq!(receipt.refunded, 4_200);
        engine.shutdown().await;
    });
}

#[test]
fn a_busy_bank_is_asked_again_and_charges_once() {
    virtual_time(async {
        let gateway = Gateway::busy(2);
        let engine = open(&gateway).await;
        let run = pay(&engine, 4_200).await;
        run.wait_within(secs(60)).await.unwrap_err();
        let info = run.inspect().await.unwrap();
        let charge = info
            .overview
            .steps
            .iter()
            .find(|step| step.location.name.as_str() == "charge");
        assert_eq!(charge.unwrap().attempts, 3);
        assert_eq!(gateway.charges(), 1);
        engine.shutdown().await;
    });
}

#[test]
fn a_declined_card_fails_the_run_without_retries() {
    virtual_time(async {
        let engine = open(&Gateway::reliable()).await;
        let run = pay(&engine, 2_000_000).await;
        let error = run.wait().await.unwrap_err();
        assert!(error.to_string().contains("declined"), "{error}");
        let info = run.inspect().await.unwrap();
        assert!(info.overview.steps.iter().all(|step| step.attempts == 1));
        engine.shutdown().await;
    });
}

#[test]
fn wherever_the_process_dies_a_customer_is_charged_once_and_gets_back_what_they_ask_for() {
    let payment = |gateway: &Gateway| Payment {
        gateway: gateway.clone(),
        pace: Pace::real(),
    };
    let refund = RefundRequested {
        reason: "too small".into(),
        amount: 1_000,
    };
    let summary = simulate_in(|| Gateway::busy(2), payment, 0..50)
        .input(&PaymentInput {
            customer: "ada".into(),
            amount: 4_200,
        })
        .event(hours(20), &decision(true))
        .event(days(3), &refund)
        .check(|run| {
            let receipt = run.output().unwrap();
            assert_eq!(receipt.status, PaymentStatus::Refunded);
            assert_eq!(receipt.refunded, 1_000);
            assert_eq!(run.world().charges(), 1);
            // The third attempt succeeds. An attempt has a number once its start is durable, even
            // if a crash interrupts it before it fails.
            let steps = run.journal().steps();
            let charge = steps
                .iter()
                .find(|step| step.location.starts_with("charge"));
            assert_eq!(charge.unwrap().attempts, 3);
            let recorded = run.recorded("charge");
            assert!(recorded <= 3 && recorded + run.crashes() >= 3);
            assert!(run.calls("charge") <= recorded + run.crashes());
        });
    assert!(summary.crashes > 80, "{summary}");
}
