//! The operation that a control request names: by its location, or by its name if only one
//! operation of the run has it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use axum::http::StatusCode;
use everstep_inspect::operation_named;
use everstep_model::{Entry, ErrorCode, InvalidLocation, Location, RunId};

use super::call::Call;
use crate::failure::Failure;

/// The number of operations of one name after which the search ends.
const COUNTED_MAX: usize = 100;

/// Returns the location of the operation that `text` names.
pub(super) async fn find(call: &Call, run: &RunId, text: &str) -> Result<Location, Failure> {
    match text.parse() {
        Ok(location) => Ok(location),
        Err(InvalidLocation::NoCounter) => {
            let _turn = call.read_turn().await;
            let mut found = BTreeSet::new();
            let visit = |entry: Entry| {
                found.extend(operation_named(&entry, text).cloned());
                match found.len() < COUNTED_MAX {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            };
            call.engine().visit_journal(run, None, visit).await?;
            only(run, text, found)
        }
        Err(error) => Err(Failure::invalid(format!(
            "`{text}` is not a location in a run: {error}"
        ))),
    }
}

fn only(run: &RunId, text: &str, found: BTreeSet<Location>) -> Result<Location, Failure> {
    let count = match found.len() {
        COUNTED_MAX.. => format!("at least {COUNTED_MAX}"),
        fewer => fewer.to_string(),
    };
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(one), Some(_)) => Err(Failure::invalid(format!(
            "run `{run}` has {count} operations named `{text}`; name one by its location, such as `{one}`"
        ))),
        (None, _) => {
            let detail =
                format!("run `{run}` has no operation `{text}`; its timeline lists its operations");
            let code = ErrorCode::UnknownOperation;
            Err(Failure::new(StatusCode::NOT_FOUND, code, detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B831
    #[test]
    fn a_name_of_several_operations_is_refused_with_one_of_their_locations() {
        let run = RunId::new("order-7").unwrap();
        let found = ["charge:0", "charge:1"].map(|text| text.parse().unwrap());
        let refused = only(&run, "charge", found.into()).unwrap_err();
        let detail = "run `order-7` has 2 operations named `charge`; name one by its location, such as `charge:0`";
        assert!(format!("{refused:?}").contains(detail), "{refused:?}");
    }
}
