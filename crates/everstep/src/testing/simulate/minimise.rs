//! Leaves out faults of a case that fails, and makes the rest simpler, as long as it fails in the same way.

use super::campaign::Tried;
use super::complaint::Complaint;
use super::plan::{Fault, Plan};

/// How many cases are tried at most.
const TRIES_MAX: u32 = 100;

/// The case with as few faults as were found to be enough; none if it is as small as it can be.
pub(super) fn minimise(
    plan: &Plan,
    complaint: &Complaint,
    judge: &dyn Fn(&Plan) -> Tried,
) -> Option<(Plan, Tried)> {
    let mut search = Search {
        plan,
        complaint,
        judge,
        best: None,
        tries_left: TRIES_MAX,
    };
    search.leave_out();
    search.simplify();
    search.best
}

struct Search<'a> {
    plan: &'a Plan,
    complaint: &'a Complaint,
    judge: &'a dyn Fn(&Plan) -> Tried,
    best: Option<(Plan, Tried)>,
    tries_left: u32,
}

impl Search<'_> {
    /// The faults of the smallest case so far.
    fn faults(&self) -> &[Fault] {
        let plan = self.best.as_ref().map_or(self.plan, |(plan, _)| plan);
        &plan.faults
    }

    /// Tries it with these faults; true if it fails like that too.
    fn still_fails(&mut self, faults: Vec<Fault>) -> bool {
        if self.tries_left == 0 {
            return false;
        }
        self.tries_left -= 1;
        let plan = self.plan.with(faults);
        let tried = (self.judge)(&plan);
        let complaint = tried.complaint.as_ref();
        let is_same = complaint.is_some_and(|other| self.complaint.is_like(other));
        if is_same {
            self.best = Some((plan, tried));
        }
        is_same
    }

    /// Leaves out all faults at once, then half of them, and so on down to single ones, until none can go.
    fn leave_out(&mut self) {
        let mut at_once = self.faults().len();
        while at_once > 0 {
            let mut first = 0;
            let mut is_smaller = false;
            while first < self.faults().len() {
                let mut faults = self.faults().to_vec();
                faults.drain(first..(first + at_once).min(faults.len()));
                if self.still_fails(faults) {
                    is_smaller = true;
                } else {
                    first += at_once;
                }
            }
            // What could not go before may go now.
            if at_once > 1 || !is_smaller {
                at_once /= 2;
            }
        }
    }

    /// Makes single faults simpler.
    fn simplify(&mut self) {
        for index in 0..self.faults().len() {
            let mut faults = self.faults().to_vec();
            let simpler = faults.get(index).and_then(Fault::at_once);
            if let (Some(fault), Some(simpler)) = (faults.get_mut(index), simpler) {
                *fault = simpler;
                self.still_fails(faults);
            }
        }
    }
}
