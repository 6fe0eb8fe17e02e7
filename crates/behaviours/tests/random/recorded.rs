//! Journals recorded by released versions replay on the current code, which adds nothing to them.
//!
//! The files are kept forever, a folder for each release. `EVERSTEP_RECORD=1 cargo test -p everstep
//! --test random recorded` writes those of the current release where they are missing; it never
//! overwrites one.

use std::path::{Path, PathBuf};

use everstep::RunStatus;
use everstep::journal::Entry;
use everstep::testing::{
    journal_from_lines, journal_to_lines, replay_check_function, virtual_time,
};

use crate::hot_equals_cold::{Ran, run};
use crate::program::{Happening, Op, Witness, run_program};

const RELEASE: &str = env!("CARGO_PKG_VERSION");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journals")
}

type Script = (&'static str, Vec<Op>, Vec<(u16, Happening)>);

/// One journal for each operation, one for all of them at once, and one that crossed crashes.
#[allow(clippy::too_many_lines, reason = "one row for each script")]
fn scripts() -> Vec<Script> {
    let step = |name, failures| Op::Step {
        name,
        takes_ms: 5,
        failures,
    };
    let wait = |timeout_ms| Op::Wait {
        event: 0,
        timeout_ms,
    };
    let everything = vec![
        Op::Note,
        step(0, 2),
        Op::Sleep { name: 0, ms: 20 },
        Op::Version { change: 0 },
        Op::Join(vec![
            vec![step(0, 0), wait(Some(50)), Op::Row],
            vec![Op::Ask { timeout_ms: 60 }, Op::Emit, step(1, 1)],
            vec![
                Op::TryStep {
                    name: 2,
                    takes_ms: 3,
                },
                Op::Look,
            ],
        ]),
        Op::Either {
            name: 1,
            takes_ms: 30,
            event: 1,
        },
        Op::Look,
    ];
    let outside = vec![
        (10, Happening::Send(0)),
        (25, Happening::Answer),
        (30, Happening::Send(1)),
    ];
    let crashes = vec![
        (8, Happening::Crash),
        (40, Happening::Send(0)),
        (7, Happening::Crash),
        (60, Happening::Answer),
        (20, Happening::Crash),
    ];
    vec![
        ("steps", vec![step(0, 0), step(0, 1), step(1, 0)], vec![]),
        (
            "failed-step",
            vec![Op::TryStep {
                name: 0,
                takes_ms: 1,
            }],
            vec![],
        ),
        (
            "sleep",
            vec![Op::Sleep { name: 0, ms: 50 }, step(0, 0)],
            vec![],
        ),
        (
            "event",
            vec![wait(None), wait(Some(9))],
            vec![(5, Happening::Send(0))],
        ),
        (
            "early-events",
            vec![step(0, 0), wait(None), wait(None)],
            vec![(0, Happening::Send(0)), (0, Happening::Send(0))],
        ),
        (
            "question",
            vec![Op::Ask { timeout_ms: 70 }, Op::Ask { timeout_ms: 5 }],
            vec![(9, Happening::Answer)],
        ),
        (
            "dropped-step",
            vec![
                Op::Either {
                    name: 0,
                    takes_ms: 40,
                    event: 0,
                },
                step(0, 0),
            ],
            vec![(5, Happening::Send(0))],
        ),
        ("everything", everything.clone(), outside),
        ("crashes", everything, crashes),
    ]
}

fn record(script: &Script) -> Vec<Entry> {
    let (name, program, happenings) = script;
    let Ran {
        journal, status, ..
    } = virtual_time(run(0, program, happenings));
    assert_eq!(status, RunStatus::Completed, "{name}");
    journal
}

/// Replays the journal with the current code. The check rejects anything the code would add.
fn replay(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let journal = journal_from_lines(&text).unwrap();
    let witness = Witness::default();
    let checked = replay_check_function(
        "random",
        move |ctx, program: Vec<Op>| run_program(ctx, program, witness.clone()),
        journal.clone(),
    );
    if let Err(error) = checked {
        panic!("{}: {error}", path.display());
    }
    assert_eq!(
        journal_to_lines(&journal).unwrap().trim_end(),
        text.trim_end(),
        "{}",
        path.display()
    );
}

// B18, B196
#[test]
fn recorded_journals_of_every_release_replay_and_nothing_is_added() {
    let current = folder().join(RELEASE);
    for script in scripts() {
        let path = current.join(format!("{}.jsonl", script.0));
        if !path.exists() && std::env::var_os("EVERSTEP_RECORD").is_some() {
            std::fs::create_dir_all(&current).unwrap();
            std::fs::write(&path, journal_to_lines(&record(&script)).unwrap()).unwrap();
        }
        assert!(
            path.exists(),
            "{} is missing; see the top of this file",
            path.display()
        );
    }
    let mut replayed = 0;
    for release in std::fs::read_dir(folder()).unwrap() {
        for journal in std::fs::read_dir(release.unwrap().path()).unwrap() {
            replay(&journal.unwrap().path());
            replayed += 1;
        }
    }
    assert!(replayed >= scripts().len());
}

/// Changed code must not pass; otherwise the check would be worthless.
#[test]
fn a_recorded_journal_does_not_replay_on_other_code() {
    let path = folder().join(RELEASE).join("steps.jsonl");
    let journal = journal_from_lines(&std::fs::read_to_string(path).unwrap()).unwrap();
    let changed = |ctx: everstep::Ctx, _: Vec<Op>| async move {
        ctx.note("new");
        Ok(Vec::<String>::new())
    };
    let error = replay_check_function("random", changed, journal).unwrap_err();
    assert!(error.to_string().contains("step `s0:0`"), "{error}");
}
