//! Tests of the claims of runs in memory.

use std::task::{Context, Poll, Waker};

use everstep_model::Nonce;

use super::*;

const STREAM: StreamNumber = StreamNumber(1);

fn fence(epoch: u64) -> Fence {
    Fence {
        epoch: Epoch(epoch),
        nonce: Nonce(epoch),
    }
}

fn received(mailbox: &Mailbox) -> Option<Letter> {
    match mailbox.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(letter) => Some(letter),
        Poll::Pending => None,
    }
}

fn resident(epoch: u64) -> (ResidentRuns, Arc<Mailbox>) {
    let (runs, mailbox) = (ResidentRuns::default(), Arc::<Mailbox>::default());
    runs.add(STREAM, Epoch(epoch), mailbox.clone());
    (runs, mailbox)
}

#[test]
fn a_suspended_executor_resumes_under_a_new_claim() {
    let (runs, mailbox) = resident(3);
    runs.suspend(STREAM, &mailbox, Timestamp::from_millis(0), 10);
    assert!(runs.resume(STREAM, fence(5)));
    assert_eq!(received(&mailbox), Some(Letter::Claim(fence(5))));
    assert_eq!(runs.executing(), 1);
}

#[test]
fn an_executing_executor_does_not_get_a_new_claim() {
    let (runs, mailbox) = resident(3);
    assert!(!runs.resume(STREAM, fence(5)));
    assert_eq!(received(&mailbox), Some(Message::Lost.into()));
    assert!(!runs.contains(STREAM));
}

#[test]
fn a_message_about_an_older_claim_changes_nothing() {
    let (runs, mailbox) = resident(5);
    assert!(runs.resume(STREAM, fence(4)));
    let late = Arc::<Mailbox>::default();
    runs.add(STREAM, Epoch(4), late.clone());
    assert_eq!(
        (received(&mailbox), received(&late)),
        (None, Some(Message::Lost.into()))
    );
    assert!(runs.contains(STREAM));
}

#[test]
fn the_earlier_executor_is_notified_of_its_loss() {
    let (runs, mailbox) = resident(3);
    runs.add(STREAM, Epoch(4), Arc::default());
    assert_eq!(received(&mailbox), Some(Message::Lost.into()));
}
