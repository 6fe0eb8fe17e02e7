//! Checks that the journals of a case replay against the code.

use std::collections::BTreeMap;

use everstep_model::{Body, Name};

use super::case::{Define, FinalState};
use super::case_failure::CaseFailure;
use crate::testing::replay_check::{Recording, check};
use crate::workflow::Definition;

pub(super) fn check_journals(final_state: &FinalState, define: Define<'_>) -> Option<CaseFailure> {
    let definitions: BTreeMap<Name, Definition> = define()
        .into_named()
        .map(|definition| (definition.name.clone(), definition))
        .collect();
    for (run, journal) in &final_state.journals {
        let Some(Body::Created(created)) = journal.first().map(|entry| &entry.record.body) else {
            continue;
        };
        let Some(definition) = definitions.get(&created.workflow) else {
            continue;
        };
        let Ok(recording) = Recording::new(journal.clone()).of_run(run.as_str()) else {
            continue;
        };
        if let Err(error) = check(definition, recording) {
            let (run, why) = (run.to_string(), error.to_string());
            return Some(CaseFailure::NotReplayable { run, why });
        }
    }
    None
}
