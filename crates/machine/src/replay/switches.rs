//! Switches: the journal records which branch the code chose.

use everstep_model::record::SwitchChosen;
use everstep_model::{Body, ErrorCode, Failure, Location, Name};

use super::context::{Called, Context};
use super::divergence::{Divergence, Halt};
use super::earlier_passes::Remembered;

/// A call of a switch.
#[derive(Clone, Copy, Debug)]
pub struct SwitchCall<'a> {
    /// The branch that the code chooses; `None` if no case matches.
    pub chosen: Option<&'a Name>,
    /// All branches of the switch.
    pub offered: &'a [Name],
}

/// Chooses a branch: the recorded one if there is one. Fails if no case matches.
pub(super) fn call(
    called: Called,
    name: &Name,
    call: SwitchCall<'_>,
    cx: &mut Context,
) -> Option<Result<(Location, Name), Failure>> {
    let location = called.location.clone();
    let earlier = match cx.earlier.take(&location) {
        Some(Remembered::Chosen(branch)) => Some(branch),
        _ => None,
    };
    let branch = match earlier.or_else(|| recorded(&location, cx)) {
        Some(branch) if call.offered.contains(&branch) => branch,
        Some(branch) => {
            halt_on_missing(called, &branch, cx);
            return None;
        }
        None => {
            let Some(branch) = call.chosen else {
                return Some(Err(no_case(name, call.offered)));
            };
            let chosen = SwitchChosen {
                location: called.location,
                branch: branch.clone(),
            };
            cx.say(chosen, Some(called.site))?;
            branch.clone()
        }
    };
    Some(Ok((location, branch)))
}

/// The recorded choice, if it is next in the script.
fn recorded(location: &Location, cx: &mut Context) -> Option<Name> {
    match cx.script.next_expected() {
        Some(Body::SwitchChosen(recorded)) if recorded.location == *location => {
            let branch = recorded.branch.clone();
            cx.script.pop_expected();
            Some(branch)
        }
        _ => None,
    }
}

fn halt_on_missing(called: Called, branch: &Name, cx: &mut Context) {
    let Called { location, site } = called;
    cx.state.halt(Halt::Diverged(Box::new(Divergence {
        recorded: Some(("switch_chosen", location.clone())),
        called: Some(("switch_chosen", location)),
        called_site: Some(site),
        detail: Some(format!(
            "it chose `{branch}`, which the code no longer offers"
        )),
        ..Divergence::default()
    })));
}

fn no_case(name: &Name, offered: &[Name]) -> Failure {
    let offered: Vec<_> = offered.iter().map(|name| format!("`{name}`")).collect();
    let message = format!(
        "switch `{name}` has no case for its value and no default; it has {}",
        if offered.is_empty() {
            "no cases".to_owned()
        } else {
            offered.join(", ")
        }
    );
    Failure::new(ErrorCode::NoCase, message)
}
