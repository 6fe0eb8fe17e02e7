//! What happens to the runs while a process is alive: starts, events, answers, waits, and the
//! collection of the results.
#![allow(clippy::disallowed_methods, reason = "tokio's clock is paused here")]

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use everstep_engine::{AnswerError as AnswerRejection, SchemaMismatch, Sent};
use everstep_model::{ErrorCode, RunId, RunStatus, Timestamp};
use everstep_store::{Store, TimerQuery};
use futures_util::future::{Either, join, select};

use super::agenda::{Sending, Task};
use super::case::{Case, FinalState, ProcessEnd, Progress};
use super::case_failure::CaseFailure;
use super::observer::OpenRpc;
use super::timeline::clock_error;
use crate::client::{AnswerError, WaitError};
use crate::engine::Engine;
use crate::testing::wait_limit::explain;

/// The message if all runs have ended and an effect cannot be delivered.
const UNDELIVERABLE: &str = "a child or an event that a run left behind cannot be delivered; is its workflow registered, with `also`?";
/// The interval at which a run without pending actions is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(3_600);
/// Effects on other runs that are not delivered after this time cannot be delivered.
const DELIVERED_WITHIN: Duration = Duration::from_secs(24 * 3_600);
/// The time limit of a run.
const PATIENCE: Duration = Duration::from_secs(5 * 365 * 24 * 3_600);
/// The limit of commits of a case.
const COMMITS_MAX: u64 = 50_000;

impl Case<'_> {
    /// Performs the pending actions until all runs have ended.
    pub(super) async fn drive(
        &self,
        engine: &Engine,
        progress: &mut Progress,
    ) -> Result<ProcessEnd, CaseFailure> {
        loop {
            let now = self.observer.elapsed();
            let rpcs = self.observer.take_rpcs();
            progress.agenda.add_rpcs(rpcs, self.scenario, now);
            self.check_limits(engine).await?;
            if self.is_over(progress.agenda.has_interventions()).await {
                return Ok(ProcessEnd::Over(Box::new(self.final_state(engine).await?)));
            }
            match progress.agenda.next() {
                Some((slot, Task::Crash { down })) if slot.0 <= now => {
                    progress.agenda.done(slot);
                    self.observer.count(|summary| summary.crashes += 1);
                    self.observer.write("   the process crashes");
                    return Ok(ProcessEnd::Crashed(down));
                }
                Some((slot, task)) if slot.0 <= now => {
                    self.perform(engine, progress, task).await?;
                    progress.agenda.done(slot);
                }
                Some(((at, _), _)) => {
                    self.wait(at.saturating_sub(now)).await;
                }
                None if self.wait(CHECK_INTERVAL).await => {}
                None => self.check_stuck(engine).await?,
            }
        }
    }

    /// Waits for this time. Returns true if there was a commit before.
    async fn wait(&self, longest: Duration) -> bool {
        let lasting = self.scenario.lasting.unwrap_or(Duration::MAX);
        let longest = longest.min(lasting.saturating_sub(self.observer.elapsed()));
        let sleep = pin!(tokio::time::sleep(longest));
        let changed = pin!(self.observer.changed());
        matches!(select(changed, sleep).await, Either::Left(_))
    }

    /// Whether the observation time is over, or all runs have ended and all effects are delivered.
    /// An operator may revive a run that has ended.
    async fn is_over(&self, has_interventions: bool) -> bool {
        let lasting = self.scenario.lasting;
        let is_time = lasting.is_some_and(|lasting| self.observer.elapsed() >= lasting);
        is_time || !has_interventions && self.observer.is_over() && self.is_delivered().await
    }

    async fn is_delivered(&self) -> bool {
        let outbox = self.store.outbox(None, 1).await;
        outbox.is_ok_and(|rows| rows.is_empty())
    }

    async fn perform(
        &self,
        engine: &Engine,
        progress: &mut Progress,
        task: Task,
    ) -> Result<(), CaseFailure> {
        match task {
            Task::Start => self.start(engine).await,
            Task::Send { event, how } => self.send(engine, progress, event, how).await,
            Task::Answer { answer, rpc } => self.answer(engine, progress, answer, rpc).await,
            Task::SetClock(error_millis) => {
                self.process.set_clock_error(error_millis);
                self.observer.count(|summary| summary.clock_jumps += 1);
                self.observer.write(&clock_error(error_millis));
                Ok(())
            }
            Task::Intervene(planned) => self.intervene(engine, progress, planned).await,
            Task::Resume => self.resume(engine).await,
            // The caller handles crashes.
            Task::Crash { .. } => Ok(()),
        }
    }

    async fn start(&self, engine: &Engine) -> Result<(), CaseFailure> {
        let input = self.scenario.input.clone();
        let start = engine.start_by_name(&self.scenario.workflow, input);
        let mut start = start.id(self.scenario.id.clone());
        if let Some(deadline) = self.scenario.deadline {
            start = start.deadline(deadline);
        }
        let started = start.await;
        started.map(drop).map_err(refused)
    }

    async fn send(
        &self,
        engine: &Engine,
        progress: &mut Progress,
        index: usize,
        how: Sending,
    ) -> Result<(), CaseFailure> {
        let first = self.send_once(engine, index, how == Sending::Again);
        let is_accepted = if how == Sending::Twice {
            let (first, second) = join(first, self.send_once(engine, index, true)).await;
            first? | second?
        } else {
            first.await?
        };
        if is_accepted {
            progress.events_accepted.insert(index);
        }
        Ok(())
    }

    /// Sends an event. Returns whether the run accepted it, now or before.
    async fn send_once(
        &self,
        engine: &Engine,
        index: usize,
        again: bool,
    ) -> Result<bool, CaseFailure> {
        let Some(event) = self.scenario.events.get(index) else {
            return Ok(false);
        };
        let run = engine.run(&self.scenario.id).await.map_err(refused)?;
        let (payload, id) = (event.payload.clone(), event.dedup_id.clone());
        let sent = run.send_by_name(event.name, payload, id).await;
        let what = match &sent {
            Ok(Sent::Accepted(_)) => "accepted".to_owned(),
            Ok(Sent::Duplicate(_)) => "duplicate".to_owned(),
            Err(error) => match error.code() {
                ErrorCode::EventNotAccepted | ErrorCode::SchemaMismatch => {
                    return Err(refused(error));
                }
                _ => format!("refused: {error}"),
            },
        };
        let repeated = if again { " again" } else { "" };
        let number = index + 1;
        let line = format!("event {number} `{}` is sent{repeated}: {what}", event.name);
        self.observer.write(&line);
        self.observer.count(|summary| match again {
            true => summary.events_repeated += 1,
            false => summary.events_sent += 1,
        });
        Ok(sent.is_ok())
    }

    async fn answer(
        &self,
        engine: &Engine,
        progress: &mut Progress,
        index: usize,
        rpc: OpenRpc,
    ) -> Result<(), CaseFailure> {
        let Some(answer) = self.scenario.answers.get(index) else {
            return Ok(());
        };
        let run = engine.run(rpc.run.as_str()).await.map_err(refused)?;
        let what = match run.answer_json(&rpc.rpc, answer.payload.clone()).await {
            Ok(()) => "accepted".to_owned(),
            Err(AnswerError::Rejected(AnswerRejection::Schema(mismatch))) => {
                let SchemaMismatch { what, detail, .. } = mismatch;
                return Err(refused(format!("{what} does not fit: {detail}")));
            }
            Err(error) => format!("refused: {error}"),
        };
        let line = format!("rpc `{}` is answered: {what}", answer.method);
        self.observer.write(&line);
        self.observer.count(|summary| summary.answers += 1);
        progress.answers_given.insert(index);
        Ok(())
    }

    async fn check_limits(&self, engine: &Engine) -> Result<(), CaseFailure> {
        if let Some(run) = self.observer.parked_run() {
            return Err(CaseFailure::Diverged(why(engine, &run).await));
        }
        let commits = self.observer.summary().commits;
        if commits > COMMITS_MAX || self.observer.elapsed() > PATIENCE {
            let why = self.why_open(engine).await;
            return Err(CaseFailure::Endless { commits, why });
        }
        Ok(())
    }

    /// A run that waits without a pending action or a timer that could continue it is stuck.
    async fn check_stuck(&self, engine: &Engine) -> Result<(), CaseFailure> {
        let any_timer = TimerQuery {
            until: Timestamp::from_millis(u64::MAX),
            after: None,
            limit: 1,
        };
        let timers = self.store.timers(any_timer).await;
        let is_quiet = timers.is_ok_and(|rows| rows.is_empty());
        let is_on_its_way =
            self.observer.quiet_for() < DELIVERED_WITHIN && !self.is_delivered().await;
        if !is_quiet || is_on_its_way {
            return Ok(());
        }
        for run in self.observer.open_runs() {
            let handle = engine.run(run.as_str()).await.map_err(refused)?;
            let status = handle.status().await.map_err(refused)?;
            if !matches!(status, RunStatus::Waiting | RunStatus::Paused) {
                return Ok(());
            }
        }
        Err(CaseFailure::Stuck(self.why_open(engine).await))
    }

    /// The reason for each run that has not ended.
    async fn why_open(&self, engine: &Engine) -> String {
        let mut reasons = Vec::new();
        for run in self.observer.open_runs() {
            reasons.push(format!("run `{run}`: {}", why(engine, &run).await));
        }
        if reasons.is_empty() {
            reasons.push(UNDELIVERABLE.to_owned());
        }
        reasons.join("\n")
    }

    /// Collects the results of the runs.
    async fn final_state(&self, engine: &Engine) -> Result<FinalState, CaseFailure> {
        let root = engine.run(&self.scenario.id).await.map_err(refused)?;
        let status = root.status().await.map_err(refused)?;
        let result = match self.scenario.lasting {
            Some(lasting) if !status.is_terminal() => Err(WaitError::TimedOut {
                run: root.id().clone(),
                status,
                timeout: lasting,
            }),
            _ => root.wait_json().await,
        };
        let mut journals = BTreeMap::new();
        for id in self.observer.runs() {
            let run = engine.run(id.as_str()).await.map_err(refused)?;
            journals.insert(id, run.journal().await.map_err(refused)?);
        }
        Ok(FinalState {
            result,
            status,
            journals,
        })
    }
}

pub(super) fn refused(error: impl std::fmt::Display) -> CaseFailure {
    CaseFailure::Refused(error.to_string())
}

async fn why(engine: &Engine, run: &RunId) -> String {
    let why = async { engine.run(run.as_str()).await?.why().await };
    explain(why.await)
}
