//! Observes the commits of a case: writes the timeline, tracks the runs and their rpcs, and decides
//! at which commit the process crashes.
#![allow(clippy::disallowed_methods, reason = "tokio's clock is paused here")]

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_engine::simulation::Timeline;
use everstep_model::{Body, Name, RpcId, RunId, RunStatus, StreamNumber};
use everstep_store::{Commit, LeaseChange, Outcome};
use tokio::sync::Notify;

use super::plan::{Fault, Plan};
use super::summary::SimulationSummary;
use super::timeline::record;
use crate::testing::plug::{CommitObserver, Survival};

/// An rpc that a run has made.
#[derive(Clone, Debug)]
pub(super) struct OpenRpc {
    pub(super) run: RunId,
    pub(super) rpc: RpcId,
    pub(super) method: Name,
}

/// Everything that is known about a case, across all its processes.
pub(super) struct Observer {
    beginning: tokio::time::Instant,
    faults: Vec<Fault>,
    state: Mutex<State>,
    changed: Notify,
    crashed: Notify,
}

#[derive(Default)]
struct State {
    timeline: Timeline,
    summary: SimulationSummary,
    streams: BTreeMap<StreamNumber, RunId>,
    runs: BTreeMap<RunId, RunStatus>,
    rpcs: Vec<OpenRpc>,
    /// The downtime of the process that has just crashed.
    down: Duration,
    /// The time of the last commit.
    committed_at: Duration,
}

impl Observer {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            beginning: tokio::time::Instant::now(),
            faults: plan.faults.clone(),
            state: Mutex::default(),
            changed: Notify::new(),
            crashed: Notify::new(),
        }
    }

    /// The true time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        self.beginning.elapsed()
    }

    /// The time since the last commit.
    pub(super) fn quiet_for(&self) -> Duration {
        self.elapsed().saturating_sub(self.state().committed_at)
    }

    /// Adds a line to the timeline.
    pub(super) fn write(&self, what: &str) {
        self.state().timeline.add(self.elapsed(), what);
    }

    pub(super) fn count(&self, count: impl FnOnce(&mut SimulationSummary)) {
        count(&mut self.state().summary);
    }

    /// Completes at the next commit.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Completes when the process has crashed at a commit. Returns its downtime.
    pub(super) async fn crashed(&self) -> Duration {
        self.crashed.notified().await;
        self.state().down
    }

    /// The rpcs since the last call.
    pub(super) fn take_rpcs(&self) -> Vec<OpenRpc> {
        std::mem::take(&mut self.state().rpcs)
    }

    pub(super) fn runs(&self) -> Vec<RunId> {
        self.state().runs.keys().cloned().collect()
    }

    /// The runs that have not ended.
    pub(super) fn open_runs(&self) -> Vec<RunId> {
        let state = self.state();
        let open = state
            .runs
            .iter()
            .filter(|(_, status)| !status.is_terminal());
        open.map(|(id, _)| id.clone()).collect()
    }

    /// A run whose code does not fit its journal.
    pub(super) fn parked_run(&self) -> Option<RunId> {
        let state = self.state();
        let mut runs = state.runs.iter();
        let parked = runs.find(|(_, status)| **status == RunStatus::Diverged);
        parked.map(|(id, _)| id.clone())
    }

    /// Whether there are runs and all of them have ended.
    pub(super) fn is_over(&self) -> bool {
        let runs = &self.state().runs;
        !runs.is_empty() && runs.values().all(|status| status.is_terminal())
    }

    pub(super) fn summary(&self) -> SimulationSummary {
        let mut summary = self.state().summary.clone();
        summary.cases = 1;
        summary.simulated = self.elapsed();
        summary
    }

    pub(super) fn timeline(&self) -> Timeline {
        self.state().timeline.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Crashes the process if one of the faults says so.
    fn crash_on(
        &self,
        mut state: MutexGuard<'_, State>,
        crash_of: impl Fn(&Fault) -> Option<Duration>,
    ) -> Survival {
        let Some(down) = self.faults.iter().find_map(crash_of) else {
            return Survival::Continues;
        };
        state.down = down;
        state.summary.crashes += 1;
        drop(state);
        self.write("   the process crashes");
        self.crashed.notify_one();
        Survival::Crashes
    }
}

impl CommitObserver for Observer {
    fn before(&self, commit: &Commit) -> Survival {
        let mut state = self.state();
        state.committed_at = self.elapsed();
        state.summary.commits += 1;
        let number = state.summary.commits;
        let fault = |fault: &Fault| match fault {
            Fault::CrashBefore { commit, down } if *commit == number => Some(*down),
            _ => None,
        };
        if self.faults.iter().find_map(fault).is_some() {
            let lost = state.describe(commit);
            state
                .timeline
                .add(self.elapsed(), &format!("commit {number} is lost: {lost}"));
        }
        self.crash_on(state, fault)
    }

    fn after(&self, commit: &Commit, outcome: &Outcome) -> Survival {
        let mut state = self.state();
        let number = state.summary.commits;
        let line = match outcome {
            Outcome::Committed { stream, .. } => {
                if let Some(name) = commit.created()
                    && let Some((id, _)) = name.run()
                {
                    state.runs.insert(id.clone(), RunStatus::Queued);
                    state.streams.insert(*stream, id);
                }
                state.learn(*stream, commit);
                format!("commit {number}  {}", state.describe(commit))
            }
            Outcome::Duplicate { .. } => {
                let describe = state.describe(commit);
                format!("commit {number} is a repetition: {describe}")
            }
            Outcome::Refused(refusal) => format!("commit {number} is refused: {refusal:?}"),
        };
        state.timeline.add(self.elapsed(), &line);
        self.changed.notify_one();
        self.crash_on(state, |fault| match fault {
            Fault::CrashAfter { commit, down } if *commit == number => Some(*down),
            _ => None,
        })
    }
}

impl State {
    /// Describes a commit for the timeline.
    fn describe(&self, commit: &Commit) -> String {
        let created = commit.created().and_then(|name| Some(name.run()?.0));
        let known = || self.streams.get(&commit.stream()?).cloned();
        let run = created.or_else(known);
        let run = run.map_or_else(|| "-".to_owned(), |run| run.to_string());
        let mut records: Vec<String> = commit.records().iter().map(|r| record(&r.body)).collect();
        if let Some(status) = commit.status() {
            records.push(format!("({status})"));
        }
        if records.is_empty() {
            let is_claim = matches!(commit.lease(), LeaseChange::Claim(_));
            let what = if is_claim { "claimed" } else { "bookkeeping" };
            records.push(format!("({what})"));
        }
        format!("{run}: {}", records.join(", "))
    }

    /// Updates the state of the run of a commit.
    fn learn(&mut self, stream: StreamNumber, commit: &Commit) {
        self.summary.records += commit.records().len() as u64;
        let Some(run) = self.streams.get(&stream).cloned() else {
            return;
        };
        if let Some(status) = commit.status() {
            self.runs.insert(run.clone(), status);
        }
        for record in commit.records() {
            if let Body::RpcRequested(rpc) = &record.body {
                self.rpcs.push(OpenRpc {
                    run: run.clone(),
                    rpc: rpc.rpc_id.clone(),
                    method: rpc.method.clone(),
                });
            }
        }
    }
}
