//! Open operations and events, and what closes them.

use super::*;

// B194
#[test]
fn the_first_answer_closes_an_rpc() {
    let journal = Journal::created()
        .with(asked("q:0", "rpc_1"))
        .with(asked("r:0", "rpc_2"));
    let open = journal.overview().rpcs;
    assert_eq!(open.len(), 2);
    assert_eq!(
        (
            open[0].method.as_str(),
            open[0].args.as_str(),
            open[0].since
        ),
        ("approve", "[7]", time(1))
    );
    let overview = journal
        .with(answered("q:0", "rpc_1"))
        .with(answered("q:0", "rpc_1"))
        .overview();
    let left: Vec<_> = overview
        .rpcs
        .iter()
        .map(|rpc| rpc.rpc_id.to_string())
        .collect();
    assert_eq!(left, ["rpc_2"]);
}

#[test]
fn a_fork_repeats_an_open_rpc_under_its_own_id() {
    let overview = Journal::created()
        .with(asked("q:0", "old"))
        .with(asked("q:0", "new"))
        .overview();
    let ids: Vec<_> = overview
        .rpcs
        .iter()
        .map(|rpc| rpc.rpc_id.to_string())
        .collect();
    assert_eq!(ids, ["new"]);
}

// B68, B78
#[test]
fn an_event_stays_until_a_wait_takes_it() {
    let early = Journal::created()
        .with(event("e"))
        .with(event("e"))
        .with(waiting("w:0", &["e"]));
    assert_eq!(early.overview().events.len(), 2);
    let overview = early.with(took("w:0", &[1])).overview();
    assert!(overview.waits.is_empty());
    assert_eq!(
        overview.events.front().map(|event| event.number),
        Some(RecordNumber(2))
    );

    let timer = fired(TimerPurpose::Wait, Some("w:0"), time(500));
    let late = Journal::created()
        .with(waiting("w:0", &["e"]))
        .with(timer)
        .with(event("e"))
        .overview();
    assert!(late.waits.is_empty());
    assert_eq!(late.events.len(), 1);
}

#[test]
fn a_timer_that_lost_to_an_event_does_not_keep_the_event() {
    let overview = Journal::created()
        .with(waiting("w:0", &["e"]))
        .with(event("e"))
        .with(fired(TimerPurpose::Wait, Some("w:0"), time(500)))
        .with(took("w:0", &[2]))
        .overview();
    assert!(overview.events.is_empty() && overview.waits.is_empty());
}

#[test]
fn dropped_events_are_forgotten() {
    let overview = Journal::created()
        .with(event("e"))
        .with(advanced("each:0", 1, false, &[(1, 1)]))
        .overview();
    assert!(overview.events.is_empty());
}

// B120
#[test]
fn leaving_a_race_branch_or_iteration_closes_what_was_open_inside() {
    let open = |location: &str| {
        Journal::created()
            .with(waiting(location, &["e"]))
            .with(sleeping("s:0"))
    };
    let won = RaceWon {
        location: at("race:0"),
        winner: name("x"),
    };
    let branch = BranchCompleted {
        location: at("race:0"),
        branch: name("x"),
    };
    let is_closed = |location: &str, body: Body| {
        let overview = open(location).with(body).overview();
        assert_eq!(overview.sleeps.len(), 1);
        overview.waits.is_empty()
    };
    assert!(is_closed("race/y/deep/w:0", won.clone().into()));
    assert!(!is_closed("w:0", won.clone().into()));
    assert!(!is_closed("race:1/y/w:0", won.into()));
    assert!(is_closed("race/x/w:0", branch.clone().into()));
    assert!(!is_closed("race/y/w:0", branch.into()));
    assert!(is_closed(
        "each/~2/w:0",
        advanced("each:0", 3, false, &[]).into()
    ));
    assert!(!is_closed(
        "each/~3/w:0",
        advanced("each:0", 3, false, &[]).into()
    ));
    assert!(is_closed(
        "each/~3/w:0",
        advanced("each:0", 3, true, &[]).into()
    ));
}

// B878
#[test]
fn an_operation_that_a_later_pass_calls_again_is_open_again() {
    let again = |body: Body| {
        let journal = Journal::created().with(body.clone());
        let retried = journal.with(RaceWon {
            location: at("r:0"),
            winner: name("x"),
        });
        retried.with(execution_retried(1)).with(body).overview()
    };
    assert_eq!(again(waiting("r/y/o:0", &["e"]).into()).waits.len(), 1);
    assert_eq!(again(sleeping("r/y/o:0").into()).sleeps.len(), 1);
    assert_eq!(again(asked("r/y/o:0", "rpc_1").into()).rpcs.len(), 1);
}
