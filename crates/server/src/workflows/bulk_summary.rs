//! The report of a bulk request, which shows a bounded number of runs.

use everstep_engine::{Control, ControlError, Done};
use everstep_model::RunId;
use everstep_protocol::workflow::{BULK_RUNS_SHOWN, BulkReport, BulkRun};

use super::control::outcome;
use super::control_message::of_control;
use crate::failure::Failure;

/// The results of the runs that were processed so far. Keeps the first ones of each kind, because
/// it is not known yet how many runs will be refused.
#[derive(Default)]
pub(super) struct Summary {
    total: usize,
    changed: usize,
    refused: usize,
    /// Results with their positions.
    refusals: Vec<(usize, BulkRun)>,
    others: Vec<(usize, BulkRun)>,
}

impl Summary {
    pub(super) fn add(&mut self, id: RunId, result: Result<Done, ControlError>, control: Control) {
        let (done, problem) = match result {
            Ok(done) => (Some(outcome(&done, of_control(&done, control))), None),
            Err(error) => (None, Some(Failure::from(error).problem())),
        };
        self.push(BulkRun { id, done, problem });
    }

    /// Adds a run that the caller may not change.
    pub(super) fn refuse(&mut self, id: RunId, failure: &Failure) {
        self.push(BulkRun {
            id,
            done: None,
            problem: Some(failure.problem()),
        });
    }

    fn push(&mut self, run: BulkRun) {
        let at = self.total;
        self.total += 1;
        self.changed += usize::from(run.done.as_ref().is_some_and(|done| done.changed));
        let of_kind = match run.problem {
            Some(_) => {
                self.refused += 1;
                &mut self.refusals
            }
            None => &mut self.others,
        };
        if of_kind.len() < BULK_RUNS_SHOWN {
            of_kind.push((at, run));
        }
    }

    pub(super) fn into_report(self) -> BulkReport {
        let mut shown = self.refusals;
        shown.extend(self.others);
        shown.truncate(BULK_RUNS_SHOWN);
        shown.sort_by_key(|(at, _)| *at);
        BulkReport {
            total: self.total,
            changed: self.changed,
            refused: self.refused,
            omitted: self.total - shown.len(),
            runs: shown.into_iter().map(|(_, run)| run).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use everstep_engine::UnknownRun;

    use super::*;

    fn refuse(summary: &mut Summary, id: &str) {
        let id = RunId::new(id).unwrap();
        let error = ControlError::UnknownRun(UnknownRun(id.clone()));
        summary.add(id, Err(error), Control::Pause);
    }

    fn unchanged(id: usize) -> BulkRun {
        BulkRun {
            id: RunId::new(format!("run-{id}")).unwrap(),
            done: None,
            problem: None,
        }
    }

    // B681
    #[test]
    fn a_report_shows_a_bounded_number_of_runs_and_refused_ones_first() {
        let mut summary = Summary::default();
        for id in 0..BULK_RUNS_SHOWN {
            summary.push(unchanged(id));
        }
        refuse(&mut summary, "late");
        let report = summary.into_report();
        assert_eq!(
            (report.total, report.refused, report.omitted),
            (1_001, 1, 1)
        );
        assert_eq!(report.runs.len(), BULK_RUNS_SHOWN);
        assert_eq!(report.runs.last().unwrap().id.as_str(), "late");
        assert_eq!(report.runs[0].id.as_str(), "run-0", "in their order");
    }
}
