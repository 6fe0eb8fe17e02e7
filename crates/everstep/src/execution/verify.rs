//! Executes code against a recorded journal, for the replay checks of users' tests.

use std::sync::Arc;

use everstep_driver::{Action, Driver, Setup, Verified};
use everstep_machine::Halt;
use everstep_model::{Entry, Timestamp};

use super::code::StartedCode;
use super::root::WorkflowCode;
use super::shared::SharedParts;

/// Executes the code against a journal. Nothing is written and no step begins.
pub(crate) fn verify(
    workflow: &WorkflowCode,
    parts: SharedParts,
    journal: Vec<Entry>,
) -> Result<Verified, Halt> {
    let setup = Setup {
        run: parts.run.clone(),
        generation: parts.generation,
        execution_retries: None,
        development: false,
        cautious: false,
    };
    let parts = Arc::new(parts);
    let mut driver = Box::new(Driver::check(setup, journal));
    let mut code: Option<StartedCode> = None;
    loop {
        match driver.next(Timestamp::default(), false) {
            Action::Start(input) => {
                code = Some(StartedCode::new(workflow, &parts, &mut driver, input));
            }
            Action::Resolve(op, resolution) => {
                let waker = driver.current().0.host.resolve(op, resolution);
                waker.into_iter().for_each(std::task::Waker::wake);
            }
            Action::Checked(verified) => return *verified,
            _ => return Err(Halt::Damaged("the replay did not end".to_owned())),
        }
        if let Some(code) = &mut code {
            driver = match code.poll(driver) {
                Some(driver) => driver,
                None => return Err(Halt::Damaged("the replay was interrupted".to_owned())),
            };
        }
    }
}
