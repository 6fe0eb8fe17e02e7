//! Switches: the journal records which branch the code chose.

use std::fmt::Display;

use everstep_model::record::SwitchChosen;
use everstep_model::{Body, ErrorCode, Failure, Location, Name};

use super::call::Call;
use super::context::Called;
use super::earlier_passes::Remembered;
use super::execution::Replay;
use super::script::quoted;

/// The length to which a value without a case is shortened.
const VALUE_CHARS_MAX: usize = 64;

/// A call of a switch.
#[derive(Clone, Copy)]
pub struct SwitchCall<'a> {
    /// The branch that the code chooses, or the value if no case fits it.
    pub chosen: Result<&'a Name, &'a dyn Display>,
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
            (None, Err(value)) => return Some(Err(no_case(name, value, self.offered))),
            (None, Ok(branch)) => {
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

fn no_case(name: &Name, value: &dyn Display, offered: &[Name]) -> Failure {
    let mut cases = quoted(offered);
    if cases.is_empty() {
        cases.push_str("no cases");
    }
    let value = shortened(&value.to_string());
    let message =
        format!("switch `{name}` has no case for its value {value} and no default; it has {cases}");
    Failure::new(ErrorCode::NoCase, message)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(VALUE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}
