//! Sleeps, waits and rpcs, and the records that end them.

use everstep_model::record::{
    Event, RpcAnswered, RpcCompleted, RpcRequested, Sleeping, TimerFired, TimerPurpose,
    WaitCompleted, WaitTimedOut, Waiting,
};

use super::{Describe, Description, Elapsed, Outcome};
use crate::phrase::{Count, Listed, by, located, part};

impl Describe for Sleeping {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let (sleep, until) = (&self.location, self.until);
        Description::new(format!("Sleep `{sleep}` began, until {until}"))
    }
}

impl Describe for TimerFired {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (at, after) = (located(" `", self.location.as_ref()), elapsed.after());
        Description::new(match self.purpose {
            TimerPurpose::Sleep => {
                let description = Description::new(format!("Sleep{at} ended{after}"));
                return description.outcome(Outcome::Ok);
            }
            TimerPurpose::Wait => format!("Wait{at} reached its deadline"),
            TimerPurpose::Rpc => format!("Rpc{at} reached its deadline"),
            TimerPurpose::Retry => format!("Step{at} is due for its next attempt"),
            TimerPurpose::ExecutionRetry => "Workflow is due for its next attempt".to_owned(),
            TimerPurpose::Child => format!("Child{at} was not over by its deadline"),
            TimerPurpose::Undo => format!("The undo of step{at} is due for its next attempt"),
            TimerPurpose::Expiry => "Stream reached the end of its lifetime".to_owned(),
            TimerPurpose::Deadline => "Run reached its deadline".to_owned(),
        })
    }
}

impl Describe for Event {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let from = part(" from ", self.by.as_ref());
        let description = Description::new(format!("Event `{}` received{from}", self.name));
        description.by(&self.by).payload(&self.payload)
    }
}

impl Describe for Waiting {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let (wait, names) = (&self.location, Listed(&self.names, " or "));
        let most = match self.batch {
            0 | 1 => String::new(),
            batch => format!(", {batch} at once at most"),
        };
        let until = part(", until ", self.deadline);
        Description::new(format!(
            "Wait `{wait}` began for event {names}{most}{until}"
        ))
    }
}

impl Describe for WaitCompleted {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let count = Count(self.events.len() as u64, "event");
        let (wait, after) = (&self.location, elapsed.after());
        let sentence = format!("Wait `{wait}` took {count}{after}");
        Description::new(sentence).outcome(Outcome::Ok)
    }
}

impl Describe for WaitTimedOut {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let sentence = format!("Wait `{}` timed out{}", self.location, elapsed.after());
        Description::new(sentence).outcome(Outcome::TimedOut)
    }
}

impl Describe for RpcRequested {
    fn describe(&self, _: Elapsed) -> Description<'_> {
        let (at, method, id) = (&self.location, &self.method, &self.rpc_id);
        let until = part(", until ", self.deadline);
        let sentence = format!("Rpc `{at}` requested: `{method}` ({id}){until}");
        Description::new(sentence).payload(&self.args)
    }
}

impl Describe for RpcAnswered {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (at, by, after) = (&self.location, by(&self.by), elapsed.after());
        let description = Description::new(format!("Rpc `{at}` answered{by}{after}"));
        description.by(&self.by).payload(&self.answer)
    }
}

impl Describe for RpcCompleted {
    fn describe(&self, elapsed: Elapsed) -> Description<'_> {
        let (at, after) = (&self.location, elapsed.after());
        let (how, outcome) = match self.timed_out {
            true => ("timed out", Outcome::TimedOut),
            false => ("took its answer", Outcome::Ok),
        };
        Description::new(format!("Rpc `{at}` {how}{after}")).outcome(outcome)
    }
}
