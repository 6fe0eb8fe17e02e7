//! Pages of the steps of a run. The whole journal is folded, but only the results of the page are
//! kept.

use std::collections::BTreeMap;
use std::mem;

use everstep_inspect::{Overview, StepView};
use everstep_model::{Body, Entry, Location, Payload, RecordNumber};

/// The maximum size of the results of a page of steps, approximately, in bytes.
const RESULTS_BYTES: usize = 4 << 20;

/// Which steps are shown.
#[derive(Clone, Copy)]
pub(super) struct StepsPage {
    /// The first record of its first step, or a record before that.
    pub(super) from: RecordNumber,
    pub(super) limit: usize,
}

/// The state of a run with the results of one page of steps.
pub(super) struct PageFold {
    page: StepsPage,
    /// Without results of steps.
    overview: Overview,
    /// The results of steps that may be on the page, by the first records of the steps.
    results: BTreeMap<RecordNumber, Payload>,
    bytes: usize,
}

impl PageFold {
    pub(super) fn new(page: StepsPage) -> Self {
        Self {
            page,
            overview: Overview::new(),
            results: BTreeMap::new(),
            bytes: 0,
        }
    }

    pub(super) fn fold(&mut self, mut entry: Entry) {
        let body = &mut entry.record.body;
        let result = take_result(body);
        let (Some(result), Some(location)) = (result, body.location().cloned()) else {
            self.overview.fold(&entry);
            return;
        };
        // Of several results the first counts, and not every record about a step changes it.
        let had_result = self.has_result(&location);
        self.overview.fold(&entry);
        if !had_result && self.has_result(&location) {
            self.keep(&location, result);
        }
    }

    fn has_result(&self, location: &Location) -> bool {
        let step = self.overview.step(location);
        step.is_some_and(|step| step.result.is_some())
    }

    /// Keeps a result if it may be on the page, and removes those that cannot be on it because of
    /// the results before them.
    fn keep(&mut self, location: &Location, result: Payload) {
        let first = self.overview.first_record(location);
        let Some(first) = first.filter(|first| *first >= self.page.from) else {
            return;
        };
        self.bytes += result.as_bytes().len();
        self.results.insert(first, result);
        while let Some((_, last)) = self.results.last_key_value() {
            let before = self.bytes - last.as_bytes().len();
            if self.results.len() <= self.page.limit && before <= RESULTS_BYTES {
                return;
            }
            self.results.pop_last();
            self.bytes = before;
        }
    }

    /// Returns the state, the steps of the page, and the first record of the step after them.
    pub(super) fn finish(mut self) -> (Overview, Vec<StepView>, Option<RecordNumber>) {
        let mut page = Vec::new();
        let mut bytes = 0;
        for step in &self.overview.steps {
            let first = self.overview.first_record(&step.location);
            let Some(first) = first.filter(|first| *first >= self.page.from) else {
                continue;
            };
            if page.len() >= self.page.limit || bytes > RESULTS_BYTES {
                return (self.overview, page, Some(first));
            }
            let mut step = step.clone();
            if let Some(result) = self.results.get_mut(&first) {
                bytes += result.as_bytes().len();
                step.result = Some(mem::replace(result, Payload::null()));
            }
            page.push(step);
        }
        (self.overview, page, None)
    }
}

/// Removes what an overview keeps of steps and children, and returns the result of a step.
fn take_result(body: &mut Body) -> Option<Payload> {
    let result = match body {
        Body::StepCompleted(step) => Some(step.result.clone()),
        Body::StepSkipped(step) => Some(step.result.clone()),
        Body::StepEdited(step) => Some(step.result.clone()),
        Body::StepFailed(_) | Body::ChildFinished(_) => None,
        // What the others contain is part of the state.
        _ => return None,
    };
    body.remove_payloads();
    result
}
