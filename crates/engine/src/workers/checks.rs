//! Checks of payloads against what their workflows declare. All callers pass here: requests in this
//! process, over HTTP, and effects of other runs.

use std::sync::Arc;
use std::time::Duration;

use everstep_model::{Name, Payload};
use everstep_store::{RpcRow, RunRow};

use super::declares::Declares;
use super::directory::Workers;
use super::schema;
use crate::error::{EventNotAccepted, SchemaMismatch, SendError};

impl Workers {
    /// Returns the declarations of the code that offers this version of a workflow, or else the
    /// newest, or of the catalog. A node that has the code checks even if it executes no runs.
    pub(super) fn declares(&self, workflow: &Name, version: u32) -> Option<Arc<dyn Declares>> {
        let worker = self.registry.find(workflow, version).or_else(|| {
            let newest = self.newest_version(workflow)?;
            self.registry.find(workflow, newest)
        });
        match worker {
            Some(worker) => worker.declares(workflow),
            None => Some(self.catalog.get(workflow)?.description),
        }
    }

    /// Returns the declared deadline of runs of a workflow.
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
        let checked = declared.check_input(input);
        checked.map_err(|detail| {
            let schema = declared.description().and_then(|it| it.input);
            mismatch(
                format!("the input of workflow `{workflow}`"),
                detail,
                schema,
            )
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
            let error = EventNotAccepted {
                run: run.id.clone(),
                workflow: run.workflow.to_string(),
                event: event.to_string(),
                accepted: declared.accepts().unwrap_or_default(),
                is_rpc: declared.makes_rpc(event.as_str()),
            };
            return Err(error.into());
        }
        let checked = declared.check_event(event.as_str(), payload);
        Ok(checked.map_err(|detail| {
            let events = declared.description().and_then(|it| it.events);
            let described = events.and_then(|mut events| events.remove(event.as_str()));
            let schema = described.and_then(|it| it.schema);
            mismatch(format!("the payload of event `{event}`"), detail, schema)
        })?)
    }

    /// Checks the answer to an rpc against its declared type, or else against the schema that was
    /// recorded when the rpc was made.
    pub(crate) fn check_answer(
        &self,
        run: &RunRow,
        rpc: &RpcRow,
        answer: &Payload,
    ) -> Result<(), SchemaMismatch> {
        let declared = self.declares(&run.workflow, run.version);
        let checked =
            declared.and_then(|declared| declared.check_answer(rpc.method.as_str(), answer));
        let checked = checked.unwrap_or_else(|| schema::check(rpc.schema.as_ref(), answer));
        checked.map_err(|detail| {
            let what = format!("the answer to `{}`", rpc.method);
            mismatch(what, detail, rpc.schema.clone())
        })
    }
}

fn mismatch(what: String, detail: String, schema: Option<Payload>) -> SchemaMismatch {
    let example = schema.as_ref().and_then(schema::example);
    SchemaMismatch {
        what,
        detail,
        example,
    }
}
