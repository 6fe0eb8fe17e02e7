//! Sleeps, waits and questions, and what ends them.

use everstep_model::record::{
    Event, RpcAnswered, RpcCompleted, RpcRequested, Sleeping, TimerFired, TimerPurpose,
    WaitCompleted, WaitTimedOut, Waiting,
};

use super::phrase::{After, Count, Place, Until};
use super::{Lasted, Tell};
use crate::phrase::{By, Listed};

impl Tell for Sleeping {
    fn tell(&self, _: Lasted) -> String {
        let (sleep, until) = (&self.location, Until(Some(self.until)));
        format!("Sleep `{sleep}` began{until}")
    }
}

impl Tell for TimerFired {
    fn tell(&self, lasted: Lasted) -> String {
        let (place, after) = (Place(&self.location), After(lasted.whole));
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
}

impl Tell for Event {
    fn tell(&self, _: Lasted) -> String {
        match &self.by {
            Some(by) => format!("Event `{}` received from {by}", self.name),
            None => format!("Event `{}` received", self.name),
        }
    }
}

impl Tell for Waiting {
    fn tell(&self, _: Lasted) -> String {
        let (wait, names) = (&self.location, Listed(&self.names, " or "));
        let most = match self.batch {
            0 | 1 => String::new(),
            batch => format!(", {batch} at once at most"),
        };
        let until = Until(self.deadline);
        format!("Wait `{wait}` began for event {names}{most}{until}")
    }
}

impl Tell for WaitCompleted {
    fn tell(&self, lasted: Lasted) -> String {
        let count = Count(self.events.len() as u64, "event");
        let (wait, after) = (&self.location, After(lasted.whole));
        format!("Wait `{wait}` took {count}{after}")
    }
}

impl Tell for WaitTimedOut {
    fn tell(&self, lasted: Lasted) -> String {
        format!("Wait `{}` timed out{}", self.location, After(lasted.whole))
    }
}

impl Tell for RpcRequested {
    fn tell(&self, _: Lasted) -> String {
        let (question, method, id) = (&self.location, &self.method, &self.rpc_id);
        let until = Until(self.deadline);
        format!("Question `{question}` asked: `{method}` ({id}){until}")
    }
}

impl Tell for RpcAnswered {
    fn tell(&self, lasted: Lasted) -> String {
        let (question, by, after) = (&self.location, By(&self.by), After(lasted.whole));
        format!("Question `{question}` answered{by}{after}")
    }
}

impl Tell for RpcCompleted {
    fn tell(&self, lasted: Lasted) -> String {
        let (question, after) = (&self.location, After(lasted.whole));
        let how = if self.timed_out {
            "timed out"
        } else {
            "took its answer"
        };
        format!("Question `{question}` {how}{after}")
    }
}
