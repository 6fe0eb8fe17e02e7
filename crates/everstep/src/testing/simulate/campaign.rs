//! All cases of a simulation, in order: the one without faults, a crash before and after each of
//! its commits, a failure of each step if requested, and the seeds.

use everstep_model::RunStatus;

use super::attempt::{Attempt, Try};
use super::case::Played;
use super::complaint::Complaint;
use super::minimise::minimise;
use super::plan::{Measured, Plan, Which};
use super::report::{Failed, report};
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
    events_taken: Vec<bool>,
    answers_given: Vec<bool>,
}

impl<'a> Campaign<'a> {
    pub(super) fn new(scenario: &'a Scenario, attempt: Try<'a>) -> Self {
        Self {
            scenario,
            attempt,
            measured: Measured::default(),
            clean: None,
            summary: SimulationSummary::default(),
            events_taken: vec![false; scenario.events.len()],
            answers_given: vec![false; scenario.answers.len()],
        }
    }

    /// Plays every case, or the one that is asked for, up to the first that fails; that one is told as a text.
    pub(super) fn run(
        mut self,
        seeds: impl Iterator<Item = u64>,
        only: Option<Which>,
    ) -> Result<SimulationSummary, String> {
        if let Some(problem) = self.scenario.problem() {
            return Err(format!("the simulation cannot begin: {problem}"));
        }
        self.case(&Which::Clean)?;
        if let Some(which) = only {
            if which != Which::Clean {
                self.case(&which)?;
            }
            return Ok(self.summary);
        }
        self.crash_everywhere()?;
        for place in self.measured.may_fail.clone() {
            self.case(&Which::Failing(place))?;
        }
        for seed in seeds {
            self.case(&Which::Seed(seed))?;
        }
        self.look_for_gaps()?;
        Ok(self.summary)
    }

    fn crash_everywhere(&mut self) -> Result<(), String> {
        for commit in 1..=self.measured.commits {
            self.case(&Which::Before(commit))?;
            self.case(&Which::After(commit))?;
        }
        Ok(())
    }

    fn case(&mut self, which: &Which) -> Result<(), String> {
        let plan = Plan::of(which, self.scenario, &self.measured);
        let tried = self.judge(&plan);
        if let Some(complaint) = tried.complaint {
            return Err(self.explain(&plan, complaint, &tried.played));
        }
        self.learn(which, &tried.played);
        Ok(())
    }

    /// Plays a case and judges it, also against the one without faults.
    fn judge(&self, plan: &Plan) -> Attempt {
        let mut tried = (self.attempt)(plan);
        let is_crash = matches!(plan.which, Which::Before(_) | Which::After(_));
        if let (true, Some(clean), Ok(remains)) = (is_crash, self.clean, &tried.played.ended) {
            let now = remains.status;
            if clean.is_terminal() && now != clean && tried.complaint.is_none() {
                tried.complaint = Some(Complaint::OtherEnd { clean, now });
            }
        }
        tried
    }

    fn learn(&mut self, which: &Which, played: &Played) {
        self.summary += &played.summary;
        let taken = self.events_taken.iter_mut().zip(&played.events_taken);
        taken.for_each(|(all, one)| *all |= one);
        let given = self.answers_given.iter_mut().zip(&played.answers_given);
        given.for_each(|(all, one)| *all |= one);
        if *which == Which::Clean {
            self.clean = played.ended.as_ref().ok().map(|remains| remains.status);
            self.measured = Measured {
                commits: played.summary.commits,
                lasted: played.summary.simulated,
                may_fail: self.scenario.may_fail(played.mocks.steps()),
            };
        }
    }

    fn explain(&self, plan: &Plan, complaint: Complaint, played: &Played) -> String {
        let smaller = minimise(plan, &complaint, &|plan| self.judge(plan));
        let (enough, complaint, played) = match &smaller {
            Some((plan, tried)) => {
                let told = tried.complaint.clone().unwrap_or(complaint);
                (plan, told, &tried.played)
            }
            None => (plan, complaint, played),
        };
        report(&Failed {
            scenario: self.scenario,
            plan,
            enough,
            complaint,
            played,
        })
    }

    /// A simulation in which nothing could go wrong shows nothing.
    fn look_for_gaps(&self) -> Result<(), String> {
        let workflow = &self.scenario.workflow;
        // Its creation and its end are written by every run, whatever its code does.
        if self.summary.crashes == 0 || self.summary.records <= 2 * self.summary.cases {
            return Err(format!(
                "nothing was simulated: workflow `{workflow}` does nothing durable, so no crash makes a difference to it"
            ));
        }
        let mut events = self.events_taken.iter().zip(&self.scenario.events);
        if let Some((_, event)) = events.find(|(taken, _)| !**taken) {
            return Err(format!(
                "event `{}` was never taken: the run was over each time before {:?} had passed",
                event.name, event.at
            ));
        }
        let mut answers = self.answers_given.iter().zip(&self.scenario.answers);
        if let Some((_, answer)) = answers.find(|(given, _)| !**given) {
            return Err(format!(
                "question `{}` was never asked, so its answer was not needed",
                answer.method
            ));
        }
        Ok(())
    }
}
