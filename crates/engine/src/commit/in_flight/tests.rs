//! Tests of the separation of batches in flight.

use everstep_model::{StreamNumber, Timestamp};
use everstep_store::DeliverCommit;

use super::*;

fn queue(streams: &[u64]) -> Batch {
    let mut queued = Batch::default();
    for number in streams {
        let commit = DeliverCommit::new(StreamNumber(*number), Timestamp::from_millis(0));
        queued.push(commit.into(), Box::new(|_, _| {}));
    }
    queued
}

fn streams(batch: &mut Batch) -> Vec<u64> {
    let number = |commit: &Commit| commit.stream().unwrap().0;
    batch.commits().iter().map(number).collect()
}

#[test]
fn a_stream_is_in_one_batch_at_a_time_and_nothing_overtakes() {
    let mut in_flight = InFlight::default();
    let (mut first, mut second) = (Batch::default(), Batch::default());
    in_flight.send(&mut queue(&[1, 1]), &mut first);
    let mut queued = queue(&[2, 1, 3, 1, 2]);
    in_flight.send(&mut queued, &mut second);
    assert_eq!(streams(&mut second), [2, 3, 2]);
    assert_eq!(streams(&mut queued), [1, 1]);
    in_flight.landed(&mut first);
    let mut third = Batch::default();
    // As many as in flight, which is two streams.
    in_flight.send(&mut queued, &mut third);
    assert_eq!(streams(&mut third), [1, 1]);
}

#[test]
fn few_commits_wait_until_there_are_more_or_the_other_batch_has_landed() {
    let mut in_flight = InFlight::default();
    let (mut first, mut second) = (Batch::default(), Batch::default());
    in_flight.send(&mut queue(&[1, 2, 3]), &mut first);
    let mut queued = queue(&[4]);
    in_flight.send(&mut queued, &mut second);
    assert_eq!(second.len(), 0);
    in_flight.landed(&mut first);
    in_flight.send(&mut queued, &mut second);
    assert_eq!(streams(&mut second), [4]);
}

#[test]
fn half_as_many_are_sent_once_nearly_all_callers_have_queued_again() {
    let mut in_flight = InFlight::default();
    let (mut first, mut second) = (Batch::default(), Batch::default());
    in_flight.send(&mut queue(&[1, 2, 3]), &mut first);
    in_flight.send(&mut queue(&[4, 5, 6, 7]), &mut second);
    in_flight.landed(&mut first);
    assert!(!in_flight.may_send(2), "one of three has not queued again");
    assert!(in_flight.may_send(3), "all three have");
    assert!(in_flight.may_send(4), "as many as in flight");
}
