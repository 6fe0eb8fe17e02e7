//! What callers see of a run: keys show everything, and a run token shows the fields of its view.

use everstep_inspect::{Reason, Why};
use everstep_model::{Generation, Name, Payload, RunId};
use everstep_protocol::access::View;
use everstep_protocol::workflow::{RunView, WaitKind, WhyView};

use crate::auth::Caller;
use crate::failure::Failure;
use crate::journals::without_origin;

/// The right of a caller to read one generation of a run.
pub(super) struct Permitted<'a> {
    caller: &'a Caller,
    run: RunId,
    generation: Generation,
    view: View,
}

impl<'a> Permitted<'a> {
    pub(super) fn to(
        caller: &'a Caller,
        run: &RunId,
        generation: Generation,
    ) -> Result<Self, Failure> {
        let view = caller.view_of(run, generation);
        Ok(Self {
            caller,
            run: run.clone(),
            generation,
            view: view.ok_or_else(|| Failure::forbidden("the token does not allow this"))?,
        })
    }

    pub(super) fn run(&self, run: RunView) -> RunView {
        match self.view {
            View::Full => run,
            View::State => RunView {
                input: Payload::null(),
                ..run
            },
            View::Client => self.for_client(run),
        }
    }

    pub(super) fn why(&self, why: Why) -> WhyView {
        if self.view != View::Client {
            return why_view(why);
        }
        let Why {
            status, reasons, ..
        } = why;
        let is_stuck = !reasons.is_empty();
        let reasons = reasons.into_iter().filter_map(|it| self.reason(it));
        let shown = Why {
            status,
            reasons: reasons.collect(),
            deadline: None,
        };
        let mut view = why_view(shown);
        if is_stuck && view.reasons.is_empty() {
            // Otherwise the sentence would say that nothing blocks the run.
            view.sentence = status.to_string();
        }
        view
    }

    /// Returns what the view `client` shows of a run. Every field that it shows is listed here.
    fn for_client(&self, run: RunView) -> RunView {
        let mut waiting_for = run.waiting_for;
        waiting_for.retain(|wait| match wait.kind {
            WaitKind::Event | WaitKind::Sleep => true,
            WaitKind::Rpc => self.may_answer(&wait.name),
            WaitKind::Child | WaitKind::Retry => false,
        });
        let mut rpcs = run.rpcs;
        rpcs.retain(|rpc| self.may_answer(&rpc.method));
        RunView {
            id: run.id,
            workflow: run.workflow,
            version: run.version,
            generation: run.generation,
            status: run.status,
            result: run.result,
            error: run.error.map(without_origin),
            waiting_for,
            rpcs,
            stream: run.stream,
            created_at: run.created_at,
            updated_at: run.updated_at,
            completed_at: run.completed_at,
            // The view hides the other fields.
            tags: Vec::new(),
            input: Payload::null(),
            rollback_error: None,
            reason: None,
            rolled_back: false,
            rollback: None,
            no_return_at: None,
            execution_attempt: 0,
            execution_retries: None,
            forked_from: None,
            steps: Vec::new(),
            steps_cursor: None,
            deadline: None,
        }
    }

    /// Returns a reason as the view `client` shows it. `None` if the view hides it.
    fn reason(&self, reason: Reason) -> Option<Reason> {
        match reason {
            Reason::TimerAt { .. } | Reason::Event { .. } | Reason::Queued => Some(reason),
            Reason::Answer { ref method, .. } => self.may_answer(method).then_some(reason),
            Reason::Finished { status, error, .. } => Some(Reason::Finished {
                status,
                error: error.map(without_origin),
                caused_by: Vec::new(),
                rollback_error: None,
                reason: None,
            }),
            _ => None,
        }
    }

    fn may_answer(&self, method: &Name) -> bool {
        let method = method.as_str();
        self.caller.may_answer(&self.run, self.generation, method)
    }
}

fn why_view(why: Why) -> WhyView {
    WhyView {
        status: why.status,
        sentence: why.to_string(),
        reasons: why.reasons,
        deadline: why.deadline,
    }
}
