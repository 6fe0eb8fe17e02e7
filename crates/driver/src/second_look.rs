//! The second look of development mode: before an execution is suspended or ends, a dry execution
//! of the same journal must reach the same point.

use everstep_machine::{CallSite, Divergence, Halt};
use everstep_model::{Record, RecordNumber};

use crate::action::{Action, ExecutionKind};
use crate::conclusion::Conclusion;
use crate::dry::{Dry, Next};
use crate::execution::Host;
use crate::returned::{Returned, Verified};
use crate::state::{Driver, Look, LookPurpose, Stage};

impl<H: Host> Driver<H> {
    /// Concludes, in development mode after a second look.
    pub(crate) fn look_first(&mut self, purpose: LookPurpose) -> Action {
        let Some(history) = &self.history else {
            return self.after_look(purpose);
        };
        let journal = history.with(self.unsent.records());
        let dry = Dry::new(&self.setup, journal);
        self.enter(Stage::Looking(Box::new(Look { dry, purpose })));
        self.continue_look()
    }

    pub(crate) fn continue_look(&mut self) -> Action {
        let Stage::Looking(look) = &mut self.stage else {
            return Action::Wait;
        };
        let verified = match look.dry.next() {
            Next::Act(action) => return action,
            Next::Done(verified) => verified,
        };
        let purpose = std::mem::replace(&mut look.purpose, LookPurpose::Report);
        self.enter(Stage::Working);
        self.queue.push_back(Action::Drop(ExecutionKind::Dry));
        let difference = match &purpose {
            LookPurpose::Conclude(ending) | LookPurpose::RollBack(ending) => {
                difference(self, ending, verified)
            }
            LookPurpose::Report => {
                self.enter(Stage::Over);
                return Action::Checked(Box::new(verified));
            }
        };
        let action = match difference {
            None => self.after_look(purpose),
            Some(divergence) => {
                self.queue.push_back(Action::Report(divergence.clone()));
                self.conclude(Conclusion::Halted(Halt::Diverged(divergence)))
            }
        };
        self.queue.extend(action.unless_wait());
        self.queue.pop_front().unwrap_or(Action::Wait)
    }

    fn after_look(&mut self, purpose: LookPurpose) -> Action {
        match purpose {
            LookPurpose::Conclude(conclusion) => self.conclude(conclusion),
            LookPurpose::RollBack(_) => match self.live.replay.rollback().announce() {
                Some(first) => self.conclude(Conclusion::RollBack(Box::new(first))),
                None => self.write(),
            },
            LookPurpose::Report => Action::Wait,
        }
    }
}

/// Returns how the dry execution differs from the first one.
fn difference<H>(
    first: &Driver<H>,
    ending: &Conclusion,
    verified: Result<Verified, Halt>,
) -> Option<Box<Divergence>> {
    match verified {
        Ok(verified) => match verified.unrecorded {
            Some(divergence) => Some(Box::new(divergence)),
            None => different_end(ending, verified.returned.as_ref()),
        },
        Err(Halt::Diverged(mut divergence)) => {
            let site = divergence.record.and_then(|number| site_of(first, number));
            divergence.recorded_site = divergence.recorded_site.or(site);
            Some(divergence)
        }
        Err(Halt::NotDurable(_) | Halt::Newer(_) | Halt::Damaged(_) | Halt::Refused(_)) => None,
    }
}

/// Returns where the first execution called what this record contains.
fn site_of<H>(first: &Driver<H>, number: RecordNumber) -> Option<CallSite> {
    let replay = &first.live.replay;
    let next = first.history.as_ref()?.next_number();
    if number < next {
        return replay.script().site_of(number);
    }
    let index = usize::try_from(number.0 - next.0).ok()?;
    let is_scripted = |record: &&Record| record.body.is_scripted();
    let before = first.unsent.records().get(..index)?;
    replay
        .script()
        .unrecorded_site(before.iter().filter(is_scripted).count())
}

fn different_end(ending: &Conclusion, again: Option<&Returned>) -> Option<Box<Divergence>> {
    let detail = match (ending, again) {
        (Conclusion::Completed(first), Some(Returned::Completed(second))) if first == second => {
            return None;
        }
        (Conclusion::Completed(first), Some(Returned::Completed(second))) => {
            format!("the function returned {first:?} first and {second:?} on replay")
        }
        (Conclusion::Completed(_), Some(Returned::Failed(failed))) => {
            format!("the function failed on replay: {}", failed.text)
        }
        (Conclusion::Completed(_) | Conclusion::Failed(..) | Conclusion::Retry(_), None) => {
            "the function returned first and waits on replay".to_owned()
        }
        (Conclusion::Suspended(_), Some(_)) => {
            "the function waited first and returned on replay".to_owned()
        }
        _ => return None,
    };
    Some(Box::new(Divergence {
        detail: Some(detail),
        ..Divergence::default()
    }))
}
