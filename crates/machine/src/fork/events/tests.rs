//! Events that arrived after the records that a copy keeps, and events of a run to itself.

use everstep_model::record::{Event, ForkReason, IterationRange, LoopAdvanced, Sent};
use everstep_model::{Body, Generation, Link, RecordNumber};

use super::super::tests::samples::*;
use super::super::{ForkExtent, ForkPlan, fork};
use everstep_samples::*;

fn sent(location: &str) -> Sent {
    Sent {
        location: at(location),
        to: id("r"),
        event: name("ping"),
        payload: json("7"),
    }
}

/// The event of [`sent`] as a run receives it.
fn received(location: &str) -> Event {
    let journal = Journal::created();
    let Body::Created(first) = &journal.0[0].record.body else {
        panic!("it is the first record");
    };
    let link = Link {
        run: id("r"),
        generation: Generation::FIRST,
        location: at(location),
        identity: Some(first.identity()),
    };
    Event {
        payload: json("7"),
        by: Some("run r".to_owned()),
        dedup_id: Some(link.sent_dedup_id(&id("r"))),
        ..event("ping")
    }
}

// B722
#[test]
fn a_restart_keeps_later_events_that_no_wait_took_and_a_fork_none() {
    let journal = Journal::created()
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(waiting("w:0", &["ping"]))
        .with(event("ping"))
        .with(took("w:0", &[4]))
        .with(event("ping"))
        .with(completed());
    assert_eq!(copied(&journal, before("a:0")), ["created", "event"]);
    let forked = fork(&journal.0, ForkReason::Fork, &plan(before("a:0")));
    assert_eq!(lines(&forked.unwrap().records), ["created"]);
}

// B722
#[test]
fn a_recovery_keeps_all_later_events_also_those_that_repeated_waits_took() {
    let undone = everstep_model::record::UndoCompleted {
        location: at("a:0"),
        attempt: 1,
        run: None,
    };
    let journal = Journal::created()
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(waiting("w:0", &["ping"]))
        .with(event("ping"))
        .with(took("w:0", &[4]))
        .with(event("late"))
        .with(undone)
        .with(event("last"))
        .with(failed(&[]));
    let kept = ["created", "event", "event", "event"];
    assert_eq!(copied(&journal, ForkExtent::Recovered), kept);
}

// B723
#[test]
fn an_event_of_a_run_to_itself_follows_the_record_of_sending_it() {
    let journal = Journal::created()
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(sent("__sent:0"))
        .with(sleeping("rest:0"))
        .with(received("__sent:0"))
        .with(waiting("w:0", &["ping"]))
        .with(took("w:0", &[5]))
        .with(completed());
    let kept = copied(&journal, before("rest:0"));
    assert_eq!(kept[3..], ["sent __sent:0", "event"]);
    assert_eq!(copied(&journal, before("a:0")), ["created"]);
}

// B723
#[test]
fn a_copied_event_follows_the_record_of_sending_it_into_later_generations() {
    let journal = Journal::created()
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(sent("__sent:0"))
        .with(sleeping("rest:0"))
        .with(received("__sent:0"))
        .with(completed());
    let second = forked(&journal, before("rest:0")).unwrap().records;
    let bodies = second.into_iter().map(|record| record.body);
    let second = Journal::default().with_all(bodies).with(completed());
    let plan = |extent| ForkPlan {
        source: (id("r"), Generation(2)),
        target: (id("r"), Generation(3)),
        ..plan(extent)
    };
    let third = |extent| {
        let records = fork(&second.0, ForkReason::Restart, &plan(extent));
        lines(&records.unwrap().records)
    };
    assert_eq!(third(before("a:0")), ["created"]);
    let all = third(ForkExtent::End);
    assert_eq!(all[3..], ["sent __sent:0", "event"]);
}

// B723
#[test]
fn an_event_whose_sending_a_loop_has_dropped_follows_its_iteration() {
    let ended = LoopAdvanced {
        began: RecordNumber(1),
        gone: vec![IterationRange { first: 0, last: 1 }],
        ..advanced("l:0", 1, true, &[])
    };
    let journal = Journal::created()
        .with(received("l/~0/__sent:0"))
        .with(ended)
        .with(started("a:0", 1))
        .with(completed());
    let after = ["created", "event", "loop_advanced l:0"];
    assert_eq!(copied(&journal, before("a:0")), after);
    assert_eq!(copied(&journal, before("l:0")), ["created"]);
}

#[test]
fn an_event_of_another_run_or_to_another_run_is_not_the_own_one() {
    let other = Sent {
        to: id("other"),
        ..sent("__sent:0")
    };
    let foreign = Event {
        by: Some("run other".to_owned()),
        dedup_id: Some("sent:of another run".to_owned()),
        ..received("__sent:1")
    };
    let journal = Journal::created()
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(other)
        .with(sent("__sent:1"))
        .with(foreign)
        .with(completed());
    assert_eq!(copied(&journal, before("a:0")), ["created", "event"]);
}
