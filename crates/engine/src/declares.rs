//! What workflows say about themselves, and the one place where what comes from outside is held against it: every caller,
//! in this process, over HTTP or another run, is checked alike.

use std::sync::Arc;
use std::time::Duration;

use everstep_model::{Description, Name, Payload};
use everstep_store::RunRow;

use crate::core::Core;
use crate::error::{EventNotAccepted, SchemaMismatch, SendError};

/// What others must know of a workflow. Each check says in words what does not fit.
pub trait Declares: Send + Sync {
    /// The events it accepts; none if it takes any.
    fn accepts(&self) -> Option<Vec<String>> {
        None
    }

    /// Whether it accepts an event of that name.
    fn is_accepted(&self, event: &str) -> bool {
        self.accepts()
            .is_none_or(|accepted| accepted.iter().any(|name| name == event))
    }

    /// Whether the input fits.
    fn check_input(&self, _input: &Payload) -> Result<(), String> {
        Ok(())
    }

    /// Whether the payload of an event fits.
    fn check_event(&self, _name: &str, _payload: &Payload) -> Result<(), String> {
        Ok(())
    }

    /// Whether the answer to a question fits.
    fn check_answer(&self, _method: &str, _answer: &Payload) -> Result<(), String> {
        Ok(())
    }

    /// How long its runs may take that nobody said more about, counted from their creation.
    fn deadline(&self) -> Option<Duration> {
        None
    }

    /// The same in a form that can be kept while its code is elsewhere.
    fn description(&self) -> Option<Description> {
        None
    }
}

impl Core {
    /// What the code says that offers this version of a workflow here, or else the newest, or what was last told of it.
    fn declares(&self, workflow: &Name, version: u32) -> Option<Arc<dyn Declares>> {
        // Whoever has the code has its checks, even where it is executed by others.
        let worker = self.workers.find(workflow, version).or_else(|| {
            let newest = self.newest_version(workflow)?;
            self.workers.find(workflow, newest)
        });
        match worker {
            Some(worker) => worker.declares(workflow),
            None => {
                let description = self.catalog.description(workflow)?;
                Some(description)
            }
        }
    }

    /// How long runs of a workflow may take, as the code says that is offered here.
    pub(crate) fn deadline_of(&self, workflow: &Name, version: u32) -> Option<Duration> {
        self.declares(workflow, version)?.deadline()
    }

    pub(crate) fn check_input(
        &self,
        workflow: &Name,
        version: u32,
        input: &Payload,
    ) -> Result<(), SchemaMismatch> {
        let Some(declared) = self.declares(workflow, version) else {
            return Ok(());
        };
        declared
            .check_input(input)
            .map_err(|detail| SchemaMismatch {
                what: format!("the input of workflow `{workflow}`"),
                detail,
            })
    }

    pub(crate) fn check_event(
        &self,
        run: &RunRow,
        event: &Name,
        payload: &Payload,
    ) -> Result<(), SendError> {
        let Some(declared) = self.declares(&run.workflow, run.version) else {
            return Ok(());
        };
        if !declared.is_accepted(event.as_str()) {
            return Err(EventNotAccepted {
                workflow: run.workflow.to_string(),
                event: event.to_string(),
                accepted: declared.accepts().unwrap_or_default().join(", "),
            }
            .into());
        }
        declared
            .check_event(event.as_str(), payload)
            .map_err(|detail| SchemaMismatch {
                what: format!("the payload of event `{event}`"),
                detail,
            })?;
        Ok(())
    }

    pub(crate) fn check_answer(
        &self,
        run: &RunRow,
        method: &Name,
        answer: &Payload,
    ) -> Result<(), SchemaMismatch> {
        let Some(declared) = self.declares(&run.workflow, run.version) else {
            return Ok(());
        };
        declared
            .check_answer(method.as_str(), answer)
            .map_err(|detail| SchemaMismatch {
                what: format!("the answer to `{method}`"),
                detail,
            })
    }
}
