//! Switches: the journal records which branch the code chose.

use everstep_model::record::SwitchChosen;
use everstep_model::{Body, ErrorCode, Failure, Location, Name};

use super::call::Call;
use super::context::Called;
use super::earlier_passes::Remembered;
use super::execution::Replay;
use super::script::quoted;

/// A call of a switch.
#[derive(Clone, Copy, Debug)]
pub struct SwitchCall<'a> {
    /// The branch that the code chooses; `None` if no case matches.
    pub chosen: Option<&'a Name>,
    /// All branches of the switch.
    pub offered: &'a [Name],
}

impl Call for SwitchCall<'_> {
    /// The location and the branch, or the failure of a switch without a matching case.
    type Output = Result<(Location, Name), Failure>;
    const RECORD: &'static str = "switch_chosen";

    /// Chooses a branch: the recorded one if there is one.
    fn call(self, called: Called, name: &Name, replay: &mut Replay) -> Option<Self::Output> {
        let cx = &mut replay.context;
        let earlier = match cx.earlier.take(&called.location) {
            Some(Remembered::Chosen(branch)) => Some(branch),
            _ => cx.script.take_next(|body| match body {
                Body::SwitchChosen(recorded) if recorded.location == called.location => {
                    Some(recorded.branch.clone())
                }
                _ => None,
            }),
        };
        let branch = match (earlier, self.chosen) {
            (Some(branch), _) if self.offered.contains(&branch) => branch,
            (Some(branch), _) => {
                let detail = format!("it chose `{branch}`, which the code no longer offers");
                cx.diverge(&called, Self::RECORD, Self::RECORD, Some(detail));
                return None;
            }
            (None, None) => return Some(Err(no_case(name, self.offered))),
            (None, Some(branch)) => {
                let chosen = SwitchChosen {
                    location: called.location.clone(),
                    branch: branch.clone(),
                };
                cx.add_line(chosen, Some(called.site))?;
                branch.clone()
            }
        };
        Some(Ok((called.location, branch)))
    }
}

fn no_case(name: &Name, offered: &[Name]) -> Failure {
    let mut cases = quoted(offered);
    if cases.is_empty() {
        cases.push_str("no cases");
    }
    let message =
        format!("switch `{name}` has no case for its value and no default; it has {cases}");
    Failure::new(ErrorCode::NoCase, message)
}
