//! What is still to be done to the runs of a case, and when. It outlives the process: whoever got no answer tries again.

use std::collections::BTreeMap;
use std::time::Duration;

use super::book::Asked;
use super::plan::{Fault, Plan};
use super::scenario::Scenario;

/// How long after the first answer the second one comes.
const SECOND_ANSWER: Duration = Duration::from_millis(500);

/// Something to do.
#[derive(Clone, Debug)]
pub(super) enum Task {
    /// Start the run.
    Start,
    /// Send an event, for the first time or again.
    Send { event: usize, how: Sending },
    /// Answer a question.
    Answer { answer: usize, asked: usize },
    /// Set the clock.
    SetClock(i64),
    /// End the process.
    Crash { down: Duration },
}

/// How an event is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    /// For the first time.
    First,
    /// For the first time and, before there is an answer, again.
    Twice,
    /// Again.
    Again,
}

/// When, and which of those at the same time.
pub(super) type Slot = (Duration, u64);

/// All that is still to be done.
pub(super) struct Agenda {
    tasks: BTreeMap<Slot, Task>,
    added: u64,
    asked: Vec<Asked>,
    answers_late: Duration,
    answers_twice: bool,
}

impl Agenda {
    pub(super) fn new(scenario: &Scenario, plan: &Plan) -> Self {
        let mut agenda = Self {
            tasks: BTreeMap::new(),
            added: 0,
            asked: Vec::new(),
            answers_late: Duration::ZERO,
            answers_twice: false,
        };
        agenda.add(Duration::ZERO, Task::Start);
        for (event, planned) in scenario.events.iter().enumerate() {
            let after = Duration::ZERO;
            let how = if plan.faults.contains(&Fault::RepeatedEvent { event, after }) {
                Sending::Twice
            } else {
                Sending::First
            };
            agenda.add(planned.at + delay(plan, event), Task::Send { event, how });
        }
        for fault in &plan.faults {
            agenda.add_fault(fault, scenario, plan);
        }
        agenda
    }

    fn add_fault(&mut self, fault: &Fault, scenario: &Scenario, plan: &Plan) {
        match fault {
            Fault::RepeatedEvent { event, after } if !after.is_zero() => {
                let planned = scenario.events.get(*event).map(|planned| planned.at);
                let at = planned.unwrap_or_default() + delay(plan, *event) + *after;
                let (event, how) = (*event, Sending::Again);
                self.add(at, Task::Send { event, how });
            }
            Fault::LateAnswers { by } => self.answers_late = *by,
            Fault::RepeatedAnswers => self.answers_twice = true,
            Fault::Clock { time, error_millis } => self.add(*time, Task::SetClock(*error_millis)),
            Fault::CrashAt { time, down } => self.add(*time, Task::Crash { down: *down }),
            Fault::CrashBefore { .. }
            | Fault::CrashAfter { .. }
            | Fault::LateEvent { .. }
            | Fault::RepeatedEvent { .. }
            | Fault::Eviction
            | Fault::StepFails { .. } => {}
        }
    }

    fn add(&mut self, at: Duration, task: Task) {
        self.tasks.insert((at, self.added), task);
        self.added += 1;
    }

    /// Questions that were asked are to be answered, if the test has an answer.
    pub(super) fn hear(&mut self, asked: Vec<Asked>, scenario: &Scenario, now: Duration) {
        for question in asked {
            let Some(answer) = scenario.answer_to(&question.method) else {
                continue;
            };
            let asked = self.asked.len();
            self.asked.push(question);
            let at = now + self.answers_late;
            self.add(at, Task::Answer { answer, asked });
            if self.answers_twice {
                self.add(at + SECOND_ANSWER, Task::Answer { answer, asked });
            }
        }
    }

    pub(super) fn question(&self, asked: usize) -> Option<&Asked> {
        self.asked.get(asked)
    }

    /// What comes next.
    pub(super) fn next(&self) -> Option<(Slot, Task)> {
        let (slot, task) = self.tasks.first_key_value()?;
        Some((*slot, task.clone()))
    }

    /// This is done.
    pub(super) fn done(&mut self, slot: Slot) {
        self.tasks.remove(&slot);
    }
}

/// How much later than planned an event comes.
fn delay(plan: &Plan, which: usize) -> Duration {
    let late = plan.faults.iter().map(|fault| match fault {
        Fault::LateEvent { event, by } if *event == which => *by,
        _ => Duration::ZERO,
    });
    late.sum()
}
