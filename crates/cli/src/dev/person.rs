//! Plays the people in the demo: the reviewer who approves payments, the manager who answers for expenses.

use std::time::Duration;

use everstep::{Body, Event, Location, Payload, Rpc, RunHandle};
use everstep_demo::expense::{ApproveExpense, ExpenseDecision};
use everstep_demo::payment::Approval;

use super::company::Lines;
use super::screen::Line;

/// How long people think.
const THINKING: Duration = Duration::from_millis(1_200);

/// Everybody the workflows wait for.
#[derive(Clone)]
pub(super) struct Person {
    lines: Lines,
}

impl Person {
    pub(super) fn new(lines: Lines) -> Self {
        Self { lines }
    }

    /// Sees a record; if somebody is asked for something, they do it after a moment.
    pub(super) fn sees(&self, run: &RunHandle, body: &Body) {
        let waits_for_approval =
            |names: &[everstep::Name]| names.iter().any(|name| name.as_str() == Approval::NAME);
        let is_asked = match body {
            Body::Waiting(wait) => waits_for_approval(&wait.names),
            Body::RpcRequested(question) => question.method.as_str() == ApproveExpense::METHOD,
            _ => false,
        };
        let Some(location) = body.location().filter(|_| is_asked) else {
            return;
        };
        let (person, run, location) = (self.clone(), run.clone(), location.clone());
        tokio::spawn(async move {
            tokio::time::sleep(THINKING).await;
            if let Err(error) = person.act(&run, &location).await {
                let _ = person.lines.send(Err(error)).await;
            }
        });
    }

    /// Does what is asked at that place, if it is still asked: the record may be an old one.
    async fn act(&self, run: &RunHandle, location: &Location) -> anyhow::Result<()> {
        let overview = run.inspect().await?.overview;
        if overview.waits.iter().any(|wait| wait.location == *location) {
            self.say(run, "grace, the reviewer, approves").await;
            let approval = Approval {
                approved: true,
                reviewer: "grace".to_owned(),
            };
            // A dedup id: however often this is sent, the run sees it once.
            let once = Some(format!("approval of {location}"));
            run.send_by_name(Approval::NAME, Payload::from_value(&approval)?, once)
                .await?;
        }
        let question = overview.rpcs.iter().find(|rpc| rpc.location == *location);
        if let Some(question) = question {
            self.say(run, "bob, the manager, says yes").await;
            let decision = ExpenseDecision {
                approved: true,
                approver_notes: Some("Enjoy".to_owned()),
            };
            run.answer(&question.rpc_id, &decision).await?;
        }
        Ok(())
    }

    async fn say(&self, run: &RunHandle, text: &str) {
        let line = Line::Deed {
            run: run.id().clone(),
            text: text.to_owned(),
        };
        let _ = self.lines.send(Ok(line)).await;
    }
}
