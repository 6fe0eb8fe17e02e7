//! Sleeps, waits and rpcs, and the records that end them.

use everstep_model::record::{
    Event, RpcAnswered, RpcCompleted, RpcRequested, Sleeping, TimerFired, TimerPurpose,
    WaitCompleted, WaitTimedOut, Waiting,
};

use super::super::describe::Describe;
use super::super::details::Details;
use super::super::elapsed::Elapsed;
use super::super::line::Outcome;
use super::phrase::{After, At, Count, Until};
use crate::phrase::{By, Listed};

impl Describe for Sleeping {
    fn sentence(&self, _: Elapsed) -> String {
        let (sleep, until) = (&self.location, Until(Some(self.until)));
        format!("Sleep `{sleep}` began{until}")
    }
}

impl Describe for TimerFired {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (place, after) = (At(&self.location), After(elapsed.whole));
        match self.purpose {
            TimerPurpose::Sleep => format!("Sleep{place} ended{after}"),
            TimerPurpose::Wait => format!("Wait{place} reached its deadline"),
            TimerPurpose::Rpc => format!("Question{place} reached its deadline"),
            TimerPurpose::Retry => format!("Step{place} is due for its next attempt"),
            TimerPurpose::ExecutionRetry => "Workflow is due for its next attempt".to_owned(),
            TimerPurpose::Child => format!("Child{place} was not over by its deadline"),
            TimerPurpose::Undo => {
                format!("The undo of step{place} is due for its next attempt")
            }
            TimerPurpose::Expiry => "Stream reached the end of its lifetime".to_owned(),
            TimerPurpose::Deadline => "Run reached its deadline".to_owned(),
        }
    }

    fn details(&self) -> Details<'_> {
        match self.purpose {
            TimerPurpose::Sleep => Details::default().outcome(Outcome::Ok),
            _ => Details::default(),
        }
    }
}

impl Describe for Event {
    fn sentence(&self, _: Elapsed) -> String {
        match &self.by {
            Some(by) => format!("Event `{}` received from {by}", self.name),
            None => format!("Event `{}` received", self.name),
        }
    }

    fn details(&self) -> Details<'_> {
        Details::default().by(&self.by).payload(&self.payload)
    }
}

impl Describe for Waiting {
    fn sentence(&self, _: Elapsed) -> String {
        let (wait, names) = (&self.location, Listed(&self.names, " or "));
        let most = match self.batch {
            0 | 1 => String::new(),
            batch => format!(", {batch} at once at most"),
        };
        let until = Until(self.deadline);
        format!("Wait `{wait}` began for event {names}{most}{until}")
    }
}

impl Describe for WaitCompleted {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let count = Count(self.events.len() as u64, "event");
        let (wait, after) = (&self.location, After(elapsed.whole));
        format!("Wait `{wait}` took {count}{after}")
    }

    fn details(&self) -> Details<'_> {
        Details::default().outcome(Outcome::Ok)
    }
}

impl Describe for WaitTimedOut {
    fn sentence(&self, elapsed: Elapsed) -> String {
        format!("Wait `{}` timed out{}", self.location, After(elapsed.whole))
    }

    fn details(&self) -> Details<'_> {
        Details::default().outcome(Outcome::TimedOut)
    }
}

impl Describe for RpcRequested {
    fn sentence(&self, _: Elapsed) -> String {
        let (question, method, id) = (&self.location, &self.method, &self.rpc_id);
        let until = Until(self.deadline);
        format!("Question `{question}` asked: `{method}` ({id}){until}")
    }

    fn details(&self) -> Details<'_> {
        Details::default().payload(&self.args)
    }
}

impl Describe for RpcAnswered {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (question, by, after) = (&self.location, By(&self.by), After(elapsed.whole));
        format!("Question `{question}` answered{by}{after}")
    }

    fn details(&self) -> Details<'_> {
        Details::default().by(&self.by).payload(&self.answer)
    }
}

impl Describe for RpcCompleted {
    fn sentence(&self, elapsed: Elapsed) -> String {
        let (question, after) = (&self.location, After(elapsed.whole));
        let how = if self.timed_out {
            "timed out"
        } else {
            "took its answer"
        };
        format!("Question `{question}` {how}{after}")
    }

    fn details(&self) -> Details<'_> {
        Details::default().outcome(if self.timed_out {
            Outcome::TimedOut
        } else {
            Outcome::Ok
        })
    }
}
