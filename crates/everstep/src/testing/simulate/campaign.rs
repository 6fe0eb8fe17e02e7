//! All cases of a simulation, in order: the one without faults, a crash before and after each of
//! its commits, a failure of each step if requested, and the seeds.

use std::collections::BTreeSet;

use everstep_model::RunStatus;

use super::case::{CaseResult, Try};
use super::case_failure::CaseFailure;
use super::minimise::minimise;
use super::plan::{CaseName, Measured, Plan};
use super::report::Report;
use super::scenario::Scenario;
use super::summary::SimulationSummary;

/// A simulation in progress.
pub(super) struct Campaign<'a> {
    scenario: &'a Scenario,
    attempt: Try<'a>,
    measured: Measured,
    /// How the run ends without faults.
    clean: Option<RunStatus>,
    summary: SimulationSummary,
    events_accepted: BTreeSet<usize>,
    answers_given: BTreeSet<usize>,
}

impl<'a> Campaign<'a> {
    pub(super) fn new(scenario: &'a Scenario, attempt: Try<'a>) -> Self {
        Self {
            scenario,
            attempt,
            measured: Measured::default(),
            clean: None,
            summary: SimulationSummary::default(),
            events_accepted: BTreeSet::new(),
            answers_given: BTreeSet::new(),
        }
    }

    /// Simulates every case, or the requested one, up to the first that fails. The error is its
    /// report.
    pub(super) fn run(
        mut self,
        seeds: impl Iterator<Item = u64>,
        only: Option<CaseName>,
    ) -> Result<SimulationSummary, String> {
        if let Some(problem) = &self.scenario.problem {
            return Err(format!("the simulation cannot begin: {problem}"));
        }
        self.case(&CaseName::Clean)?;
        if let Some(which) = only {
            if which != CaseName::Clean {
                self.case(&which)?;
            }
            return Ok(self.summary);
        }
        for commit in 1..=self.measured.commits {
            self.case(&CaseName::Before(commit))?;
            self.case(&CaseName::After(commit))?;
        }
        for place in self.measured.may_fail.clone() {
            self.case(&CaseName::Failing(place))?;
        }
        for seed in seeds {
            self.case(&CaseName::Seed(seed))?;
        }
        self.check_coverage()?;
        Ok(self.summary)
    }

    fn case(&mut self, which: &CaseName) -> Result<(), String> {
        let plan = Plan::of(which, self.scenario, &self.measured);
        let case_result = self.judge(&plan);
        if let Some(failure) = &case_result.failure {
            return Err(self.explain(&plan, failure, &case_result));
        }
        self.learn(which, &case_result);
        Ok(())
    }

    /// Simulates a case and judges it, also against the case without faults.
    fn judge(&self, plan: &Plan) -> CaseResult {
        let mut tried = (self.attempt)(plan);
        let is_crash = matches!(plan.which, CaseName::Before(_) | CaseName::After(_));
        if let (true, Some(clean), Some(final_state)) = (is_crash, self.clean, &tried.final_state) {
            let now = final_state.status;
            if clean.is_terminal() && now != clean && tried.failure.is_none() {
                tried.failure = Some(CaseFailure::OtherEnd { clean, now });
            }
        }
        tried
    }

    fn learn(&mut self, which: &CaseName, case_result: &CaseResult) {
        self.summary += &case_result.summary;
        self.events_accepted.extend(&case_result.events_accepted);
        self.answers_given.extend(&case_result.answers_given);
        if *which == CaseName::Clean {
            self.clean = case_result.final_state.as_ref().map(|end| end.status);
            self.measured = Measured {
                commits: case_result.summary.commits,
                lasted: case_result.summary.simulated,
                may_fail: self.scenario.may_fail(case_result.mocks.steps()),
            };
        }
    }

    fn explain(&self, plan: &Plan, failure: &CaseFailure, case_result: &CaseResult) -> String {
        let smaller = minimise(plan, failure, &|plan| self.judge(plan));
        let (enough, case_result) = match &smaller {
            Some((plan, case_result)) => (plan, case_result),
            None => (plan, case_result),
        };
        let report = Report {
            scenario: self.scenario,
            plan,
            enough,
            failure: case_result.failure.as_ref().unwrap_or(failure),
            case_result,
        };
        report.to_string()
    }

    /// A simulation in which no fault can make a difference shows nothing.
    fn check_coverage(&self) -> Result<(), String> {
        let workflow = &self.scenario.workflow;
        // Every run writes its creation and its end, whatever its code does.
        if self.summary.crashes == 0 || self.summary.records <= 2 * self.summary.cases {
            return Err(format!(
                "nothing was simulated: workflow `{workflow}` does nothing durable, so no crash makes a difference to it"
            ));
        }
        if !self.scenario.interventions.is_empty() && self.summary.interventions == 0 {
            return Err("no operator intervened; simulate more seeds".to_owned());
        }
        let mut events = self.scenario.events.iter().enumerate();
        if let Some((_, event)) = events.find(|(index, _)| !self.events_accepted.contains(index)) {
            return Err(format!(
                "event `{}` was never accepted: the run always ended before {:?} had passed",
                event.name, event.at
            ));
        }
        let mut answers = self.scenario.answers.iter().enumerate();
        if let Some((_, answer)) = answers.find(|(index, _)| !self.answers_given.contains(index)) {
            return Err(format!(
                "rpc `{}` was never made, so its answer was not needed",
                answer.method
            ));
        }
        Ok(())
    }
}
