//! The pending actions on the runs of a case, with their times. They survive the process: an action
//! without an answer is repeated.

use std::collections::BTreeMap;
use std::time::Duration;

use super::intervention::Planned;
use super::observer::OpenRpc;
use super::plan::{Fault, Plan};
use super::scenario::Scenario;

/// The time between the first and the second answer.
const SECOND_ANSWER: Duration = Duration::from_millis(500);

/// A pending action.
#[derive(Clone, Debug)]
pub(super) enum Task {
    Start,
    /// Sends an event, for the first time or again.
    Send {
        event: usize,
        how: Sending,
    },
    /// Answers an rpc.
    Answer {
        answer: usize,
        rpc: OpenRpc,
    },
    SetClock(i64),
    Intervene(Planned),
    Resume,
    Crash {
        down: Duration,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    First,
    /// For the first time, and again before there is an answer.
    Twice,
    Again,
}

/// The time, and the order of actions at the same time.
pub(super) type Slot = (Duration, u64);

/// All pending actions.
pub(super) struct Agenda {
    tasks: BTreeMap<Slot, Task>,
    added: u64,
    answers_late: Duration,
    answers_twice: bool,
}

impl Agenda {
    pub(super) fn new(scenario: &Scenario, plan: &Plan) -> Self {
        let mut agenda = Self {
            tasks: BTreeMap::new(),
            added: 0,
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
            Fault::Intervention { time, planned } => self.add(*time, Task::Intervene(*planned)),
            Fault::CrashBefore { .. }
            | Fault::CrashAfter { .. }
            | Fault::LateEvent { .. }
            | Fault::RepeatedEvent { .. }
            | Fault::Eviction
            | Fault::StepFails { .. } => {}
        }
    }

    /// Whether operators have not finished.
    pub(super) fn has_interventions(&self) -> bool {
        let mut tasks = self.tasks.values();
        tasks.any(|task| matches!(task, Task::Intervene(_) | Task::Resume))
    }

    pub(super) fn add(&mut self, at: Duration, task: Task) {
        self.tasks.insert((at, self.added), task);
        self.added += 1;
    }

    /// Schedules answers to rpcs, if the test has an answer.
    pub(super) fn add_rpcs(&mut self, rpcs: Vec<OpenRpc>, scenario: &Scenario, now: Duration) {
        for rpc in rpcs {
            let Some(answer) = scenario.answer_to(&rpc.method) else {
                continue;
            };
            let (at, task) = (now + self.answers_late, Task::Answer { answer, rpc });
            self.add(at, task.clone());
            if self.answers_twice {
                self.add(at + SECOND_ANSWER, task);
            }
        }
    }

    /// The next action.
    pub(super) fn next(&self) -> Option<(Slot, Task)> {
        let (slot, task) = self.tasks.first_key_value()?;
        Some((*slot, task.clone()))
    }

    /// Removes an action.
    pub(super) fn done(&mut self, slot: Slot) {
        self.tasks.remove(&slot);
    }
}

/// The delay of an event.
fn delay(plan: &Plan, which: usize) -> Duration {
    let late = plan.faults.iter().map(|fault| match fault {
        Fault::LateEvent { event, by } if *event == which => *by,
        _ => Duration::ZERO,
    });
    late.sum()
}
